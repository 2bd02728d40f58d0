// SPDX-License-Identifier: BSD-2-Clause
// DSAG: each worker computes the gradient sums of its subpartitions one after the other, the
// coordinator caches the newest of each and steps with the mean of all of them, when so many fresh
// ones have come. Stale ones take their place in the cache too. Severinson, Rosnes, El Rouayheb and
// Graell i Amat, arXiv 2111.13877. Without stale ones it is SAG (Le Roux, Schmidt and Bach, NIPS
// 2012) over partitions.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/prefetch.hpp"
#include "base/random.hpp"
#include "code/partition.hpp"
#include "scheme/cached/interval_cache.hpp"
#include "scheme/cached/load_balance.hpp"
#include "scheme/cached/schemes.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

constexpr std::int64_t usual_subpartitions = 10;

int fresh_answers(const DsagOptions& given, int n)
{
    return given.collect ? answers(given.collect, n) : (4 * n + 4) / 5;
}

class Dsag final : public Scheme {
public:
    Dsag(const DsagOptions& given, const Problem& problem)
        : given_(given), problem_(problem), collect_(fresh_answers(given, problem.workers)),
          machines_(static_cast<std::size_t>(problem.workers)), cache_(problem.workers)
    {
        constexpr std::int64_t units_of_a_part = 20, finest = 4;
        const auto n = std::int64_t{problem.workers};
        const auto smallest = problem.rows / n;
        if (given.subpartitions) at_most("subpartitions", *given.subpartitions, smallest);
        const auto p = given.subpartitions.value_or(
            std::max<std::int64_t>(1, std::min(usual_subpartitions, smallest)));
        units_ = most_ = parts_ = static_cast<int>(p);
        if (balances()) {
            if (at_worker() || saga())
                throw Refusal("balance", ", which needs --cache coordinator and --estimator sag");
            units_ = static_cast<int>(std::min<std::int64_t>(smallest, units_of_a_part * p));
            most_ = static_cast<int>(std::min<std::int64_t>(units_, finest * p));
        }
        if (at_worker() && saga())
            throw Refusal("estimator",
                          ", but a worker that caches sends the sum of its gradients "
                          "only: use --cache coordinator, or sag");
        if (at_worker() && random())
            throw Refusal("order",
                          ", but a worker that caches computes its oldest gradient anew: use "
                          "--cache coordinator, or cyclic");
        cap_ = given.staleness_cap.value_or((4 * n * most_ + collect_ - 1) / collect_);
        if (given.staleness_cap && cap_ < std::int64_t{2} * most_)
            throw Refusal("staleness-cap",
                          fmt::format(": use at least {}", std::int64_t{2} * most_));
        for (auto& machine : machines_) machine.parts = parts_;
    }

    Needs needs() const override
    {
        const int n = problem_.workers;
        Needs needs;
        for (Worker worker = 0; worker < n; ++worker) {
            auto& shard = needs.shard.emplace_back();
            for (int unit = 0; unit < units_; ++unit) {
                shard.push_back(static_cast<int>(needs.blocks.size()));
                needs.blocks.push_back(rows_of(worker, unit, 1));
            }
        }
        needs.answers = collect_;
        // Entries do not overlap, and none has fewer units than the smallest part of a cut.
        needs.slots = n * (at_worker() ? 1 : units_ / smallest());
        needs.kept = needs.slots;
        needs.points = std::min<std::int64_t>(needs.kept, cap_ + 1);
        // A subpartition is renewed about every `turn` updates.
        const int turn = (parts_ * n + collect_ - 1) / collect_;
        needs.staleness = (turn - 1) / 2.0;
        needs.stable_step = stable_step_of_cycle(turn);
        return needs;
    }

