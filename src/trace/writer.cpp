// SPDX-License-Identifier: BSD-2-Clause
#include "trace/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "trace/lost.hpp"

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

}  // namespace

Writer::Writer(const std::string& path, const Header& header, std::int64_t width,
               std::unique_ptr<Owner> owner)
    : path_(path), width_(std::max<std::int64_t>(1, width)),
      owner_(owner ? std::move(owner) : std::make_unique<Owner>(path))
{
    begin([this] { create(); }, header);
}

Writer::Writer(const std::string& path, const Position& position, const std::string& why,
               const Header& changed, std::int64_t width, std::unique_ptr<Owner> owner)
    : path_(path), width_(std::max<std::int64_t>(1, width)),
      owner_(owner ? std::move(owner) : std::make_unique<Owner>(path)), saved_(position),
      position_(position), written_(position)
{
    begin(
        [&] {
            open_again();
            const auto root = open_->file.get();
            keep_lost(root, position, why);
            cut_off();
            if (h5::has(root, "model"))
                h5::check(H5Ldelete(root, "model", H5P_DEFAULT), "remove model");
        },
        changed);
}

// Opens the file for the first time, and begins to write in the background.
void Writer::begin(const std::function<void()>& open, const Header& header)
{
    const std::lock_guard lock(libraries());
    try {
        open();
        write_header(open_->file.get(), header);
        flush();
    } catch (...) {
        drop_open();
        throw;
    }
    thread_ = std::thread([this] { write_in_background(); });
}

void Writer::create()
{
    auto& made = open_.emplace();
    made.file = h5::create_with_journal(path_, &access_);
    const auto root = made.file.get();
    Tables().for_each([&](const auto& rows) {
        using Kind = RowOf<decltype(rows)>;
        made.tables.emplace(Kind::table, Table::create<Kind>(root));
    });
    made.iterates = h5::create_group(root, "iterate");
    const auto iterates = made.iterates.get();
    made.iterate_round = h5::create_extendable<std::int64_t>(iterates, "round", 1024);
    // Not compressed, because then chunks go to the file without a copy.
    made.iterate_model = h5::create_extendable<double>(iterates, "model", 1, width_, false);
    share_scale(made.iterate_round, "round", std::span(&made.iterate_model, 1));
    name_last_dimension(iterates, made.iterate_model, "parameter");
    h5::write_attribute(root, "format", std::string("quorate trace"));
    h5::write_attribute(root, "format_version", format_version);
}

// Opens the file that is there.
void Writer::open_again()
{
    auto& found = open_.emplace();
    found.file = h5::open_to_append(path_, &access_);
    const auto root = found.file.get();
    Tables().for_each([&](const auto& rows) {
        using Kind = RowOf<decltype(rows)>;
        found.tables.emplace(Kind::table, Table::open<Kind>(root));
    });
    found.iterates = h5::open_group(root, "iterate");
    found.iterate_round = h5::open_extendable(found.iterates.get(), "round");
    found.iterate_model = h5::open_extendable(found.iterates.get(), "model", width_);
}

// Cuts off what is behind saved_.
void Writer::cut_off()
{
    for (auto& [name, table] : open_->tables) table.cut(rows_at(saved_, name));
    h5::cut(open_->iterate_round, rows_at(saved_, "iterate"));
    h5::cut(open_->iterate_model, rows_at(saved_, "iterate") + (part_saved_ ? 1 : 0));
}

void Writer::flush()
{
    h5::flush(open_->file, path_);
    check_written();
}

void Writer::check_written() const
{
    if (access_.lost.empty()) return;
    owner_->check();
    throw Failure(access_.lost);
}

// Closes the file as the last commit has left it.
void Writer::drop_open()
{
    access_.lost = "it is dropped";
    open_.reset();
    access_.lost.clear();
}

void Writer::be_durable()
{
    const std::lock_guard lock(libraries());
    access_.durable = true;
}

void Writer::try_for(double seconds, std::function<void()> gave_up)
{
    const std::lock_guard lock(libraries());
    patience_ = seconds;
    gave_up_ = std::move(gave_up);
}

void Writer::after_commit(std::function<void()> action, std::size_t bytes)
{
    const std::lock_guard lock(mutex_);
    batch_.actions.push_back(std::move(action));
    batch_.bytes_of_actions += bytes;
}

