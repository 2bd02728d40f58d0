// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/world.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>

#include "base/build.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "commands/options.hpp"
#include "data/data_set.hpp"
#include "doctor/look.hpp"
#include "model/model.hpp"
#include "process/launch.hpp"
#include "process/session.hpp"
#include "process/supervisor.hpp"
#include "transport/clock.hpp"
#include "transport/mpi_endpoint.hpp"
#include "transport/shared_file.hpp"

namespace quorate {

namespace {

using Json = nlohmann::json;

// --- The time limit
// -------------------------------------------------------------------------------

// What the handler of the alarm prints. It must be there before, because a handler must not format.
std::atomic<const char*> doing = "";
bool speaks = false;

void end_late(int)
{
    const char* what = doing;
    // A failed write is ignored, because nothing can be done about it here.
    [[maybe_unused]] ssize_t written = 0;
    if (speaks) written = write(STDERR_FILENO, what, std::strlen(what));
    _exit(exit_failed);
}

/// Ends the process with a message if it takes too long.
class Alarm {
public:
    explicit Alarm(Seconds limit)
    {
        std::signal(SIGALRM, end_late);
        alarm(static_cast<unsigned>(limit));
    }
    Alarm(const Alarm&) = delete;
    ~Alarm() { alarm(0); }
};

// --- Messages with a time limit
// -------------------------------------------------------------------

// The world, in which ranks may be silent.
class World {
public:
    explicit World(Seconds until) : until_(until) {}

    /// From now on, nobody waits longer than until then.
    void wait_until(Seconds until) { until_ = until; }

    int rank() const { return endpoint_.rank(); }
    int size() const { return endpoint_.size(); }

    /// Sends a message, as long as those of a run, which MPI and the network handle otherwise than
    /// short ones; whether it has left is not waited for.
    void send(int to, const Json& json)
    {
        constexpr std::size_t length = 131072;
        auto text = json_text(json, -1);
        text.resize(std::max(text.size(), length), ' ');
        auto bytes = endpoint_.pool().take(text.size());
        std::memcpy(bytes->data(), text.data(), text.size());
        endpoint_.send(to, transport::Tag::hello, std::move(bytes));
    }

    /// Waits for the next message of a rank. @return nothing if none has come in time
    std::optional<Json> receive(int from)
    {
        for (endpoint_.restart_wait();; endpoint_.wait()) {
            if (const auto message = endpoint_.take_from(from)) {
                const auto* text = reinterpret_cast<const char*>(message->bytes->data());
                return Json::parse(text, text + message->bytes->size());
            }
            if (clock_seconds() > until_) return std::nullopt;
        }
    }