    std::string warning() const override
    {
        if (!saga() || random() || parts_ == 1) return "";
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
            if (balances() && newest_ % rounds_between == 0) balance();
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
    bool saga() const { return given_.estimator == DsagOptions::Estimator::saga; }  // else SAG
    bool random() const { return given_.order == DsagOptions::Order::random; }
    bool at_worker() const { return given_.cache == DsagOptions::Cache::worker; }
    bool balances() const { return given_.balance != DsagOptions::Balance::off; }

    static constexpr int end_of_round = 0;         // the only timer
    static constexpr Version rounds_between = 10;  // new cuts

    struct Machine {
        int parts = 0;             // subpartitions of its rows
        int next = 0;              // the one that comes next, in cyclic order
        std::int64_t tasks = 0;    // so far
        int first = 0, count = 0;  // units of its newest task
        bool rests = false;        // it has answered, and waits for the next round
        bool left_out = false;     // entries of it were evicted for their age, and none came since
        LatencyWindow window = {};
    };
    Machine& at(Worker worker) { return machines_[static_cast<std::size_t>(worker)]; }

    // Rows of some units of a worker.
    Rows rows_of(Worker worker, int first, int count) const
    {
        const auto [begin, rows] = partition(problem_.rows, problem_.workers, worker);
        const auto from = partition(rows, units_, first).first;
        const auto last = partition(rows, units_, first + count - 1);
        return {begin + from, last.first + last.second - from};
    }

    // What a worker does with some of its units. All tasks with the same share it.
    const std::shared_ptr<const Plan>& plan(Worker worker, int first, int count)
    {
        const auto number = (std::int64_t{worker} * units_ + first) * (units_ + 1) + count;
        auto& known = plans_[number];
        if (known) return known;
        Part part;
        const auto operation = at_worker() ? Item::Operation::cached : Item::Operation::gradient;
        for (int unit = first; unit < first + count; ++unit)
            part.items.push_back({.block = worker * units_ + unit, .operation = operation});
        return known = std::make_shared<const Plan>(Plan{{std::move(part)}});
    }

    // Units of the smallest part that a worker's rows are cut into.
    int smallest() const { return units_ / most_; }

    // The slot of the table that an entry of the cache is in. Workers are mostly at about the same
    // part of their rows, so what a round renews is in slots near each other.
    int slot(Worker worker, int first) const
    {
        return first / smallest() * problem_.workers + worker;
    }

    // Chooses the subpartition of a worker's next task.
    void advance(Worker worker)
    {
        auto& machine = at(worker);
        const auto count = static_cast<std::uint32_t>(machine.tasks++);
        auto part = std::exchange(machine.next, (machine.next + 1) % machine.parts);
        if (random())
            part = static_cast<int>(
                Stream(problem_.seed, Purpose::code, static_cast<std::uint32_t>(worker), count)
                    .below(static_cast<std::size_t>(machine.parts)));
        const auto [first, units] = partition(units_, machine.parts, part);
        machine.first = at_worker() ? 0 : static_cast<int>(first);
        machine.count = at_worker() ? units_ : static_cast<int>(units);
    }

    void dispatch(Worker worker, std::vector<Action>& out)
    {
        auto& machine = at(worker);
        machine.rests = false;
        advance(worker);
        // A worker that caches has drawn the samples of each gradient by the version of its point.
        out.push_back(Dispatch{.task = next_task_++,
                               .worker = worker,
                               .plan = plan(worker, machine.first, machine.count),
                               .inputs = {newest_},
                               .control = {.draw = at_worker() ? newest_ : own_count}});
    }

    void receive(const Contribution& contribution, Seconds now, std::vector<Action>& out)
    {
        const auto worker = contribution.worker;
        auto& machine = at(worker);
        const bool fresh = contribution.newest == newest_;
        if (balances()) measure(contribution, fresh);
        machine.left_out = false;
        if (!((fresh || given_.stale == DsagOptions::Stale::use) && insert(contribution, out)))
            out.push_back(Close{contribution.task, contribution.task});
        if (closing_ || fresh) {
            machine.rests = true;
            ++resting_;
        } else {
            dispatch(worker, out);
        }
        fresh_ += fresh;
        if (!closing_ && fresh && fresh_ == collect_) {
            closing_ = true;
            const auto end = begin_ + (1 + given_.margin) * (now - begin_);
            timed_ = given_.margin > 0 && resting_ < std::ssize(active_);
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
        const auto rows = rows_of(worker, machine.first, machine.count).count;
        evicted_.clear();
        const CachedInterval one{machine.first,
                                 machine.count,
                                 contribution.newest,
                                 contribution.id,
                                 contribution.task,
                                 contribution.samples,
                                 rows};
        if (!cache_.insert(worker, one, evicted_)) return false;
        renewed_ += rows;
        out.push_back(Fill{slot(worker, one.first), 1, {one.id}});
        if (keeps_before() && before_.emplace(std::pair(worker, one.first), evicted_.at(0)).second)
            return true;
        close(evicted_, out);
        return true;
    }

    // Whether the entries that this round renews are needed as they were before it.
    bool keeps_before() const { return saga() && was_complete_; }

    static void close(const std::vector<CachedInterval>& all, std::vector<Action>& out)
    {
        for (const auto& one : all) out.emplace_back(Close{one.task, one.task});
    }

    void step(std::vector<Action>& out)
    {
        if (timed_) out.push_back(SetTimer{end_of_round, never});
        timed_ = false;
        const bool complete = !evict_too_old(out);
        if (cache_.size() == 0) return;
        Step step{.terms = {},
                  .divisor = static_cast<double>(cache_.samples()),
                  .error = 0,
                  .table = true};
        const bool saga = keeps_before() && complete && !before_.empty();
        double partitions = 0;
        for (const auto& machine : machines_) partitions += at_worker() ? 1 : machine.parts;
        // SAGA: how much the change of a renewed entry counts.
        const double change = saga ? partitions / static_cast<double>(before_.size()) : 1;
        // The table counts renewed entries once.
        if (saga)
            for (const auto& [place, old] : before_) {
                const auto& [worker, first] = place;
                const auto renewed =
                    *std::ranges::find(cache_.of(worker), first, &CachedInterval::first);
                step.terms.push_back({renewed.id, change - 1, true});
                step.terms.push_back({old.id, 1 - change});
            }
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
            cache_.evict_older(worker, newest_ - cap_, evicted_);
            if (evicted_.empty()) continue;
            any = true;
            close(evicted_, out);
            if (!std::exchange(at(worker).left_out, true))
                out.push_back(Note{fmt::format(
                    "gradients of worker {} are older than {} updates: steps leave them out until "
                    "it answers",
                    worker, cap_)});
        }
        return any;
    }

    // Takes note of how long an answer took, injected delays included. What a stale one took beside
    // its computation may be time that it waited for nobody, so the mean of the latest fresh ones
    // stands for it.
    void measure(const Contribution& contribution, bool fresh)
    {
        auto& machine = at(contribution.worker);
        const auto rows = rows_of(contribution.worker, machine.first, machine.count).count;
        const double share = static_cast<double>(rows) / static_cast<double>(problem_.rows);
        auto rest = std::max(0.0, contribution.arrived - contribution.sent - contribution.compute);
        if (fresh) {
            rests_.push_back(rest);
            rests_sum_ += rest;
            if (std::ssize(rests_) > problem_.workers) {
                rests_sum_ -= rests_.front();
                rests_.pop_front();
            }
        } else if (!rests_.empty()) {
            rest = rests_sum_ / static_cast<double>(rests_.size());
        }
        machine.window.add(contribution.arrived, contribution.compute / share, rest);
    }

    // Cuts rows anew if that makes the times of workers clearly more alike.
    void balance()
    {
        constexpr double clearly = 0.98;
        std::vector<Worker> known;
        std::vector<Balanced> workers;
        const double share = 1.0 / problem_.workers;
        BalanceRules to{.share = share,
                        .fresh = collect_ * share,
                        .least = collect_ * share / parts_,
                        .most = most_};
        for (const auto worker : active_) {
            const auto latency = at(worker).window.latency();
            if (latency && latency->compute > 0) {
                known.push_back(worker);
                workers.push_back({*latency, at(worker).parts});
            } else {
                to.least -= to.fresh * share / at(worker).parts;
            }
        }
        if (workers.size() < 2 || to.least <= 0) return;
        const auto seed = problem_.seed + static_cast<std::uint64_t>(newest_);
        const auto parts =
            given_.balance == DsagOptions::Balance::equal
                ? equal_times(workers, to)
                : as_authors(workers, to, std::min<int>(collect_, std::ssize(workers)),
                             given_.margin, seed);
        const auto ratio = [&] {
            const auto [least, most] = std::ranges::minmax(
                workers, {}, [&](const Balanced& one) { return answer_time(one, share); });
            return answer_time(most, share) / answer_time(least, share);
        };
        const double before = ratio();
        for (std::size_t i = 0; i < workers.size(); ++i) workers[i].parts = parts[i];
        if (ratio() >= clearly * before) return;
        for (std::size_t i = 0; i < known.size(); ++i) {
            auto& machine = at(known[i]);
            if (machine.parts == parts[i]) continue;
            machine.next = aligned(units_, machine.parts, parts[i], machine.next);
            machine.parts = parts[i];
        }
    }

    DsagOptions given_;
    Problem problem_;
    int collect_;    // fresh answers for which a round waits
    int parts_ = 0;  // subpartitions of a worker's rows, and how many there are at most
    int most_ = 0;
    int units_ = 0;         // of a worker's rows, of which subpartitions are made: blocks
    std::int64_t cap_ = 0;  // updates after which an entry is evicted
    std::unordered_map<std::int64_t, std::shared_ptr<const Plan>> plans_;  // by worker and units
    std::vector<Machine> machines_;
    IntervalCache cache_;
    std::vector<CachedInterval> evicted_;  // by the last insertion
    // SAGA: the entries that this round has renewed, as they were before it, by worker and place.
    std::map<std::pair<Worker, int>, CachedInterval> before_;
    // Seconds that the latest fresh answers took beside their computation, and their sum.
    std::deque<double> rests_;
    double rests_sum_ = 0;
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

}  // namespace

SchemeEntry<DsagOptions> DsagOptions::entry()
{
    return {.name = "dsag",
            .text =
                "caches the gradients of subpartitions, which workers renew one after the other; "
                "a step takes the mean of the cache after M fresh answers, and stale ones are "
                "welcome",
            .source = "Severinson et al., arXiv 2111.13877",
            .options = options<DsagOptions>(
                {{&DsagOptions::subpartitions,
                  {"subpartitions", "P", "",
                   "parts of a worker's rows, one of which a task computes; default: 10, or fewer "
                   "rows"},
                  {.lowest = 1}},
                 {&DsagOptions::margin,
                  {"margin", "SHARE", "0.02",
                   "a round goes on for so much of the time that it took to get its answers"}},
                 {&DsagOptions::stale,
                  {"stale", "use|drop", "use", "what comes of answers at older points; drop: SAG"}},
                 {&DsagOptions::estimator, worded("estimator", {"sag", "saga"})},
                 {&DsagOptions::order, worded("order", {"cyclic", "random"})},
                 {&DsagOptions::cache,
                  {"cache", "coordinator|worker", "coordinator",
                   "who caches gradients: the coordinator those of each subpartition, or each "
                   "worker its own, of which it sends the sum"}},
                 {&DsagOptions::balance,
                  {"balance", "off|equal|authors", "off",
                   "cuts the rows of slow workers finer, so that all take about as long for a "
                   "task: equal in closed form, authors by simulating rounds"}}}),
            .make = construct_a<Dsag>,
            .properties = {.candidates = [](int n, bool) -> std::vector<Choice> {
                               if (n < 4) return {{}};
                               return {{}, {{"collect", std::to_string(n / 2)}}};
                           },
                           .pace = [](const DsagOptions& given, int n) -> Pace {
                               const auto parts = given.subpartitions.value_or(usual_subpartitions);
                               return {static_cast<double>(parts * n) /
                                       static_cast<double>(fresh_answers(given, n))};
                           },
                           .example = {{"subpartitions", "3"}, {"collect", "4"}}}};
}

}  // namespace quorate
