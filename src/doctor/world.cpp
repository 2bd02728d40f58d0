// SPDX-License-Identifier: BSD-2-Clause
#include "doctor/world.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <set>

#include "base/build.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/median.hpp"
#include "base/wire.hpp"
#include "commands/options.hpp"
#include "commands/run.hpp"
#include "data/data_set.hpp"
#include "doctor/look.hpp"
#include "model/model.hpp"
#include "process/launch.hpp"
#include "process/session.hpp"
#include "process/supervisor.hpp"
#include "ranks/messages.hpp"
#include "transport/clock.hpp"
#include "transport/mpi_endpoint.hpp"
#include "transport/shared_file.hpp"

namespace quorate {

namespace {

using Json = nlohmann::json;
using transport::Tag;

// --- The time limit -------------------------------------------------------------------------------

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

// --- Messages with a time limit -------------------------------------------------------------------

// The world, in which ranks may be silent.
class World {
public:
    explicit World(Seconds until) : until_(until) {}

    /// From now on, nobody waits longer than until then.
    void wait_until(Seconds until) { until_ = until; }

    int rank() const { return endpoint_.rank(); }
    int size() const { return endpoint_.size(); }

    /// Sends a message; whether it has left is not waited for.
    void send(int to, Tag tag, std::shared_ptr<transport::Bytes> bytes)
    {
        endpoint_.send(to, tag, std::move(bytes));
    }
    void send(int to, Tag tag, const Json& json)
    {
        const auto text = json_text(json, -1);
        auto bytes = endpoint_.pool().take(text.size());
        std::memcpy(bytes->data(), text.data(), text.size());
        send(to, tag, std::move(bytes));
    }
    void send(int to, Tag tag, std::size_t size)
    {
        auto bytes = endpoint_.pool().take(size);
        std::memset(bytes->data(), 0, size);
        send(to, tag, std::move(bytes));
    }