bool Writer::write_up_to(const Position& position)
{
    const std::lock_guard lock(mutex_);
    if (reaches(written_, position)) return true;
    if (reaches(position_, position)) hurry();
    return false;
}

Writer::~Writer()
{
    if (!owner_) return;  // finished
    try {
        {
            const std::lock_guard lock(libraries());
            patience_.reset();
        }
        Writer::pause();
        const std::lock_guard lock(libraries());
        attempt([this] {
            write_unsaved();
            h5::write_attribute(open_->file.get(), "status", std::string("failed"));
        });
    } catch (const std::exception&) {
        // The error because of which there was no finish() says more.
    }
}

void Writer::add(const Row& row)
{
    const std::lock_guard lock(mutex_);
    batch_.rows.add(row);
    std::visit([this](const auto& one) { ++position_[one.table]; }, row);
}

Position Writer::position()
{
    const std::lock_guard lock(mutex_);
    return position_;
}

void Writer::keep(std::int64_t round, Iterate model)
{
    {
        std::unique_lock lock(mutex_);
        caught_up_.wait(lock, [&] { return bytes_of_models() < 2 * iterates_in_memory || error_; });
    }
    put(round, whole_piece(*model, model));
}

void Writer::put(std::int64_t round, VectorPiece piece)
{
    const std::lock_guard lock(mutex_);
    if (round != final_models && piece.last()) ++position_["iterate"];
    if (error_) return;  // nobody takes it
    batch_.bytes_of_models += piece.numbers.bytes();
    batch_.pieces.emplace_back(round, std::move(piece));
    if (bytes_of_models() >= iterates_in_memory) hurry();
}

bool Writer::has_room(std::size_t bytes)
{
    const std::lock_guard lock(mutex_);
    const auto waiting = bytes_of_models() + batch_.bytes_of_actions + unsaved_actions_;
    if (error_ || waiting == 0 || waiting + bytes <= iterates_in_memory) return true;
    hurry();
    return false;
}

// Has what was handed over written at once. Under the mutex.
void Writer::hurry()
{
    hurried_ = true;
    wake_.notify_one();
}

// Bytes of models that are not in the file. Under the mutex.
std::size_t Writer::bytes_of_models() const { return batch_.bytes_of_models + unsaved_models_; }

