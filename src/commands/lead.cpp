// SPDX-License-Identifier: BSD-2-Clause
// The rank that leads a run: its coordinator.
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
#include "commands/attempt.hpp"
#include "commands/run_folder.hpp"
#include "commands/share_run.hpp"
#include "commands/start_up.hpp"
#include "commands/states_in_memory.hpp"
#include "fleet/replay_fleet.hpp"
#include "parts/plugins.hpp"
#include "process/supervisor.hpp"
#include "ranks/rank_fleet.hpp"
#include "ranks/rank_placement.hpp"
#include "run/aggregation.hpp"
#include "run/needed_memory.hpp"
#include "transport/host_endpoint.hpp"
#include "transport/mpi.hpp"

namespace quorate {

namespace {

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
            const Coordinator& coordinator, StatesInMemory& states)
        : training(training_of_ranks(settings, endpoint.size(),
                                     workers_to_resume(settings, states.has_more())))
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
        resumed = coordinator.prepare(training.settings, training, [&] { return states.next(); });
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

StateLead states_of(RankFleet& fleet)
{
    return {{[&fleet](auto part) { fleet.keep_state(std::move(part)); },
             [&fleet](auto piece) { fleet.send_state(std::move(piece)); }, 0, fleet.shares()},
            [&fleet](const Snapshot& snapshot) { fleet.begin_state(snapshot.round); },
            [&fleet] { return fleet.has_whole_state(); }};
}

// Trains. @return the exit status  @throws GoBack
int train_on(RankFleet& fleet, Checked& checked, const Hellos& hellos,
             const Coordinator& coordinator, const std::string& here)
{
    auto& [training, optimizers, resumed] = checked;
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
                      fleet.own_share(),
                      states_of(fleet)};
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

// The run that takes place. @param settings  is completed
Attempt lead_run(Settings& settings, Group& group, Doorbells bells, const Hellos& hellos,
                 Checked& checked, const Coordinator& coordinator)
{
    auto& behind = group.endpoint();
    const auto& training = checked.training;
    JoinReply common{.bells = bells.address(),
                     .launched = launched_process(),
                     .status = exit_done,
                     .began_with = training.workers,
                     .round = checked.resumed ? checked.resumed->checkpoint.snapshot.round : 0};
    group.states().forget_after(common.round);
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
    RankFleet fleet(line.endpoint(), ranks, training.scoring(), training.wire,
                    training.compression.compressor, settings.seconds("timeout", 0.1),
                    line.memory());
    fleet.keep_states(group.states());
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
    const auto patience = 10 * settings.seconds("timeout", 0.1);
    const auto hellos = receive_hellos(behind, loss ? patience : never);
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
        StatesInMemory states(behind, group.states(), hellos, patience);
        checked.emplace(settings, behind, hellos, coordinator, states);
        if (checked->resumed && checked->resumed->completed)
            return {dismiss(behind, settings, bells.address(), nothing_to_do)};
        if (loss && !checked->resumed)
            throw BadInput(loss->why + ", and there is no checkpoint yet: begin the run again");
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

}  // namespace

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

End lead(const Settings& settings, transport::Endpoint& world, const Coordinator& coordinator)
{
    Group group(world);
    return lead_on(group, settings, settings, coordinator, {});
}

}  // namespace quorate
