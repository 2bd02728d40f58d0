// SPDX-License-Identifier: BSD-2-Clause
#include "commands/rank_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/owner.hpp"
#include "base/text.hpp"
#include "commands/alike.hpp"
#include "commands/group.hpp"
#include "commands/run_folder.hpp"
#include "commands/share_run.hpp"
#include "commands/start_up.hpp"
#include "fleet/replay_fleet.hpp"
#include "parts/plugins.hpp"
#include "process/stop.hpp"
#include "process/supervisor.hpp"
#include "ranks/rank_fleet.hpp"
#include "ranks/rank_placement.hpp"
#include "ranks/rank_worker.hpp"
#include "run/aggregation.hpp"
#include "run/needed_memory.hpp"
#include "transport/host_endpoint.hpp"
#include "transport/mpi.hpp"

namespace quorate {

bool scores_live(const Settings& settings)
{
    return settings.one_of("evaluate", {"after", "live"}) == "live";
}

namespace {

// Whether ranks of the coordinator's host read points and write contributions in shared memory.
// build() checks the word.
bool shares_memory(const Settings& settings) { return settings.text("transport") == "shared"; }

// Builds the training of a world of so many ranks, the same on all ranks. Local.
// @param began_with  workers that the run began with, if it is to go on
// @throws BadInput if there are too few ranks, or as build_training()
Training build(const Settings& settings, int ranks, const std::optional<int>& began_with)
{
    settings.one_of("transport", {"shared", "messages"});
    const int spare = scores_live(settings) ? 1 : 0;
    const auto standby = settings.integer("standby", 0, std::max(0, ranks - 2 - spare));
    auto training = build_training(
        settings, std::max(1, ranks - 1 - spare - static_cast<int>(standby)), {}, began_with);
    if (spare == 1 && training.here > ranks - 2)
        settings.refuse("evaluate", fmt::format(", but of {} ranks none is to spare beside a "
                                                "coordinator and {} workers: start {} ranks",
                                                ranks, training.here, training.here + 2));
    if (spare == 0 && training.stop_rules.scored())
        settings.refuse(
            training.stop_rules.patience > 0 ? "patience" : "stop-at",
            ", for which models are scored as the run goes on: add --evaluate live, and a "
            "rank for it");
    const auto needed = 1 + training.here + training.standby + spare;
    if (needed > ranks)
        settings.refuse(training.standby > 0 ? "standby" : "workers",
                        fmt::format(", but {} ranks make a coordinator and {} workers: start {} "
                                    "ranks{}",
                                    ranks, ranks - 1, needed,
                                    began_with ? ", or give fewer to go on with" : ""));
    check_aggregation(training);
    check_shares(training);
    return training;
}

// Whether another rank takes the coordinator's place if it dies.
bool may_be_succeeded(const Settings& settings)
{
    return settings.on("resilient") && settings.on("checkpoint");
}

// Seconds within which it has.
Seconds patience_of(const Settings& settings) { return 30 + 15 * settings.seconds("timeout", 0.1); }

/// Tells all ranks that the run does not take place. Waits for the farewell of each, because this
/// process may end soon, and every join reply must have arrived before that.
End dismiss(transport::Endpoint& endpoint, const Settings& settings, const SharedAddress& bells,
            int status)
{
    has_started();
    std::vector<int> all(static_cast<std::size_t>(endpoint.size()));
    std::iota(all.begin(), all.end(), 0);
    send_join_replies(endpoint, {.bells = bells, .launched = launched_process(), .status = status},
                      settings, all);
    for (int rank = 1; rank < endpoint.size(); ++rank) endpoint.receive_from(rank);
    return {status == nothing_to_do ? exit_done : status};
}

// Returns for each worker of the run its rank; -1: it has none any more.
// @param hosts  of the ranks that are workers, from rank 1 on
std::vector<int> ranks_of(const std::vector<std::string>& hosts, const Resumption* resumed)
{
    auto placed = place_ranks(hosts);
    if (!resumed) return placed;
    std::vector<int> ranks(static_cast<std::size_t>(resumed->workers()), -1);
    for (std::size_t i = 0; i < placed.size(); ++i)
        ranks[static_cast<std::size_t>(resumed->here[i])] = placed[i];
    return ranks;
}

// The same where a run goes on whose hosts have shares of the parameters. Then other workers may
// have to be there, so that no group is on two hosts.
std::vector<int> ranks_over_shares(const std::vector<std::string>& hosts,
                                   const std::string& coordinator, Resumption& resumed)
{
    const auto groups = recorded_groups(resumed.trace);
    auto ranks = ranks_of(hosts, &resumed);
    // On one host there are no shares.
    const bool alone = std::ranges::count(hosts, coordinator) == std::ssize(hosts);
    if (alone || groups.empty() || groups_are_together(ranks, groups, hosts, coordinator))
        return ranks;
    ranks = place_groups(hosts, coordinator, groups, split(resumed.trace.text("nodes"), ' '),
                         resumed.here);
    resumed.here.clear();
    for (std::size_t worker = 0; worker < ranks.size(); ++worker)
        if (ranks[worker] >= 0) resumed.here.push_back(static_cast<Worker>(worker));
    return ranks;
}

// Of each rank but 0, the memory that it shares with this one: none if it is on another host.
std::vector<SharedAddress> of_this_host(std::vector<SharedAddress> addresses,
                                        const std::vector<std::string>& hosts,
                                        const std::string& here)
{
    for (std::size_t i = 0; i < addresses.size(); ++i)
        if (hosts[i] != here) addresses[i] = {};
    return addresses;
}

// What the coordinator has checked before the run begins.
struct Checked {
    // @throws what is wrong
    Checked(const Settings& settings, const transport::Endpoint& endpoint, const Hellos& hellos,
            const Coordinator& coordinator)
        : training(build(settings, endpoint.size(), workers_to_resume(settings)))
    {
        std::vector<RankMemory> memory = {{endpoint.host(), free_memory()}};
        for (std::size_t i = 0; i < hellos.hosts.size(); ++i)
            memory.push_back({hellos.hosts[i], hellos.free[i]});
        check_memory(training, memory);
        // That of --aggregate auto is checked when it is known who adds up.
        if (training.settings.text("aggregate") == "flat") check_kept(training);
        // Those of a share are made when it is known which; here options are checked.
        std::optional<ShareRange> share;
        if (training.settings.text("aggregate") == "shares") share.emplace(0, 0);
        optimizers = begin_training(training, share);
        resumed = coordinator.prepare(training.settings, training);
    }
    Training training;
    Optimizers optimizers;
    std::optional<Resumption> resumed;
};

// What the coordinator speaks by once the run takes place, and what it shares with its host.
class Line {
public:
    Line(const Settings& settings, transport::Endpoint& behind, Doorbells bells,
         const Hellos& hellos)
        : behind_(behind)
    {
        const bool shares = shares_memory(settings);
        std::vector<Channel> open(1);
        for (const auto& address : of_this_host(hellos.channels, hellos.hosts, behind.host()))
            open.push_back(shares ? Channel::open(address) : Channel());
        for (std::size_t i = 0; i < hellos.hosts.size(); ++i)
            bells_.try_emplace(hellos.hosts[i], hellos.bells[i]);
        for (const auto& channel : open) has_channel_.push_back(channel.present());
        if (!behind.wakes()) past_.emplace(behind, std::move(bells), std::move(open), 0.02);
        memory_.emplace();
        if (shares)
            memory_.emplace(endpoint(),
                            of_this_host(hellos.contributions, hellos.hosts, behind.host()));
    }