void Writer::write_in_background()
{
    for (bool last = false; !last;) {
        {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, commit_interval,
                           [this] { return !failing_ && (pausing_ || hurried_); });
            last = pausing_;
        }
        try {
            last &= commit(last);
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
// @return whether that was possible
bool Writer::commit(bool last)
{
    std::vector<VectorPiece> written;
    const std::lock_guard lock(libraries());
    const bool done = attempt([&] {
        write_unsaved();
        for (const auto& [round, piece] : unsaved_.pieces)
            if (round != final_models) written.push_back(piece);
    });
    const auto is_whole = [](const VectorPiece& piece) { return piece.first == 0 && piece.last(); };
    if (done && last && std::ranges::all_of(written, is_whole)) last_ = std::move(written);
    return done;
}

// Changes the file, and flushes it. If that fails, the file stays as the last commit has left it,
// and is opened again for the next attempt. Holds libraries() meanwhile.
// @return whether it was possible  @throws OwnerLost, Unsaved, or what went wrong if there is no
// patience
bool Writer::attempt(const std::function<void()>& write)
{
    {
        const std::lock_guard lock(mutex_);
        const auto take = [](auto& from, auto& to) {
            to.insert(to.end(), std::make_move_iterator(from.begin()),
                      std::make_move_iterator(from.end()));
            from.clear();
        };
        batch_.rows.for_each(
            [&]<class Kind>(std::vector<Kind>& from) { take(from, unsaved_.rows.table(Kind())); });
        hurried_ = false;
        take(batch_.pieces, unsaved_.pieces);
        take(batch_.actions, unsaved_.actions);
        unsaved_models_ += std::exchange(batch_.bytes_of_models, 0);
        unsaved_actions_ += std::exchange(batch_.bytes_of_actions, 0);
    }
    try {
        owner_->check();
        if (!open_) {
            open_again();
            cut_off();
        }
        write();
        flush();
    } catch (const OwnerLost&) {
        drop_open();
        throw;
    } catch (const std::exception& why) {
        drop_open();
        wait_or_give_up(why.what());
        return false;
    }
    if (std::exchange(failing_, std::nullopt)) log(LogLevel::error, path_ + " is written again");
    unsaved_.rows.for_each(
        [this](const auto& rows) { saved_[RowOf<decltype(rows)>::table] += std::ssize(rows); });
    for (const auto& [round, piece] : unsaved_.pieces) {
        if (round == final_models) continue;
        part_saved_ = !piece.last();
        if (piece.last()) ++saved_["iterate"];
    }
    auto done = std::exchange(unsaved_, {});
    done.pieces.clear();
    {
        const std::lock_guard lock(mutex_);
        unsaved_models_ = 0;
        written_ = saved_;
    }
    caught_up_.notify_all();
    for (auto& action : done.actions) std::exchange(action, {})();
    const std::lock_guard lock(mutex_);
    unsaved_actions_ = 0;
    return true;
}

void Writer::write_unsaved()
{
    unsaved_.rows.for_each([this](const auto& rows) {
        open_->tables.at(RowOf<decltype(rows)>::table).append(rows);
        check_written();
    });
    for (const auto& [round, piece] : unsaved_.pieces) {
        write(round, piece);
        check_written();
    }
}

// An iterate has a round once it is whole.
void Writer::write(std::int64_t round, const VectorPiece& piece)
{
    const bool is_final = round == final_models;
    if (!is_final && piece.first == 0) h5::add_row(open_->iterate_model);
    const auto& to = is_final ? final(piece.whole) : open_->iterate_model;
    piece.numbers.visit([&]<class T>(std::span<const T> numbers) {
        h5::write_part<T>(to, static_cast<std::int64_t>(piece.first), numbers);
    });
    if (!is_final && piece.last())
        h5::append<std::int64_t>(open_->iterate_round, std::span(&round, 1));
}

// The data set of the final models. It gets its name when the run has ended.
const h5::DataSet& Writer::final(std::size_t elements)
{
    auto& found = open_->final;
    if (found) return found;
    const auto root = open_->file.get();
    if (h5::has(root, "model/partial")) return found = h5::open_data_set(root, "model/partial");
    const auto group = h5::create_group(root, "model");
    found = h5::create_vector<double>(group.get(), "partial", static_cast<std::int64_t>(elements));
    name_last_dimension(group.get(), found, "parameter");
    return found;
}

void Writer::wait_or_give_up(const std::string& why)
{
    if (!patience_) throw Failure(why);
    const auto now = std::chrono::steady_clock::now();
    if (!failing_) {
        failing_ = now;
        log(LogLevel::error, fmt::format("{} cannot be written ({}): what the run does is kept in "
                                         "memory, and tried again for {:g} s",
                                         path_, why, *patience_));
    } else if (now - *failing_ >= std::chrono::duration<double>(*patience_)) {
        if (gave_up_) gave_up_();
        throw Unsaved(
            fmt::format("{} could not be written for {:g} s ({}): free space, and run it again",
                        path_, *patience_, why));
    }
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
    const auto in_file = iterates() - static_cast<std::int64_t>(last_.size());
    if (i >= in_file)
        return std::make_shared<NumberVector>(last_[static_cast<std::size_t>(i - in_file)].numbers);
    const auto model = h5::read_rows<double>(open_->iterates.get(), "model", i, 1);
    return std::make_shared<NumberVector>(ConstNumbers(model));
}

std::vector<std::int64_t> Writer::iterate_rounds() const
{
    const std::lock_guard lock(libraries());
    return h5::read<std::int64_t>(open_->iterates.get(), "round");
}

void Writer::end(const std::string& status, const std::string& stopped_at)
{
    pause();
    const std::lock_guard lock(libraries());
    access_.durable = true;
    const auto write = [&] {
        write_unsaved();
        const auto root = open_->file.get();
        h5::check(H5Lmove(root, "model/partial", root, "model/final", H5P_DEFAULT, H5P_DEFAULT),
                  "name the final model");
        h5::write_attribute(root, "status", status);
        h5::write_attribute(root, "stopped_at", stopped_at);
    };
    while (!attempt(write)) std::this_thread::sleep_for(commit_interval);
    open_.reset();
    owner_.reset();
}

}  // namespace quorate::trace