    /// Waits for the next message. @return nothing if none has come in time
    std::optional<transport::Message> receive()
    {
        return receive([&] { return endpoint_.receive(); });
    }
    std::optional<transport::Message> receive(int from)
    {
        return receive([&] { return endpoint_.take_from(from); });
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
    template <class Take>
    std::optional<transport::Message> receive(Take take)
    {
        for (endpoint_.restart_wait();; endpoint_.wait()) {
            if (auto message = take()) return message;
            if (clock_seconds() > until_) return std::nullopt;
        }
    }

    Seconds until_;
    transport::MpiEndpoint endpoint_;
};

Json json_in(const transport::Message& message)
{
    const auto* text = reinterpret_cast<const char*>(message.bytes->data());
    return Json::parse(text, text + message.bytes->size());
}

// --- Pings ----------------------------------------------------------------------------------------

// Sends a message of so many bytes, and waits for the pong, which says what time it is there.
// @return seconds; nothing if no pong has come
std::optional<Seconds> round_trip(World& world, int to, std::size_t bytes, double& clock)
{
    const auto before = clock_seconds();
    world.send(to, Tag::ping, bytes);
    const auto pong = world.receive(to);
    if (!pong) return std::nullopt;
    const auto took = clock_seconds() - before;
    if (pong->bytes->size() == sizeof clock) std::memcpy(&clock, pong->bytes->data(), sizeof clock);
    return took;
}

void answer(World& world, const transport::Message& ping)
{
    auto bytes = std::make_shared<transport::Bytes>(sizeof(double));
    const double now = wall_clock();
    std::memcpy(bytes->data(), &now, sizeof now);
    world.send(ping.from, Tag::pong, std::move(bytes));
}

// @return nothing if the rank did not answer
std::optional<PingFacts> ping(World& world, int to)
{
    constexpr int times = 11;
    PingFacts facts{world.rank(), to};
    std::vector<double> all;
    double there = 0, least = never;
    for (int i = -1; i < times; ++i) {
        const auto before = wall_clock();
        const auto took = round_trip(world, to, sizeof(double), there);
        if (!took) return std::nullopt;
        if (i < 0) continue;  // MPI connects with the first message
        all.push_back(*took);
        // The pong was written at some time between, so half of the round trip is the error.
        if (*took < least) {
            least = *took;
            facts.clock_ahead = there - (before + *took / 2);
            facts.clock_error = *took / 2;
        }
    }
    facts.seconds = median(std::move(all));
    // Longer and longer messages, until one takes so long that the ping itself does not matter.
    constexpr Seconds enough = 5e-3;
    constexpr std::size_t shortest = 65536, longest = 16777216;
    for (std::size_t bytes = shortest; bytes <= longest; bytes *= 4) {
        const auto took = round_trip(world, to, bytes, there);
        if (!took) return std::nullopt;
        facts.bandwidth = static_cast<double>(bytes) / std::max(*took - facts.seconds, *took / 10);
        if (*took > enough) break;
    }
    return facts;
}

// --- What ranks do --------------------------------------------------------------------------------

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

// What the coordinator tells a rank to do; the rank answers with facts.
struct Errand {
    bool files;           // try the files
    SharedAddress first;  // memory of the host's first rank, to be shared
};

void run_errand(const Errand& errand, const Settings& settings, const SharedFile& memory,
                RankFacts& facts)
{
    facts.shares = shares(memory, errand.first);
    if (errand.files) facts.files = try_files(settings, facts.rank == 0);
}

// The part of every other rank. Answers until it is told to stop.
void serve(World& world, const Settings& settings, const SharedFile& memory, RankFacts& facts)
{
    world.send(0, Tag::hello, Json{{"facts", facts}, {"memory", as_json(memory.address())}});
    while (const auto message = world.receive()) {
        if (message->tag == Tag::stop) return;
        if (message->tag == Tag::ping) {
            answer(world, *message);
        } else if (message->tag == Tag::join_reply) {
            const auto asked = json_in(*message);
            run_errand({asked["files"].get<bool>(), address_in(asked["first"])}, settings, memory,
                       facts);
            world.send(0, Tag::ready, Json(facts));
        } else if (message->tag == Tag::assign) {  // ping that rank
            const auto result = ping(world, json_in(*message).get<int>());
            world.send(0, Tag::ready, result ? Json(*result) : Json());
        }
    }
}

// --- What the coordinator does --------------------------------------------------------------------

// Pairs of hosts that ping each other: all if they are few, else each and the next one.
std::vector<std::pair<int, int>> pairs_of(const std::vector<HostRanks>& hosts)
{
    constexpr std::size_t few = 6;
    std::vector<std::pair<int, int>> all;
    // Pings of the coordinator's host are there already.
    for (std::size_t i = 1; i < hosts.size(); ++i)
        for (std::size_t j = i + 1; j < hosts.size(); ++j)
            if (hosts.size() <= few || j == i + 1)
                all.emplace_back(hosts[i].ranks[0]->rank, hosts[j].ranks[0]->rank);
    return all;
}

// Asks all ranks. Those that do not answer are silent from then on.
// @param limit  seconds in all; each part has its share, so that a silent rank leaves time for others
void ask(World& world, const Settings& settings, const SharedFile& memory, Seconds limit,
         DoctorFacts& facts)
{
    world.wait_until(clock_seconds() + limit / 4);
    std::map<int, SharedAddress> memories = {{0, memory.address()}};
    const auto silent = [&](int rank) {
        facts.silent.push_back(rank);
        std::erase_if(facts.ranks, [&](const auto& one) { return one.rank == rank; });
    };
    for (int rank = 1; rank < world.size(); ++rank) {
        const auto hello = world.receive(rank);
        if (!hello) {
            facts.silent.push_back(rank);
            continue;
        }
        const auto said = json_in(*hello);
        facts.ranks.push_back(said["facts"].get<RankFacts>());
        memories[rank] = address_in(said["memory"]);
    }
    world.wait_until(clock_seconds() + limit / 4);
    for (const auto& host : hosts_of(facts))
        for (const auto* rank : host.ranks) {
            const Errand errand{rank == host.ranks[0], memories[host.ranks[0]->rank]};
            if (rank->rank > 0)
                world.send(rank->rank, Tag::join_reply,
                           Json{{"files", errand.files}, {"first", as_json(errand.first)}});
        }
    run_errand({true, memory.address()}, settings, memory, facts.ranks[0]);
    for (auto& rank : std::vector(facts.ranks)) {
        if (rank.rank == 0) continue;
        if (const auto ready = world.receive(rank.rank))
            *std::ranges::find(facts.ranks, rank.rank, &RankFacts::rank) =
                json_in(*ready).get<RankFacts>();
        else
            silent(rank.rank);
    }
    const auto end = clock_seconds() + limit / 2;
    const auto next = [&] { world.wait_until(std::min(end, clock_seconds() + limit / 10)); };
    for (auto& rank : std::vector(facts.ranks)) {
        if (rank.rank == 0) continue;
        next();
        if (const auto result = ping(world, rank.rank))
            facts.pings.push_back(*result);
        else
            silent(rank.rank);
    }
    for (const auto& [from, to] : pairs_of(hosts_of(facts))) {
        next();
        world.send(from, Tag::assign, Json(to));
        const auto ready = world.receive(from);
        if (!ready) break;
        if (const auto result = json_in(*ready); !result.is_null())
            facts.pings.push_back(result.get<PingFacts>());
    }
    for (int rank = 1; rank < world.size(); ++rank) world.send(rank, Tag::stop, std::size_t{0});
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
         "trace of the run: whether it can be written, locked and flushed there"},
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
    doing = "quorate: a rank, or the file system of --data or --trace, does not answer in time\n";
    const SharedFile memory("quorate-doctor");
    // Less than the whole time, so that the facts can still be printed.
    World world(begin + 0.8 * limit);
    own.rank = world.rank();
    facts.size = world.size();
    if (world.rank() != 0) {
        serve(world, settings, memory, own);
        return std::nullopt;
    }
    facts.ranks.push_back(std::move(own));
    ask(world, settings, memory, begin + 0.8 * limit - clock_seconds(), facts);
    measure_needs(settings, facts);
    check(facts);
    return speaks ? std::optional(std::move(facts)) : std::nullopt;
}

}  // namespace quorate
