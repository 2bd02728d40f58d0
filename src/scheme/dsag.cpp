// SPDX-License-Identifier: BSD-2-Clause
// DSAG: each worker computes the gradient sums of its subpartitions one after the other, the
// coordinator caches the newest of each and steps with the mean of all of them, when so many fresh
// ones have come. Stale ones take their place in the cache too. Severinson, Rosnes, El Rouayheb and
// Graell i Amat, arXiv 2111.13877. Without stale ones it is SAG (Le Roux, Schmidt and Bach, NIPS
// 2012) over partitions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/prefetch.hpp"
#include "base/random.hpp"
#include "code/partition.hpp"
#include "scheme/interval_cache.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

struct Rules {
    int collect;        // fresh answers for which a round waits
    int subpartitions;  // of a worker's rows
    double margin;      // share of the time until then for which more answers are taken
    bool stale;         // answers at older points are taken too
    bool saga;          // else SAG
    bool random;        // order of subpartitions; else cyclic
    bool at_worker;     // the cache; else at the coordinator
    std::int64_t cap;   // updates after which an entry is evicted
};

class Dsag final : public Scheme {
public:
    Dsag(const Problem& problem, const Rules& rules)
        : problem_(problem), rules_(rules), machines_(static_cast<std::size_t>(problem.workers)),
          cache_(problem.workers)
    {
        for (Worker worker = 0; worker < problem.workers; ++worker) {
            auto& machine = at(worker);
            const int tasks = rules_.at_worker ? 1 : rules_.subpartitions;
            const int each = rules_.subpartitions / tasks;
            for (int j = 0; j < tasks; ++j) machine.plans.push_back(plan(worker, j * each, each));
        }
    }

    Needs needs() const override
    {
        const int n = problem_.workers;
        Needs needs;
        for (Worker worker = 0; worker < n; ++worker) {
            auto& shard = needs.shard.emplace_back();
            for (int j = 0; j < rules_.subpartitions; ++j) {
                shard.push_back(static_cast<int>(needs.blocks.size()));
                needs.blocks.push_back(rows_of(worker, j));
            }
        }
        needs.answers = rules_.collect;
        needs.kept = std::int64_t{n} * (rules_.at_worker ? 1 : rules_.subpartitions);
        // A subpartition is renewed about every `turn` updates.
        const int turn = (rules_.subpartitions * n + rules_.collect - 1) / rules_.collect;
        needs.staleness = (turn - 1) / 2.0;
        needs.stable_step = stable_step_of_cycle(turn);
        return needs;
    }

    std::string warning() const override
    {
        if (!rules_.saga || rules_.random || rules_.subpartitions == 1) return "";
        return "--estimator saga is unbiased only if subpartitions come in random order: add "
               "--order random";
    }

    void handle(const Event& event, Seconds now, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            active_ = start->active;
            begin_ = now;
            for (const auto worker : active_) dispatch(worker, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution, now, out);
        } else if (std::holds_alternative<Deadline>(event)) {
            timed_ = false;
            step(out);
        } else if (const auto* stepped = std::get_if<Stepped>(&event)) {
            newest_ = stepped->version;
            begin_ = now;
            fresh_ = resting_ = 0;
            renewed_ = 0;
            closing_ = false;
            was_complete_ = cache_.rows() == problem_.rows;
            for (const auto worker : active_)
                if (at(worker).rests) dispatch(worker, out);
        } else if (std::holds_alternative<Quiescent>(event)) {
            if (renewed_ > 0) step(out);
        }
    }

    void fetch_ahead(Worker worker) const override
    {
        prefetch(&machines_[static_cast<std::size_t>(worker)]);
    }