    transport::Endpoint& endpoint() { return past_ ? *past_ : behind_; }
    CoordinatorMemory& memory() { return *memory_; }
    // Fills in what is of one rank.
    void introduce(int rank, const std::string& host, JoinReply& reply)
    {
        if (host == endpoint().host())
            reply.points = memory_->points_address();
        else
            reply.bells = bells_.at(host);
        reply.reads = memory_->reads(rank);
        reply.channel = has_channel_[static_cast<std::size_t>(rank)];
    }

private:
    transport::Endpoint& behind_;
    std::vector<bool> has_channel_;               // by rank
    std::map<std::string, SharedAddress> bells_;  // of each host, its first rank's
    std::optional<transport::HostEndpoint> past_;
    std::optional<CoordinatorMemory> memory_;
};

// What each rank is.
FleetRanks fleet_ranks(Checked& checked, std::vector<std::string> hosts, const std::string& here,
                       int size)
{
    auto& [training, optimizers, resumed] = checked;
    hosts.resize(static_cast<std::size_t>(training.here));
    FleetRanks ranks;
    ranks.workers = resumed && goes_on_over_shares(training.settings, resumed->trace)
                        ? ranks_over_shares(hosts, here, *resumed)
                        : ranks_of(hosts, resumed ? &*resumed : nullptr);
    for (int rank = training.here + 1; rank < size; ++rank)
        (rank <= training.here + training.standby ? ranks.standby : ranks.idle).push_back(rank);
    if (scores_live(training.settings)) ranks.spare = size - 1;
    return ranks;
}

// Whether some worker that is there is on another host than the coordinator.
bool has_other_hosts(const RankFleet& fleet, const std::string& here)
{
    return std::ranges::any_of(fleet.workers(), [&](const WorkerInfo& worker) {
        return worker.rank >= 0 && worker.host != here;
    });
}

// Whether each worker that is there writes contributions where others of its host can read them.
bool all_share_memory(const RankFleet& fleet, const Hellos& hellos)
{
    return std::ranges::all_of(fleet.workers(), [&](const WorkerInfo& worker) {
        return worker.rank < 0 ||
               hellos.contributions[static_cast<std::size_t>(worker.rank) - 1].file >= 0;
    });
}

// Begins to share the parameters out.
void share(RankFleet& fleet, std::span<const int> groups, const Checked& checked,
           const Hellos& hellos)
{
    const auto& [training, optimizers, resumed] = checked;
    TellPast past;
    if (resumed)
        past = [&](std::size_t first, std::size_t last) {
            return encode(*resumed, {first, last - first}, fleet.pool());
        };
    fleet.share(groups, hellos.contributions, training.settings.text("step"), past);
}

// Begins aggregation by node or over shares of the parameters, if there are such groups. A run that
// goes on keeps its groups, wherever they are added up from now on.
// @param here  the coordinator's host
void aggregate(RankFleet& fleet, Checked& checked, const Hellos& hellos, const std::string& here)
{
    using enum Aggregation::Way;
    auto& [training, optimizers, resumed] = checked;
    const bool wanted = training.settings.text("aggregate") == "shares";
    auto [way, groups] = resumed
                             ? aggregation_to_go_on_with(training, resumed->trace, fleet.workers())
                             : aggregation_of(training, fleet.workers());
    const bool others = has_other_hosts(fleet, here);
    if (resumed && groups.empty() && wanted && others)
        throw BadInput(
            "--aggregate shares is not possible: this run has added up all "
            "contributions in one sum so far, and must go on so to keep its bits; use "
            "--aggregate flat");
    if (way == shares && !others) way = node;
    if (way == shares && !wanted && !all_share_memory(fleet, hellos)) way = node;
    if (way == shares) {
        share(fleet, groups, checked, hellos);
    } else if (!groups.empty()) {
        // Whose memory nobody knows sends its values to the coordinator.
        const std::vector<SharedAddress> unknown(hellos.contributions.size());
        fleet.aggregate(groups, way == flat ? unknown : hellos.contributions);
    }
    if (way == shares || wanted) {
        optimizers = begin_training(training, fleet.own_share());
        for (const auto& optimizer : optimizers) optimizer->use_sums(sums_over(fleet));
    }
    if (!resumed) note_aggregation(training, fleet);
}

// Trains. @return the exit status  @throws GoBack
int train_on(RankFleet& fleet, Checked& checked, const Hellos& hellos,
             const Coordinator& coordinator, const std::string& here)
{
    const auto& [training, optimizers, resumed] = checked;
    try {
        aggregate(fleet, checked, hellos, here);
        if (fleet.groups() == 1) check_kept(training);
        const Run run{training,
                      fleet,
                      optimizers,
                      [&](const auto& next, const auto& add) { fleet.evaluate(next, add); },
                      resumed ? &*resumed : nullptr,
                      true,
                      scores_live(training.settings) ? &fleet : nullptr,
                      {},
                      fleet.own_share()};
        return coordinator.run(training.settings, run);
    } catch (const mpi::Error&) {
        throw;
    } catch (const GoBack&) {
        throw;
    } catch (const std::exception& error) {
        coordinator.failed(error);
        return dynamic_cast<const BadInput*>(&error) ? exit_bad_input : exit_failed;
    }
}

// What has become of an attempt to end a run: how this rank ends, or with whom the run goes back.
struct Attempt {
    End end;
    std::optional<GoBack::Loss> loss = {};
    std::vector<int> left = {};  // ranks, ascending
    std::string elsewhere = {};  // how the run goes on if it does not in this job
};

// The run that takes place. @param settings  is completed
Attempt lead_run(Settings& settings, Group& group, Doorbells bells, const Hellos& hellos,
                 Checked& checked, const Coordinator& coordinator)
{
    auto& behind = group.endpoint();
    const auto& training = checked.training;
    JoinReply common{.bells = bells.address(),
                     .launched = launched_process(),
                     .status = exit_done,
                     .began_with = training.workers};
    Line line(settings, behind, std::move(bells), hellos);
    const auto ranks = fleet_ranks(checked, hellos.hosts, behind.host(), behind.size());
    // If others are there than in the beginning, the code is made for them before they do anything.
    common.loads = std::ssize(ranks.workers) == training.workers &&
                   std::ranges::find(ranks.workers, -1) == ranks.workers.end();
    if (coordinator.completed) settings = coordinator.completed();
    send_join_replies(
        behind, common, settings, hellos.left, ranks.workers, [&](int rank, JoinReply& reply) {
            line.introduce(rank, hellos.hosts[static_cast<std::size_t>(rank) - 1], reply);
        });
    has_started();
    if (may_be_succeeded(settings))
        leads(owner_record_of(settings.text("trace")), patience_of(settings));
    RankFleet fleet(line.endpoint(), ranks, *training.data, *training.model, training.wire,
                    settings.seconds("timeout", 0.1), line.memory());
    Attempt attempt{{exit_run_again}};
    try {
        attempt.end.status = train_on(fleet, checked, hellos, coordinator, behind.host());
    } catch (const GoBack& back) {
        attempt.loss = back.loss();
        attempt.elsewhere = back.what();
    }
    auto& end = attempt.end;
    end.finalize = !fleet.has_dead_ranks() && !settings.on("resilient") && group.losses() == 0;
    attempt.left = fleet.finish(attempt.loss && group.may_shrink() ? Ending::regroup
                                : end.finalize                     ? Ending::together
                                                                   : Ending::apart);
    end.lost = fleet.has_lost_ranks();
    return attempt;
}

// A run from the hellos of the ranks that are there.
// @param settings  are completed if it takes place  @param alike  as of follow_once()
Attempt lead_once(Settings& settings, Group& group, const std::vector<std::string>& alike,
                  const Coordinator& coordinator, const std::optional<GoBack::Loss>& loss)
{
    auto& behind = group.endpoint();
    // What the run cannot do with those who are left it may do with others.
    const int refused = loss ? exit_run_again : exit_bad_input;
    std::optional<Checked> checked;
    Doorbells bells;
    if (!behind.wakes()) bells = Doorbells(0, behind.size());
    // At the first start the launcher says who is there.
    const auto hellos =
        receive_hellos(behind, loss ? 10 * settings.seconds("timeout", 0.1) : never);
    if (std::ssize(hellos.left) < behind.size()) {
        send_join_replies(behind, {.bells = bells.address(), .status = start_again}, settings,
                          hellos.left);
        return {{exit_run_again}, loss, hellos.left, "too few ranks are left"};
    }
    try {
        coordinator.check();
        for (std::size_t i = 0; i < hellos.plugins.size(); ++i)
            check_same_plugins(fmt::format("rank {}", i + 1), hellos.plugins[i]);
        for (std::size_t i = 0; i < hellos.alike.size(); ++i)
            check_alike(static_cast<int>(i) + 1, hellos.alike[i], alike);
        checked.emplace(settings, behind, hellos, coordinator);
        if (checked->resumed && checked->resumed->completed)
            return {dismiss(behind, settings, bells.address(), nothing_to_do)};
        if (checked->resumed) checked->resumed->loss = loss;
    } catch (const BadInput& wrong) {
        coordinator.failed(wrong);
        return {dismiss(behind, settings, bells.address(), refused)};
    } catch (const mpi::Error&) {
        throw;
    } catch (const std::exception& error) {
        coordinator.failed(error);
        return {dismiss(behind, settings, bells.address(), exit_failed)};
    }
    return lead_run(settings, group, std::move(bells), hellos, *checked, coordinator);
}

// Leads a run until it ends, with fewer ranks after each loss.
// @param given  the options as all ranks got them
End lead_on(Group& group, const Settings& given, Settings settings, const Coordinator& coordinator,
            std::optional<GoBack::Loss> loss)
{
    for (bool lost = false;;) {
        auto attempt = lead_once(settings, group, to_be_alike(given), coordinator, loss);
        auto& [end, next, left, elsewhere] = attempt;
        end.finalize = end.finalize && !loss;
        end.lost = lost = lost || end.lost;
        if (!next) return end;
        if (!group.may_shrink() || left.size() < 2) {
            log(LogLevel::error, elsewhere);
            return end;
        }
        log(LogLevel::error, fmt::format("{}; the {} other ranks go on from the newest checkpoint",
                                         next->why, left.size() - 1));
        settings = group.to_go_on(std::move(settings), left.size());
        loss = next;
        group.shrink(std::move(left));
    }
}

}  // namespace

End lead(const Settings& settings, transport::Endpoint& world, const Coordinator& coordinator)
{
    Group group(world);
    return lead_on(group, settings, settings, coordinator, {});
}

namespace {

// What a rank does in a run that takes place, until that ends or goes back.
Attempt work(const Settings& settings, transport::Endpoint& endpoint, const JoinReply& join_reply,
             WorkerMemory& memory, const std::atomic<bool>& leave, bool succeeds)
{
    auto training = build(settings, endpoint.size(), join_reply.began_with);
    RankWorker worker(
        endpoint, *training.data, training.computing(), training.engine.reencode,
        [&](const Ownership& ownership, transport::Relay& relay) {
            own_share(training, ownership, relay, endpoint.size());
        },
        {training.row_time, *training.delays, *training.slowdowns}, training.byzantine,
        settings.seconds("timeout", 0.1), memory);
    if (join_reply.worker >= 0 && !join_reply.loads)
        worker.present();
    else if (join_reply.worker >= 0)
        worker.take(Assignment{join_reply.worker, training.workers, join_reply.worker, 0});
    bool orphaned = false;
    try {
        const auto ending = worker.run(leave);
        if (ending == Ending::together) return {{exit_done}};
        if (ending == Ending::regroup) return {{exit_done}, {}, worker.left()};
    } catch (const Orphaned&) {
        // Nothing is logged here: whoever saw the coordinator end has reported it.
        if (!settings.on("resilient")) return {{exit_failed, false}};
        orphaned = true;
    } catch (const transport::Unreachable&) {
        // In a resilient run the coordinator may have ended.
        if (!settings.on("resilient")) throw;
        orphaned = true;
    }
    if (orphaned && succeeds && may_be_succeeded(settings)) {
        const GoBack::Loss loss{"the coordinator is dead", 0, clock_seconds()};
        const bool lost = !endpoint.has_ended(0);
        if (auto left = worker.succeed(); !left.empty())
            return {{exit_done, false, lost}, loss, std::move(left)};
    }
    return {{exit_done, false}};  // the status of a resilient run is the coordinator's
}

// The part of a rank that is not the coordinator, until the run ends or goes back.
// @param settings  as receive_join_reply() has it
// @param alike     to_be_alike() of the options that were given
// @param succeeds  whether this rank may take the coordinator's place
Attempt follow_once(Settings& settings, transport::Endpoint& behind,
                    const std::vector<std::string>& alike, const std::atomic<bool>& leave,
                    bool succeeds)
{
    WorkerMemory memory;
    std::vector<Channel> channels(1);
    if (shares_memory(settings)) {
        memory.contributions = {"quorate-contributions", 1};
        if (!behind.wakes()) channels[0] = Channel::make();
    }
    const Doorbells made = behind.wakes() ? Doorbells() : Doorbells(behind.rank(), behind.size());
    say_hello(behind, alike, memory.contributions.address(), channels[0].address(), made.address());
    const auto [join_reply, left] = receive_join_reply(behind, settings);
    if (join_reply.status == start_again) return {{exit_done}, {}, left};
    Doorbells bells(join_reply.bells, behind.rank(), behind.size());
    const bool here = bells.with_coordinator();
    // Hydra loses the exit status of the process that ends last on its host, which must not be the
    // coordinator's, because that is the status of the run.
    const auto let_go_first = [&] {
        if (here) outlive(static_cast<pid_t>(join_reply.launched), 5);
    };
    if (join_reply.status != exit_done) {
        has_started();  // and Hydra is told of the end, whatever it notices first
        behind.send(0, transport::Tag::farewell, behind.pool().take(0));
        // The coordinator of a resilient run may end as soon as it has this message, and before the
        // message has left here.
        if (!settings.on("resilient"))
            behind.flush();
        else
            let_go_first();
        return {
            {join_reply.status == nothing_to_do ? exit_done : static_cast<int>(join_reply.status)}};
    }
    memory.points = {join_reply.points, behind.size(), behind.rank()};
    memory.read_here = join_reply.reads != 0;
    if (join_reply.channel == 0) channels.clear();
    std::optional<transport::HostEndpoint> past;
    if (!behind.wakes()) past.emplace(behind, std::move(bells), std::move(channels), 0.1);
    transport::Endpoint& endpoint = past ? static_cast<transport::Endpoint&>(*past) : behind;
    has_started();
    auto attempt = work(settings, endpoint, join_reply, memory, leave, succeeds);
    if (!attempt.end.finalize && attempt.left.empty()) let_go_first();
    return attempt;
}

}  // namespace

End follow(const Settings& given, transport::Endpoint& world, const std::atomic<bool>& leave,
           const Coordinator* successor)
{
    Group group(world);
    for (auto settings = given;;) {
        auto [end, loss, left, elsewhere] = follow_once(
            settings, group.endpoint(), to_be_alike(given), leave, successor && group.may_shrink());
        if (left.empty()) return end;
        settings.set("folder", {"", "", false});
        settings = group.to_go_on(std::move(settings), left.size());
        group.shrink(std::move(left));
        if (group.endpoint().rank() != 0) continue;
        log(LogLevel::error, fmt::format("{}; this rank takes its place, with {} others",
                                         loss.value().why, group.endpoint().size() - 1));
        auto last = lead_on(group, given, settings, *successor, loss);
        last.lost = last.lost || end.lost;
        return last;
    }
}

}  // namespace quorate
