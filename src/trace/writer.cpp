// SPDX-License-Identifier: BSD-2-Clause
#include "trace/writer.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"

namespace quorate::trace {

namespace {

using namespace std::chrono_literals;

constexpr auto commit_interval = 1s;

// Sets the attributes, and the status to `running`.
void write_header(hid_t file, const Header& header)
{
    h5::write_attribute(file, "status", std::string("running"));
    for (const auto& [name, value] : header.text) h5::write_attribute(file, name, value);
    for (const auto& [name, value] : header.real) h5::write_attribute(file, name, value);
    for (const auto& [name, value] : header.integer) h5::write_attribute(file, name, value);
}

std::int64_t rows_at(const Position& position, const std::string& table)
{
    const auto at = position.find(table);
    return at == position.end() ? 0 : at->second;
}

}  // namespace

Writer::Writer(const std::string& path, const Header& header, std::int64_t width)
    : path_(path), file_(h5::create_with_journal(path)), tables_(All::tables(file_.get())),
      iterate_group_(h5::create_group(file_.get(), "iterate")),
      iterate_round_(h5::create_extendable<std::int64_t>(iterate_group_.get(), "round", 1024)),
      // Each iterate is a chunk, not compressed, because such chunks go to the file without a copy.
      iterate_model_(h5::create_extendable<double>(iterate_group_.get(), "model", 1,
                                                   std::max<std::int64_t>(1, width), false)),
      width_(width)
{
    share_scale(iterate_round_, "round", std::span(&iterate_model_, 1));
    name_last_dimension(iterate_group_.get(), iterate_model_, "parameter");
    h5::write_attribute(file_.get(), "format", std::string("quorate trace"));
    h5::write_attribute(file_.get(), "format_version", format_version);
    write_header(file_.get(), header);
    h5::flush(file_, path_);
    constructing_.unlock();
    thread_ = std::thread([this] { write_in_background(); });
}

Writer::Writer(const std::string& path, const Position& position, const Header& changed,
               std::int64_t width)
    : path_(path), file_(h5::open_to_append(path)), tables_(All::tables(file_.get(), existing)),
      iterate_group_(h5::open_group(file_.get(), "iterate")),
      iterate_round_(H5Dopen2(iterate_group_.get(), "round", H5P_DEFAULT), "open iterate/round"),
      iterate_model_(H5Dopen2(iterate_group_.get(), "model", H5P_DEFAULT), "open iterate/model"),
      width_(width), iterates_(rows_at(position, "iterate")), position_(position)
{
    std::apply([&](auto&... table) { (table.cut(rows_at(position, table.name)), ...); }, tables_);
    h5::cut(iterate_round_, iterates_);
    h5::cut(iterate_model_, iterates_);
    if (h5::has(file_.get(), "model"))
        h5::check(H5Ldelete(file_.get(), "model", H5P_DEFAULT), "remove model");
    write_header(file_.get(), changed);
    h5::flush(file_, path_);
    constructing_.unlock();
    thread_ = std::thread([this] { write_in_background(); });
}

void Writer::after_commit(std::function<void()> action)
{
    const std::lock_guard lock(mutex_);
    batch_.actions.push_back(std::move(action));
}

Writer::~Writer()
{
    if (!file_) return;
    try {
        Writer::pause();
        commit(false);
        const std::lock_guard lock(libraries());
        h5::write_attribute(file_.get(), "status", std::string("failed"));
    } catch (const std::exception&) {
        // The error because of which there was no finish() says more.
    }
}

void Writer::add(const Row& row)
{
    const std::lock_guard lock(mutex_);
    std::visit(
        [this]<class Kind>(const Kind& one) {
            std::get<std::vector<Kind>>(batch_.rows).push_back(one);
            ++position_[Kind::table];
        },
        row);
}

Position Writer::position()
{
    const std::lock_guard lock(mutex_);
    return position_;
}

void Writer::keep(std::int64_t round, Iterate model)
{
    std::unique_lock lock(mutex_);
    caught_up_.wait(lock, [&] { return waiting_bytes() < 2 * iterates_in_memory || error_; });
    batch_.iterates.emplace_back(round, std::move(model));
    ++position_["iterate"];
    if (waiting_bytes() >= iterates_in_memory) wake_.notify_one();
}

void Writer::write_in_background()
{
    for (bool last = false; !last;) {
        {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, commit_interval,
                           [this] { return pausing_ || waiting_bytes() >= iterates_in_memory; });
            last = pausing_;
        }
        try {
            commit(last);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            error_ = std::current_exception();
            last = true;
        }
        caught_up_.notify_all();
    }
}

// Writes all that was handed over since the last commit, and flushes the file.
// @param last  whether iterates stay in memory, because they may be read back soon
void Writer::commit(bool last)
{
    Batch batch;
    {
        const std::lock_guard lock(mutex_);
        std::swap(batch, batch_);
    }
    const auto append = [&](auto&... table) {
        auto rows = [&]<class Kind>(Table<Kind>& one) {
            one.append(std::get<std::vector<Kind>>(batch.rows));
        };
        (rows(table), ...);
    };
    const std::lock_guard lock(libraries());
    std::apply(append, tables_);
    for (const auto& [round, model] : batch.iterates) {
        h5::append<double>(iterate_model_, *model);
        h5::append<std::int64_t>(iterate_round_, std::span(&round, 1));
        ++iterates_;
    }
    if (last)
        for (auto& [round, model] : batch.iterates) last_.push_back(std::move(model));
    h5::flush(file_, path_);
    for (const auto& action : batch.actions) action();
}

void Writer::pause()
{
    if (thread_.joinable()) {
        {
            const std::lock_guard lock(mutex_);
            pausing_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }
    if (error_) std::rethrow_exception(error_);
}

Iterate Writer::iterate(std::int64_t i) const
{
    const std::lock_guard lock(libraries());
    const auto in_file = iterates_ - static_cast<std::int64_t>(last_.size());
    if (i >= in_file) return last_[static_cast<std::size_t>(i - in_file)];
    const auto model = h5::read_rows<double>(iterate_group_.get(), "model", i, 1);
    return std::make_shared<std::pmr::vector<double>>(model.begin(), model.end());
}

std::vector<std::int64_t> Writer::iterate_rounds() const
{
    const std::lock_guard lock(libraries());
    return h5::read<std::int64_t>(iterate_group_.get(), "round");
}

void Writer::finish(std::span<const double> model, const std::string& status,
                    const std::string& stopped_at)
{
    pause();
    commit(false);
    const std::lock_guard lock(libraries());
    const auto group = h5::create_group(file_.get(), "model");
    h5::write(group.get(), "final", model);
    name_last_dimension(group.get(),
                        h5::DataSet(H5Dopen2(group.get(), "final", H5P_DEFAULT), "open final"),
                        "parameter");
    h5::write_attribute(file_.get(), "status", status);
    h5::write_attribute(file_.get(), "stopped_at", stopped_at);
    h5::flush(file_, path_);
    file_.close("close " + path_);
}

}  // namespace quorate::trace