private:
    static constexpr int end_of_round = 0;  // the only timer

    struct Machine {
        Plans plans = {};              // one for each subpartition
        std::int64_t tasks = 0;        // so far
        std::size_t subpartition = 0;  // that of its newest task
        bool rests = false;            // it has answered, and waits for the next round
        bool left_out = false;  // entries of it were evicted for their age, and none came since
    };
    Machine& at(Worker worker) { return machines_[static_cast<std::size_t>(worker)]; }

    Rows rows_of(Worker worker, int subpartition) const
    {
        const auto [first, count] = partition(problem_.rows, problem_.workers, worker);
        const auto part = partition(count, rules_.subpartitions, subpartition);
        return {first + part.first, part.second};
    }

    // A task that computes subpartitions first..first+count-1 of a worker.
    std::shared_ptr<const Plan> plan(Worker worker, int first, int count) const
    {
        Part part;
        const auto operation =
            rules_.at_worker ? Item::Operation::cached : Item::Operation::gradient;
        for (int j = first; j < first + count; ++j)
            part.items.push_back(
                {.block = worker * rules_.subpartitions + j, .operation = operation});
        return std::make_shared<const Plan>(Plan{{std::move(part)}});
    }

    // The subpartition of a worker's next task.
    std::size_t next(Worker worker)
    {
        auto& machine = at(worker);
        const auto count = static_cast<std::uint32_t>(machine.tasks++);
        if (!rules_.random) return count % machine.plans.size();
        return Stream(problem_.seed, Purpose::code, static_cast<std::uint32_t>(worker), count)
            .below(machine.plans.size());
    }

    void dispatch(Worker worker, std::vector<Action>& out)
    {
        auto& machine = at(worker);
        machine.rests = false;
        machine.subpartition = next(worker);
        // A worker that caches has drawn the samples of each gradient by the version of its point.
        out.push_back(Dispatch{.task = next_task_++,
                               .worker = worker,
                               .plan = machine.plans[machine.subpartition],
                               .inputs = {newest_},
                               .control = {.draw = rules_.at_worker ? newest_ : own_count}});
    }

    void receive(const Contribution& contribution, Seconds now, std::vector<Action>& out)
    {
        const auto worker = contribution.worker;
        auto& machine = at(worker);
        const bool fresh = contribution.newest == newest_;
        machine.left_out = false;
        if (!((fresh || rules_.stale) && insert(contribution, out)))
            out.push_back(Close{contribution.task, contribution.task});
        if (closing_ || fresh) {
            machine.rests = true;
            ++resting_;
        } else {
            dispatch(worker, out);
        }
        fresh_ += fresh;
        if (!closing_ && fresh && fresh_ == rules_.collect) {
            closing_ = true;
            const auto end = begin_ + (1 + rules_.margin) * (now - begin_);
            timed_ = end > now && resting_ < std::ssize(active_);
            if (timed_)
                out.push_back(SetTimer{end_of_round, end});
            else
                step(out);
        } else if (resting_ == std::ssize(active_)) {
            step(out);
        }
    }

    // Puts a contribution into the cache. @return whether it is newer than what was there
    bool insert(const Contribution& contribution, std::vector<Action>& out)
    {
        const auto worker = contribution.worker;
        const auto& machine = at(worker);
        const auto first = static_cast<int>(machine.subpartition);
        const auto rows = rules_.at_worker
                              ? partition(problem_.rows, problem_.workers, worker).second
                              : rows_of(worker, first).count;
        evicted_.clear();
        const CachedInterval one{
            first, 1, contribution.newest, contribution.id, contribution.task, contribution.samples,
            rows};
        if (!cache_.insert(worker, one, evicted_)) return false;
        renewed_ += rows;
        if (keeps_before() && before_.emplace(std::pair(worker, first), evicted_.at(0)).second)
            return true;
        close(evicted_, out);
        return true;
    }

    // Whether the entries that this round renews are needed as they were before it.
    bool keeps_before() const { return rules_.saga && was_complete_; }

    static void close(const std::vector<CachedInterval>& all, std::vector<Action>& out)
    {
        for (const auto& one : all) out.push_back(Close{one.task, one.task});
    }

    void step(std::vector<Action>& out)
    {
        if (timed_) out.push_back(SetTimer{end_of_round, never});
        timed_ = false;
        const bool complete = !evict_too_old(out);
        if (cache_.size() == 0) return;
        Step step{.terms = {}, .divisor = static_cast<double>(cache_.samples()), .error = 0};
        step.terms.reserve(static_cast<std::size_t>(cache_.size()) + before_.size());
        const bool saga = keeps_before() && complete && !before_.empty();
        const auto partitions = static_cast<double>(machines_.size() * machines_[0].plans.size());
        // SAGA: how much the change of a renewed entry counts.
        const double change = saga ? partitions / static_cast<double>(before_.size()) : 1;
        for (const auto worker : active_)
            for (const auto& one : cache_.of(worker)) {
                const bool renewed = saga && before_.contains({worker, one.first});
                step.terms.push_back({one.id, renewed ? change : 1, true});
            }
        if (saga)
            for (const auto& [place, one] : before_) step.terms.push_back({one.id, 1 - change});
        const auto covered =
            static_cast<double>(cache_.rows()) / static_cast<double>(problem_.rows);
        step.error = partitions * (1 - covered) / covered;
        step.share = static_cast<double>(renewed_) / static_cast<double>(problem_.rows);
        out.push_back(std::move(step));
        for (const auto& [place, one] : before_) out.push_back(Close{one.task, one.task});
        before_.clear();
    }

    // @return whether any entry was
    bool evict_too_old(std::vector<Action>& out)
    {
        bool any = false;
        for (const auto worker : active_) {
            evicted_.clear();
            cache_.evict_older(worker, newest_ - rules_.cap, evicted_);
            if (evicted_.empty()) continue;
            any = true;
            close(evicted_, out);
            if (!std::exchange(at(worker).left_out, true))
                out.push_back(Note{fmt::format(
                    "gradients of worker {} are older than {} updates: steps leave them out until "
                    "it answers",
                    worker, rules_.cap)});
        }
        return any;
    }

    Problem problem_;
    Rules rules_;
    std::vector<Machine> machines_;
    IntervalCache cache_;
    std::vector<CachedInterval> evicted_;  // by the last insertion
    // SAGA: the entries that this round has renewed, as they were before it, by worker and place.
    std::map<std::pair<Worker, int>, CachedInterval> before_;
    std::vector<Worker> active_;
    Version newest_ = 0;
    TaskId next_task_ = 0;
    // Of the running round:
    Seconds begin_ = 0;
    int fresh_ = 0, resting_ = 0;  // fresh answers; workers that rest
    std::int64_t renewed_ = 0;     // rows of entries that it has renewed
    bool closing_ = false;         // enough fresh answers have come
    bool timed_ = false;           // the timer runs
    bool was_complete_ = false;    // the cache covered all rows when it began
};

