// SPDX-License-Identifier: BSD-2-Clause
#include "run/checkpoint.hpp"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "data/identity.hpp"
#include "hdf5/libraries.hpp"
#include "run/output.hpp"
#include "run/recorded.hpp"
#include "transport/clock.hpp"

namespace quorate {

namespace {

constexpr std::size_t digits = 64;  // of a SHA-256 in hexadecimal
const std::string mark = "\nquorate checkpoint sha256 ";

// Appends the line with the SHA-256 of the file, so that damage of any kind is seen.
void seal(const std::string& path)
{
    const auto digest = sha256(path);
    std::ofstream file(path, std::ios::app | std::ios::binary);
    file << mark << digest << '\n';
    file.close();
    if (!file) throw Failure("cannot write " + path);
}

// Whether a file ends with the SHA-256 of what stands before. False if it cannot be read.
bool is_whole(const std::string& path)
{
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    const auto tail = mark.size() + digits + 1;
    if (error || size < tail) return false;
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(size - tail));
    std::string line(tail, ' ');
    file.read(line.data(), static_cast<std::streamsize>(tail));
    return file && line.starts_with(mark) &&
           line.substr(mark.size(), digits) == sha256(path, static_cast<std::int64_t>(size - tail));
}

// Returns what tells the data set from any other; empty without data.
std::string identity(const Training& training)
{
    return training.data ? identity_of(*training.data) : "";
}

// The options that may differ between a run and its resumption. Those that name files are among
// them, because files may have moved; the contents of data sets and plugins are compared instead.
// Whether a run may go on with other workers is for resumption() to say.
const std::set<std::string> free_options = {"checkpoint",
                                            "checkpoint-every",
                                            "memory-checkpoint-every",
                                            "config",
                                            "data",
                                            "log",
                                            "overwrite",
                                            "quiet",
                                            "plugin",
                                            "resilient",
                                            "resume",
                                            "timeout",
                                            "trace",
                                            "stop-before",
                                            "unsaved",
                                            "verbose",
                                            "walltime",
                                            "workers"};

StoredVector stored(const std::shared_ptr<const h5::File>& file, const std::string& name)
{
    return {static_cast<std::size_t>(h5::rows_of(file->get(), name)),
            [file, name](std::size_t first, std::size_t count) {
                const std::lock_guard lock(libraries());
                return h5::read<double>(file->get(), name, static_cast<std::int64_t>(first),
                                        static_cast<std::int64_t>(count));
            }};
}

// Fills in what a checkpoint holds. @throws BadInput if it is of another run; Failure if it is
// damaged
void read_into(Checkpoint& read, const std::shared_ptr<const h5::File>& file,
               const Training& training, const std::string& config)
{
    const auto root = file->get();
    if (const auto wrote = h5::read_string(root, "quorate_version"); wrote != version)
        throw BadInput(fmt::format("{} was written by Quorate {}, this is {}: use that one",
                                   read.path, wrote, version));
    check_same_run(read.path, "checkpoint", h5::read_string(root, "config"), config);
    if (h5::read_string(root, "data") != identity(training))
        throw BadInput(fmt::format("{} is of a run on other data than {}: give its data set",
                                   read.path, training.data ? training.data->path() : "none"));
    auto& snapshot = read.snapshot;
    snapshot.event = h5::read_integer(root, "event");
    snapshot.round = h5::read_integer(root, "round");
    const auto position = h5::open_group(root, "position");
    for (const auto& name : h5::attribute_names(position.get()))
        snapshot.position[name] = h5::read_integer(position.get(), name);
    for (const auto number : h5::read<std::int64_t>(root, "point/versions")) {
        const auto& point = read.points[number] = stored(file, fmt::format("point/{}", number));
        if (static_cast<std::int64_t>(point.size) != training.width())
            throw Failure(fmt::format("its point {} has {} parameters of {}", number, point.size,
                                      training.width()));
    }
    for (std::int64_t model = 0; h5::has(root, fmt::format("optimizer/{}", model)); ++model) {
        const auto name = fmt::format("optimizer/{}", model);
        const auto group = h5::open_group(root, name);
        Checkpoint::Memory memory{h5::read_integer(group.get(), "updates"), {}, {}};
        for (int i = 0; h5::has(group.get(), std::to_string(i)); ++i)
            memory.vectors.push_back(stored(file, fmt::format("{}/{}", name, i)));
        if (h5::has(group.get(), "state")) {
            const auto bytes = h5::read<std::uint8_t>(group.get(), "state");
            memory.state.assign(bytes.begin(), bytes.end());
        }
        read.optimizers.push_back(std::move(memory));
    }
    if (h5::has(root, "last_estimate"))
        snapshot.last_estimate = h5::read<double>(root, "last_estimate");
    snapshot.arrivals = trace::read_table<trace::Arrival>(root);
    snapshot.items = trace::read_table<trace::ItemRow>(root);
}

}  // namespace

