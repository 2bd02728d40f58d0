// SPDX-License-Identifier: BSD-2-Clause
// The ranks that follow the coordinator of a run.
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/alike.hpp"
#include "commands/attempt.hpp"
#include "commands/share_run.hpp"
#include "commands/start_up.hpp"
#include "process/supervisor.hpp"
#include "ranks/rank_worker.hpp"
#include "transport/host_endpoint.hpp"

namespace quorate {

namespace {

// What a rank does in a run that takes place, until that ends or goes back.
Attempt work(const Settings& settings, transport::Endpoint& endpoint, const JoinReply& join_reply,
             WorkerMemory& memory, StateCopies& states, const std::atomic<bool>& leave,
             bool succeeds)
{
    auto training = training_of_ranks(settings, endpoint.size(), join_reply.began_with);
    RankWorker worker(
        endpoint, training.scoring(), training.computing(), training.engine.reencode,
        [&](const Ownership& ownership, transport::Relay& relay) {
            own_share(training, ownership, relay, endpoint.size());
        },
        training.stragglers.models(training.row_time), training.byzantine,
        settings.seconds("timeout", 0.1), memory, states);
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
Attempt follow_once(Settings& settings, Group& group, const std::vector<std::string>& alike,
                    const std::atomic<bool>& leave, bool succeeds)
{
    auto& behind = group.endpoint();
    WorkerMemory memory;
    std::vector<Channel> channels(1);
    if (shares_memory(settings)) {
        memory.contributions = {"quorate-contributions", 1};
        if (!behind.wakes()) channels[0] = Channel::make();
    }
    const Doorbells made = behind.wakes() ? Doorbells() : Doorbells(behind.rank(), behind.size());
    say_hello(behind, alike, memory.contributions.address(), channels[0].address(), made.address(),
              group.states());
    const auto [join_reply, left] = receive_join_reply(behind, settings, group.states());
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
    group.states().forget_after(join_reply.round);
    memory.points = {join_reply.points, behind.size(), behind.rank()};
    memory.read_here = join_reply.reads != 0;
    if (join_reply.channel == 0) channels.clear();
    std::optional<transport::HostEndpoint> past;
    if (!behind.wakes()) past.emplace(behind, std::move(bells), std::move(channels), 0.1);
    transport::Endpoint& endpoint = past ? static_cast<transport::Endpoint&>(*past) : behind;
    has_started();
    auto attempt = work(settings, endpoint, join_reply, memory, group.states(), leave, succeeds);
    if (!attempt.end.finalize && attempt.left.empty()) let_go_first();
    return attempt;
}

}  // namespace

End follow(const Settings& given, transport::Endpoint& world, const std::atomic<bool>& leave,
           const Coordinator* successor)
{
    Group group(world);
    for (auto settings = given;;) {
        auto [end, loss, left, elsewhere] = follow_once(settings, group, to_be_alike(given), leave,
                                                        successor && group.may_shrink());
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