Option subpartitions_option()
{
    return {"subpartitions", "P", "",
            "parts of a worker's rows, one of which a task computes; default: 10, or fewer rows"};
}

Option margin_option()
{
    return {"margin", "SHARE", "0.02",
            "a round goes on for so much of the time that it took to get its answers"};
}

Option stale_option()
{
    return {"stale", "use|drop", "use", "what comes of answers at older points; drop: SAG", 0};
}

Option estimator_option()
{
    return {"estimator", "sag|saga", "sag",
            "sag: the mean of the cache; saga: unbiased, by the change of what was renewed"};
}

Option order_option()
{
    return {"order", "NAME", "", "of subpartitions. dsag: cyclic, random. Default: the first"};
}

Option cache_option()
{
    return {"cache", "coordinator|worker", "coordinator",
            "who caches gradients: the coordinator those of each subpartition, or each worker its "
            "own, of which it sends the sum"};
}

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem)
{
    constexpr std::int64_t usual = 10;
    const auto n = std::int64_t{problem.workers};
    const auto smallest = problem.rows / n;
    Rules rules{};
    const auto fresh =
        settings.on("collect") ? collect(settings, problem.workers) : (4 * n + 4) / 5;
    rules.collect = static_cast<int>(fresh);
    const auto p = settings.on("subpartitions")
                       ? settings.integer("subpartitions", 1, smallest)
                       : std::max<std::int64_t>(1, std::min(usual, smallest));
    rules.subpartitions = static_cast<int>(p);
    rules.margin = settings.real("margin", 0);
    rules.stale = settings.one_of("stale", {"use", "drop"}) == "use";
    rules.saga = settings.one_of("estimator", {"sag", "saga"}) == "saga";
    rules.random = word_of(settings, "order", {"cyclic", "random"}) == "random";
    rules.at_worker = settings.one_of("cache", {"coordinator", "worker"}) == "worker";
    if (rules.at_worker && rules.saga)
        settings.refuse("estimator",
                        ", but a worker that caches sends the sum of its gradients "
                        "only: use --cache coordinator, or sag");
    if (rules.at_worker && rules.random)
        settings.refuse("order",
                        ", but a worker that caches computes its oldest gradient anew: use "
                        "--cache coordinator, or cyclic");
    rules.cap = settings.on("staleness-cap") ? settings.integer("staleness-cap", 2 * p)
                                             : (4 * p * n + fresh - 1) / fresh;
    return std::make_unique<Dsag>(problem, rules);
}

}  // namespace

Entry<MakeScheme> dsag_entry()
{
    return {.name = "dsag",
            .text =
                "caches the gradients of subpartitions, which workers renew one after the other; "
                "a step takes the mean of the cache after M fresh answers, and stale ones are "
                "welcome",
            .source = "Severinson et al., arXiv 2111.13877",
            .options = {collect_option(), subpartitions_option(), margin_option(), stale_option(),
                        estimator_option(), order_option(), staleness_cap_option(), cache_option()},
            .make = make};
}

}  // namespace quorate