std::map<std::string, std::string> lasting_options(const std::string& config)
{
    auto options = recorded_options(config);
    for (const auto& name : free_options) options.erase(name);
    return options;
}

void check_same_run(const std::string& path, const std::string& option, const std::string& config,
                    const std::string& ours)
{
    auto was = lasting_options(config), is = lasting_options(ours);
    // Where a run's contributions are added up may change: the groups are those of its trace. A
    // simulation, which has no transport, goes through its past once more.
    if (was.contains("transport") && is.contains("transport")) {
        was.erase("aggregate");
        is.erase("aggregate");
    }
    const auto value = [](const auto& options, const std::string& name) {
        const auto at = options.find(name);
        return at == options.end() || at->second.empty() ? "not given" : at->second;
    };
    std::set<std::string> names;
    for (const auto* options : {&was, &is})
        for (const auto& [name, text] : *options) names.insert(name);
    for (const auto& name : names)
        if (value(was, name) != value(is, name))
            throw BadInput(fmt::format(
                "{} is of another run: --{} was {} and is {}; give the options of that run, or "
                "another --{}",
                path, name, value(was, name), value(is, name), option));
}

bool has_checkpoint(const std::string& path)
{
    std::error_code error;
    return std::filesystem::exists(path, error) || std::filesystem::exists(older(path), error);
}

std::string older(const std::string& path) { return path + ".1"; }

std::vector<Option> checkpoint_options()
{
    return {{"checkpoint", "FILE", "",
             "where to keep what a stopped or killed run needs to go on, beside its trace; the one "
             "before is kept as FILE.1"},
            {"checkpoint-every", "SECONDS|Nr", "",
             "write it so often: 30s, 5min, or 100r for rounds; default: 60s, on the wall clock"},
            {"resume", "", "",
             "go on from the --checkpoint, with the options of its run, and as many workers as are "
             "there now; if there is none, begin"}};
}

Interval interval_of(const Settings& settings)
{
    const auto text = settings.on("checkpoint-every") ? settings.text("checkpoint-every") : "60s";
    if (text.ends_with('r')) {
        const auto rounds = to_integer(text.substr(0, text.size() - 1)).value_or(0);
        if (rounds < 1) settings.refuse("checkpoint-every", ": write 100r for rounds, or 30s");
        return {0, rounds};
    }
    const auto seconds = to_duration(text);
    if (!seconds)
        settings.refuse("checkpoint-every", ": write 30s, 5min or 1h, or 100r for rounds");
    return {*seconds, 0};
}

std::optional<Checkpoint> read_checkpoint(const Settings& settings, const Training& training,
                                          const std::string& config)
{
    const auto& path = settings.text("checkpoint");
    if (!has_checkpoint(path)) return std::nullopt;
    Checkpoint read;
    if (is_whole(path)) {
        read.path = path;
    } else if (is_whole(older(path))) {
        read.path = older(path);
        std::error_code error;
        const bool damaged = std::filesystem::exists(path, error);
        log(LogLevel::error, fmt::format("{} is {}: going on from {}, the one before it", path,
                                         damaged ? "damaged" : "missing", read.path));
    } else {
        throw BadInput(
            fmt::format("{} is damaged, and there is no whole one before it: begin "
                        "anew without --resume, or with another --checkpoint",
                        path));
    }
    if (!is_a("checkpoint", read.path))
        throw BadInput(read.path + " is not a checkpoint: give one that 'quorate run' wrote");
    const auto file = std::make_shared<const h5::File>(h5::open(read.path));
    h5::reading(read.path, "begin anew without --resume, or with another --checkpoint",
                [&] { read_into(read, file, training, config); });
    return read;
}