    /// Waits until all messages have left, or the time is over.
    ~World()
    {
        for (endpoint_.restart_wait(); clock_seconds() <= until_; endpoint_.wait()) {
            endpoint_.advance();
            if (!endpoint_.is_sending()) return;
        }
    }
    World(const World&) = delete;

private:
    Seconds until_;
    transport::MpiEndpoint endpoint_;
};

// --- What ranks do
// --------------------------------------------------------------------------------

// Tries the files that a run would use.
std::vector<FileFacts> try_files(const Settings& settings, bool coordinator)
{
    std::vector<FileFacts> files;
    if (settings.on("data")) files.push_back(try_reading("data", settings.text("data")));
    // The coordinator alone writes.
    if (settings.on("trace") && coordinator)
        files.push_back(try_writing("trace", settings.text("trace")));
    return files;
}

// Whether memory can be shared with the rank that made this file, which may be this one.
bool shares(const SharedFile& own, const SharedAddress& first)
{
    if (own.present() && own.address().process == first.process &&
        own.address().token == first.token)
        return own.map(0, sizeof first.token) != nullptr;
    const SharedFile theirs(first);
    return theirs.present() && theirs.map(0, sizeof first.token) != nullptr;
}

Json as_json(const SharedAddress& address)
{
    return {address.process, address.file, address.token};
}

SharedAddress address_in(const Json& json)
{
    return {json[0].get<std::int64_t>(), json[1].get<std::int64_t>(), json[2].get<std::uint64_t>()};
}

// Tries what the coordinator asks for: to share memory with the host's first rank, and the files.
void try_all(const SharedAddress& first, bool files, const Settings& settings,
             const SharedFile& memory, RankFacts& facts)
{
    facts.shares = shares(memory, first);
    if (files) facts.files = try_files(settings, facts.rank == 0);
}

// The part of every other rank: it says what it is, tries what it is asked to, says what came of
// it, and stays until all have.
void answer(World& world, const Settings& settings, const SharedFile& memory, RankFacts& facts)
{
    world.send(0, {{"facts", facts}, {"memory", as_json(memory.address())}});
    const auto asked = world.receive(0);
    if (!asked) return;
    try_all(address_in((*asked)["first"]), (*asked)["files"].get<bool>(), settings, memory, facts);
    world.send(0, {{"facts", facts}, {"clock", wall_clock()}});
    // Until then, others of the host may still be trying this rank's memory.
    world.receive(0);
}

// --- What the coordinator does
// --------------------------------------------------------------------

// Asks all ranks. Those that do not answer are silent from then on.
// @param limit  seconds in all; each part has half, so that a silent rank leaves time for others
void ask(World& world, const Settings& settings, const SharedFile& memory, Seconds limit,
         DoctorFacts& facts)
{
    world.wait_until(clock_seconds() + limit / 2);
    std::map<int, SharedAddress> memories = {{0, memory.address()}};
    for (int rank = 1; rank < world.size(); ++rank)
        if (const auto said = world.receive(rank)) {
            facts.ranks.push_back((*said)["facts"].get<RankFacts>());
            memories[rank] = address_in((*said)["memory"]);
        } else {
            facts.silent.push_back(rank);
        }
    world.wait_until(clock_seconds() + limit / 2);
    const double before = wall_clock();
    for (const auto& host : hosts_of(facts))
        for (const auto* rank : host.ranks)
            if (rank->rank > 0)
                world.send(rank->rank, {{"files", rank == host.ranks[0]},
                                        {"first", as_json(memories[host.ranks[0]->rank])}});
    try_all(memory.address(), true, settings, memory, facts.ranks[0]);
    std::vector<RankFacts> answered = {std::move(facts.ranks[0])};
    for (std::size_t i = 1; i < facts.ranks.size(); ++i) {
        const int rank = facts.ranks[i].rank;
        const auto said = world.receive(rank);
        if (!said) {
            facts.silent.push_back(rank);
            continue;
        }
        answered.push_back((*said)["facts"].get<RankFacts>());
        // It was written between the question and now.
        const double clock = (*said)["clock"], after = wall_clock();
        answered.back().clock_ahead = clock > after ? clock - after : std::min(0.0, clock - before);
    }
    facts.ranks = std::move(answered);
    for (const auto& rank : facts.ranks)
        if (rank.rank > 0) world.send(rank.rank, {{"all tried", true}});
    // Connections to all ranks are open now.
    facts.ranks[0].open_files = count_open_files();
    std::ranges::sort(facts.silent);
}

// What a run would need of memory, by its data set.
void measure_needs(const Settings& settings, DoctorFacts& facts)
{
    const auto model = chosen(models(), settings, "model");
    if (!settings.on("data") || !facts.ranks[0].files[0].wrong.empty()) return;
    try {
        const DataSet data(settings.text("data"));
        facts.parameters = model.make(settings, data.shape())->parameters(data.columns());
        facts.data_bytes = data.training_bytes();
    } catch (const BadInput& wrong) {
        facts.ranks[0].files[0].wrong = wrong.what();
    }
}

// Says in the facts what is wrong with the world, as a run would.
void check(DoctorFacts& facts)
{
    try {
        // Without a launcher there is no world to be wrong.
        if (facts.launched) check_world(facts.size);
    } catch (const BadInput& wrong) {
        facts.world = wrong.what();
    }
}

// Checks the options before anything is done. @return the time limit
Seconds time_limit(const Settings& settings)
{
    chosen(models(), settings, "model");
    for (const auto* name : {"data", "trace"})
        if (settings.given(name) && !settings.on(name)) settings.refuse(name, ": give a file");
    if (settings.given("model") && !settings.on("data"))
        settings.refuse("model", ", but its size follows from the data: give --data FILE");
    settings.integer("threads", 1, 100'000);
    return settings.seconds("timeout", 1, 3600);
}

}  // namespace

std::vector<Option> doctor_options()
{
    std::vector<Option> all = {
        {"data", "FILE", "", "data set of the run: whether all hosts can read it, and its size"},
        {"trace", "FILE", "",
         "trace of the run: whether it can be written there, and how much is free"},
        {"threads", "N", "1", "threads of a rank"},
        {"resilient", "", "", "as in a resilient run, messages go by TCP"},
        {"timeout", "SECONDS", "60", "when to give up what hangs: a rank, MPI, a file system"}};
    const auto of_runs = run_options();
    all.push_back(*std::ranges::find(of_runs, "model", &Option::name));
    for (const auto& entry : models()) add_options(all, entry.options);
    return all;
}

std::optional<DoctorFacts> find_out(const Settings& settings)
{
    check_launch();
    speaks = speaks_for_all();
    const auto limit = time_limit(settings);
    const auto begin = clock_seconds();
    const Alarm end(limit);
    doing =
        "quorate: the host does not answer in time: a file system in the PATH, or /proc, hangs\n";
    DoctorFacts facts;
    facts.built_mpi = built_mpi();
    facts.launcher = own_launcher();
    facts.resilient = settings.on("resilient");
    facts.threads = static_cast<int>(settings.integer("threads", 1));
    if (facts.resilient) choose_tcp();
    facts.launched = launch_environment().size.has_value();
    if (!facts.launched) facts.launchers = launchers_in_path();
    auto own = look_at_host();
    doing =
        "quorate: MPI does not start in time: start the ranks with the launcher of this build "
        "(make "
        "info), and look whether the hosts reach each other (firewall, network interface)\n";
    start_mpi();
    own.open_files = count_open_files();
    doing = "quorate: PyTorch cannot be imported in time: its file system, or a driver, hangs\n";
    own.torch = look_at_torch();
    doing = "quorate: a rank, or the file system of --data or --trace, does not answer in time\n";
    const SharedFile memory("quorate-doctor");
    // Less than the whole time, so that the facts can still be printed.
    World world(begin + 0.8 * limit);
    own.rank = world.rank();
    facts.size = world.size();
    if (world.rank() != 0) {
        answer(world, settings, memory, own);
        return std::nullopt;
    }
    facts.ranks.push_back(std::move(own));
    ask(world, settings, memory, begin + 0.8 * limit - clock_seconds(), facts);
    measure_needs(settings, facts);
    check(facts);
    return speaks ? std::optional(std::move(facts)) : std::nullopt;
}

}  // namespace quorate
