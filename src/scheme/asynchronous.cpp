// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/sample_mean.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

struct Ways {
    int collect;         // K, contributions of an update
    bool waits;          // who has answered waits for the update; else it goes on at once
    double staleness;    // that is expected
    bool fresh = false;  // an update cancels all running tasks, so that no contribution is stale
    std::int64_t cap = std::numeric_limits<std::int64_t>::max();  // staler ones are not used
    bool scaled = false;  // contributions are scaled by 1 / (1 + staleness)
};

// Worker i holds partition i, and computes batch after batch of it. Every K contributions make an
// update. Dutta et al., AISTATS 2018.
class Asynchronous final : public Scheme {
public:
    Asynchronous(const Problem& problem, const Ways& ways)
        : ways_(ways), own_(problem), mean_(own_.needs.blocks)
    {
    }

    Needs needs() const override
    {
        auto needs = own_.needs;
        needs.answers = ways_.collect;
        needs.staleness = ways_.staleness;
        needs.stable_step = stable_step(ways_.staleness);
        return needs;
    }

    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            active_ = start->active;
            for (const auto worker : active_) dispatch(worker, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution, out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            newest_ = done->version;
            for (const auto worker : ways_.fresh ? active_ : waiting_) dispatch(worker, out);
            waiting_.clear();
        }
    }

private:
    void dispatch(Worker worker, std::vector<Action>& out)
    {
        out.push_back(Dispatch{.task = next_++,
                               .worker = worker,
                               .plan = own_.plans[static_cast<std::size_t>(worker)],
                               .inputs = {newest_},
                               .control = {.draw = own_count}});
    }

    void receive(const Contribution& contribution, std::vector<Action>& out)
    {
        const auto worker = contribution.worker;
        const auto stale = newest_ - contribution.newest;
        if (stale > ways_.cap) {
            out.push_back(Close{contribution.task, contribution.task});
            dispatch(worker, out);
            return;
        }
        mean_.add(contribution, worker, ways_.scaled ? 1 / (1 + static_cast<double>(stale)) : 1);
        used_.push_back(contribution.task);
        if (mean_.size() < ways_.collect) {
            if (ways_.waits)
                waiting_.push_back(worker);
            else
                dispatch(worker, out);
            return;
        }
        waiting_.push_back(worker);
        auto step = mean_.step();
        step.share = static_cast<double>(mean_.samples()) / static_cast<double>(own_.samples);
        out.push_back(std::move(step));
        if (ways_.fresh) {
            out.push_back(Close{first_, next_ - 1});
            first_ = next_;
        } else {
            for (const auto task : used_) out.emplace_back(Close{task, task});
        }
        mean_.clear();
        used_.clear();
    }

    Ways ways_;
    OwnPartitions own_;
    SampleMean mean_;
    std::vector<TaskId> used_;  // tasks whose contributions wait for their update
    std::vector<Worker> active_, waiting_;
    Version newest_ = 0;
    TaskId first_ = 0, next_ = 0;
};

Option staleness_scale_option()
{
    return {"staleness-scale", "none|inverse", "none",
            "weight of a contribution of staleness T: 1, or 1 / (1 + T)"};
}

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem, Ways ways)
{
    ways.cap = staleness_cap(settings, ways.cap);
    ways.scaled = settings.one_of("staleness-scale", {"none", "inverse"}) == "inverse";
    ways.staleness = std::min(ways.staleness, static_cast<double>(ways.cap));
    return std::make_unique<Asynchronous>(problem, ways);
}

// K may be larger than n, because a worker may answer several times before an update.
int any_collect(const Settings& settings, int workers)
{
    return settings.on("collect")
               ? static_cast<int>(settings.integer("collect", 1, std::numeric_limits<int>::max()))
               : collect(settings, workers);
}

const char* const source = "Dutta et al., Slow and Stale Gradients Can Win the Race, AISTATS 2018";

}  // namespace

Entry<MakeScheme> k_batch_sync_entry()
{
    return {
        .name = "k-batch-sync",
        .text =
            "the first M batches at the newest point, of whatever workers; who has answered takes "
            "another batch; never stale, and no worker is needed",
        .source = source,
        .options = {collect_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            return std::make_unique<Asynchronous>(
                problem, Ways{.collect = any_collect(settings, problem.workers),
                              .waits = false,
                              .staleness = 0,
                              .fresh = true});
        },
        .properties = {.varying_samples = true}};
}

Entry<MakeScheme> k_async_entry()
{
    return {
        .name = "k-async",
        .text =
            "an update for each M workers that have answered, who wait for it; the others go on, "
            "stale by (N - M) / M updates on average",
        .source = source,
        .options = {collect_option(), staleness_cap_option(), staleness_scale_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers, k = collect(settings, n);
            return make(settings, problem,
                        {.collect = k, .waits = true, .staleness = static_cast<double>(n - k) / k});
        },
        .properties = {.varying_samples = true}};
}

Entry<MakeScheme> k_batch_async_entry()
{
    return {
        .name = "k-batch-async",
        .text =
            "an update for each M batches, of whatever workers; nobody waits; stale by (N - 1) / M "
            "updates on average",
        .source = source,
        .options = {collect_option(), staleness_cap_option(), staleness_scale_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers, k = any_collect(settings, n);
            return make(
                settings, problem,
                {.collect = k, .waits = false, .staleness = static_cast<double>(n - 1) / k});
        },
        .properties = {.varying_samples = true}};
}

Entry<MakeScheme> async_entry()
{
    return {
        .name = "async",
        .text =
            "an update for each batch, at once; nobody waits; stale by N - 1 updates on average: "
            "needs small steps",
        .source = source,
        .options = {staleness_cap_option(), staleness_scale_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            return make(settings, problem,
                        {.collect = 1,
                         .waits = false,
                         .staleness = static_cast<double>(problem.workers - 1)});
        },
        .properties = {.varying_samples = true}};
}

}  // namespace quorate