std::vector<StateVector> vectors_of(const Snapshot& snapshot, const Optimizers& optimizers)
{
    std::vector<StateVector> vectors;
    const auto add = [&](ConstNumbers vector, bool sliced) {
        vectors.push_back({std::make_shared<const NumberVector>(vector), sliced});
    };
    for (const auto& [number, point] : snapshot.points) vectors.push_back({point, true});
    add(snapshot.last_estimate, !snapshot.last_estimate.empty());
    for (const auto& optimizer : optimizers) {
        const auto memory = optimizer->memory();
        for (std::size_t i = 0; i < memory.size(); ++i) add(memory[i], optimizer->is_sliced(i));
    }
    return vectors;
}

// A checkpoint that is being written, beside its place. It moves there when it is whole, and the
// one that was there becomes FILE.1, unless it is damaged: then the one before stays. For the
// writing thread. Its functions throw std::exceptions of any kind.
class Checkpointing::Job {
public:
    // What an optimiser remembers, but for its vectors.
    struct Memory {
        std::int64_t updates;
        std::string state;
        std::size_t vectors;
    };
    // Takes what is there but the vectors: a copy, because the run goes on and changes the
    // originals.
    Job(std::string path, std::string config, std::string data, Snapshot snapshot,
        std::vector<Memory> optimizers)
        : path_(std::move(path)), config_(std::move(config)), data_(std::move(data)),
          snapshot_(std::move(snapshot)), optimizers_(std::move(optimizers))
    {
        // The points travel among the vectors.
        for (const auto& [number, point] : std::exchange(snapshot_.points, {})) {
            versions_.push_back(number);
            names_.push_back(fmt::format("point/{}", number));
        }
        names_.emplace_back("last_estimate");
        for (std::size_t model = 0; model < optimizers_.size(); ++model)
            for (std::size_t i = 0; i < optimizers_[model].vectors; ++i)
                names_.push_back(fmt::format("optimizer/{}/{}", model, i));
    }
    ~Job()
    {
        if (!temporary_.empty()) std::remove(temporary_.c_str());
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    const std::string& path() const { return path_; }
    std::int64_t round() const { return snapshot_.round; }

    void begin()
    {
        const std::lock_guard lock(libraries());
        temporary_ = temporary_name(path_);
        file_ = h5::create(temporary_);
        const auto root = file_.get();
        h5::write_attribute(root, "format", std::string("quorate checkpoint"));
        h5::write_attribute(root, "format_version", std::int64_t{1});
        h5::write_attribute(root, "quorate_version", std::string(version));
        h5::write_attribute(root, "config", config_);
        h5::write_attribute(root, "data", data_);
        h5::write_attribute(root, "event", snapshot_.event);
        h5::write_attribute(root, "round", snapshot_.round);
        const auto position = h5::create_group(root, "position");
        for (const auto& [name, rows] : snapshot_.position)
            h5::write_attribute(position.get(), name, rows);
        const auto points = h5::create_group(root, "point");
        h5::write<std::int64_t>(points.get(), "versions", versions_);
        const auto all = h5::create_group(root, "optimizer");
        for (std::size_t model = 0; model < optimizers_.size(); ++model) {
            const auto group = h5::create_group(all.get(), std::to_string(model));
            h5::write_attribute(group.get(), "updates", optimizers_[model].updates);
            const auto& state = optimizers_[model].state;
            const std::vector<std::uint8_t> bytes(state.begin(), state.end());
            if (!bytes.empty()) h5::write<std::uint8_t>(group.get(), "state", bytes);
        }
        trace::Table::create<trace::Arrival>(root).append(snapshot_.arrivals);
        trace::Table::create<trace::ItemRow>(root).append(snapshot_.items);
    }

    // Points keep their type; all else is doubles.
    void put(std::size_t vector, const VectorPiece& piece)
    {
        const std::lock_guard lock(libraries());
        piece.numbers.visit([&]<class T>(std::span<const T> numbers) {
            const auto make = [&](auto number) {
                return h5::create_vector<decltype(number)>(file_.get(), names_[vector],
                                                           static_cast<std::int64_t>(piece.whole));
            };
            if (piece.whole == 0) return;
            if (piece.first == 0) vector_ = vector < versions_.size() ? make(T{}) : make(double{});
            h5::write_part<T>(vector_, static_cast<std::int64_t>(piece.first), numbers);
        });
        if (piece.last()) vector_ = {};
        if (piece.last() && vector + 1 == names_.size()) end();
    }

private:
    void end()
    {
        file_.close("close " + temporary_);
        seal(temporary_);
        sync_file(temporary_);
        std::error_code none;
        if (is_whole(path_)) std::filesystem::rename(path_, older(path_), none);
        move_into_place(temporary_, path_);
        temporary_.clear();
    }

    std::string path_, config_, data_;
    Snapshot snapshot_;
    std::vector<Memory> optimizers_;
    std::vector<Version> versions_;   // of the points
    std::vector<std::string> names_;  // of the vectors, in the order of vectors_of()
    std::string temporary_;           // the file; empty: it is at its place
    h5::File file_;
    h5::DataSet vector_;  // which is not whole
};

// What became of checkpoints. Used by the writing thread, which may outlive the Checkpointing.
struct Checkpointing::Outcome {
    std::atomic<bool> any = false;
    std::atomic<Seconds> said = -never;
    // Tells the user, once a minute at most, that no checkpoint could be written. The run goes on,
    // but the user must know.
    void say(const std::string& path, const std::string& why)
    {
        constexpr Seconds interval = 60;
        const auto now = clock_seconds();
        if (now - said < interval) return;
        said = now;
        log(LogLevel::error, fmt::format("no checkpoint in {}: {}; the run goes on", path, why));
    }
};

Checkpointing::Checkpointing(const Settings& settings, const Training& training,
                             const Optimizers& optimizers, const std::string& config,
                             trace::Writer& trace, JoinVectors join)
    : training_(training), optimizers_(optimizers), config_(config), data_(identity(training)),
      trace_(trace), path_(settings.text("checkpoint")), every_(interval_of(settings)),
      written_(clock_seconds()), join_(std::move(join)), outcome_(std::make_shared<Outcome>())
{
    // A checkpoint is of no use without the rows of the trace that it counts on.
    trace_.be_durable();
}

void Checkpointing::stands(Snapshot snapshot)
{
    last_ = std::move(snapshot);
    if (last_->round == 0) return;
    const bool due = every_.rounds > 0 ? last_->round - written_round_ >= every_.rounds
                                       : clock_seconds() - written_ >= every_.seconds;
    if (due && !joining_) write();
}

bool Checkpointing::write()
{
    if (!last_) return false;
    std::vector<Job::Memory> optimizers;
    for (const auto& optimizer : optimizers_)
        optimizers.push_back(
            {optimizer->updates(), optimizer->state(), optimizer->memory().size()});
    written_ = clock_seconds();
    written_round_ = last_->round;
    joining_ = true;
    // Null once it could not be written.
    const auto job = std::make_shared<std::unique_ptr<Job>>(
        std::make_unique<Job>(path_, config_, data_, *last_, std::move(optimizers)));
    const auto write = [this, job, outcome = outcome_](auto&& some, std::size_t bytes) {
        trace_.after_commit(
            [job, outcome, some] {
                if (!*job) return;
                try {
                    some(**job);
                } catch (const std::exception& error) {
                    outcome->say((*job)->path(), error.what());
                    job->reset();
                }
            },
            bytes);
    };
    write([](Job& one) { one.begin(); }, 0);
    const auto vectors = vectors_of(*last_, optimizers_);
    join_(vectors, [this, write, outcome = outcome_, began = written_, last = vectors.size() - 1](
                       std::size_t vector, const VectorPiece& piece) {
        const bool ends = vector == last && piece.last();
        if (ends) joining_ = false;
        write(
            [=](Job& one) {
                one.put(vector, piece);
                if (!ends) return;
                outcome->any = true;
                log(LogLevel::detail,
                    fmt::format("checkpoint of round {} in {:.3f} s: {}", one.round(),
                                clock_seconds() - began, one.path()));
            },
            piece.numbers.bytes());
    });
    return true;
}

bool Checkpointing::has_written() const { return outcome_->any; }

}  // namespace quorate
