// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "scheme/newest/schemes.hpp"
#include "scheme/newest/staleness_weight.hpp"
#include "scheme/newest/theory.hpp"
#include "scheme/newest/unwaiting.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/sample_mean.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

// What the schemes differ in.
struct Updates {
    int collect;       // K, contributions of one
    bool waits;        // who has answered waits for it; else it goes on at once
    double staleness;  // that is expected
    std::int64_t cap = std::numeric_limits<std::int64_t>::max();  // staler ones are not used
    bool stops = false;     // who computes what would be too stale begins anew at once
    std::string note = "";  // for the user, when the run begins; empty: none
};

// Worker i holds partition i, and computes batch after batch of it. Every K contributions make an
// update. Dutta et al., AISTATS 2018.
class Asynchronous final : public Scheme {
public:
    template <class T>
    Asynchronous(const T& given, const Problem& problem, const Updates& updates)
        : updates_(updates), own_(problem), mean_(own_.needs.blocks),
          running_(static_cast<std::size_t>(problem.workers), nothing)
    {
        if constexpr (requires { given.staleness_scale; }) scale_ = given.staleness_scale;
        if constexpr (requires { given.local_steps; }) {
            steps_ = given.local_steps;
            outer_step_ = given.outer_step;
            own_.plans = descending(own_.plans);
        }
        updates_.cap = given.staleness_cap.value_or(updates.cap);
        updates_.staleness = std::min(updates.staleness, static_cast<double>(updates_.cap));
    }

    Needs needs() const override
    {
        auto needs = own_.needs;
        needs.answers = updates_.collect;
        needs.staleness = updates_.staleness;
        needs.stable_step = stable_step(updates_.staleness);
        if (descends())
            needs.stable_step = stable_local_step(
                updates_.staleness, static_cast<double>(steps_ * updates_.collect), outer_step_);
        needs.displaces = descends();
        return needs;
    }

    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            if (!updates_.note.empty()) out.push_back(Note{updates_.note});
            for (const auto worker : start->active) dispatch(worker, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution, out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            newest_ = done->version;
            if (updates_.stops) stop(out);
            for (const auto worker : waiting_) dispatch(worker, out);
            waiting_.clear();
        }
    }

private:
    static constexpr TaskId nothing = -1;

    struct Task {
        TaskId task;
        Worker worker;
        Version version;
    };

    bool descends() const { return steps_ > 0; }

    void dispatch(Worker worker, std::vector<Action>& out)
    {
        out.push_back(Dispatch{.task = next_++,
                               .worker = worker,
                               .plan = own_.plans[static_cast<std::size_t>(worker)],
                               .inputs = {newest_},
                               .control = {.draw = own_count, .budget = {.samples = steps_}}});
        if (!updates_.stops) return;
        running_[static_cast<std::size_t>(worker)] = next_ - 1;
        given_.push_back({next_ - 1, worker, newest_});
    }

    // Closes the tasks that run at points which are too old by now. Their workers wait for new
    // ones, with who has just answered, in the order of their numbers. Amortised O(1) for each
    // task, and the sorting.
    void stop(std::vector<Action>& out)
    {
        Close stale{next_, nothing};
        for (; !given_.empty() && newest_ - given_.front().version > updates_.cap;
             given_.pop_front()) {
            const auto [task, worker, version] = given_.front();
            if (running_[static_cast<std::size_t>(worker)] != task) continue;
            waiting_.push_back(worker);
            stale = {std::min(stale.first, task), task};
        }
        // What lies between them is over, for newer tasks have larger numbers.
        if (stale.last != nothing) out.emplace_back(stale);
        std::ranges::sort(waiting_);
    }

    void receive(const Contribution& contribution, std::vector<Action>& out)
    {
        const auto worker = contribution.worker;
        const auto stale = newest_ - contribution.newest;
        running_[static_cast<std::size_t>(worker)] = nothing;
        if (stale > updates_.cap) {
            out.emplace_back(Close{contribution.task, contribution.task});
            dispatch(worker, out);
            return;
        }
        const auto weight = staleness_weight(scale_, stale, static_cast<int>(running_.size()));
        if (descends())
            mean_.add_whole(contribution, worker, weight);
        else
            mean_.add(contribution, worker, weight);
        used_.push_back(contribution.task);
        if (mean_.size() < updates_.collect) {
            if (updates_.waits)
                waiting_.push_back(worker);
            else
                dispatch(worker, out);
            return;
        }
        waiting_.push_back(worker);
        auto step = descends() ? mean_.step(1) : mean_.step();
        step.displacement = descends();
        if (descends()) step.scale = outer_step_;
        step.share = static_cast<double>(mean_.samples()) /
                     static_cast<double>(descends() ? std::ssize(running_) : own_.samples);
        out.push_back(std::move(step));
        for (const auto task : used_) out.emplace_back(Close{task, task});
        mean_.clear();
        used_.clear();
    }

    Updates updates_;
    StalenessScale scale_ = StalenessScale::none;
    std::int64_t steps_ = 0;  // that a worker makes of its own; 0: it computes a gradient
    double outer_step_ = 1;   // of the optimiser along a displacement
    OwnPartitions own_;
    SampleMean mean_;
    std::vector<TaskId> used_;  // tasks whose contributions wait for their update
    std::vector<Worker> waiting_;
    std::vector<TaskId> running_;  // by worker
    std::deque<Task> given_;       // if stale ones are stopped; some of these have ended
    Version newest_ = 0;
    TaskId next_ = 0;
};

// What advice tries: an update for half of the workers' answers.
std::vector<Choice> half_collected(int n)
{
    return n < 4 ? std::vector<Choice>{}
                 : std::vector<Choice>{{{"collect", std::to_string(n / 2)}}};
}

// Checks that something follows from the constants, and returns what the theory says; or nothing.
// @param chosen  what follows from the noise alone
std::string note_of(const Theory& theory, const ComputationTree& tree, std::string chosen = "")
{
    if (theory.lipschitz && !tree.distance())
        throw Refusal("lipschitz",
                      ", but a step follows from it only if no gradient is older than a limit: "
                      "give --staleness-cap");
    if (theory.noise && !theory.lipschitz && chosen.empty())
        throw Refusal("noise", ", but only a step follows from it here: give --lipschitz too");
    const auto step = tree_note(theory, tree);
    if (!chosen.empty() && !step.empty()) chosen += "; ";
    return as_note(chosen + step);
}

int collected(const KAsyncOptions& given, int n)
{
    const auto known = theory_of(given);
    if (const auto tasks = known.tasks(); !given.collect && tasks > n)
        throw Refusal("target-gradient",
                      fmt::format(", for which an update takes {} answers of {} workers: use "
                                  "--collect, or a larger one",
                                  *tasks, n));
    return answers(given.collect ? given.collect : known.tasks(), n);
}

int collected(const KBatchAsyncOptions& given, int n)
{
    return collect_by(theory_of(given), given.collect, n);
}

int collected(const AsyncLocalOptions& given, int n)
{
    return answers(given.collect.value_or(1), n);
}

// The answers that an update takes, none of which is staler than --staleness-cap.
template <class T>
ComputationTree tree_of(const T& given, int n)
{
    return {.gradients = collected(given, n), .stale = given.staleness_cap};
}
template <>
ComputationTree tree_of(const AsyncOptions& given, int)
{
    return {.gradients = 1, .stale = given.staleness_cap};
}
template <>
ComputationTree tree_of(const RingmasterOptions& given, int n)
{
    const auto most = theory_of(given).tasks().value_or(n) - 1;
    return {.gradients = 1, .stale = given.staleness_cap.value_or(most)};
}

template <>
ComputationTree tree_of(const AsyncLocalOptions& given, int n)
{
    const auto steps = given.local_steps * collected(given, n);
    const auto tasks = theory_of(given).tasks();
    const auto most = tasks ? (*tasks + steps - 1) / steps - 1 : n - 1;
    return {.gradients = steps, .stale = given.staleness_cap.value_or(most), .local = true};
}

// What the noise chooses, where --staleness-cap is not given.
template <class T>
std::string cap_note(const T& given, const ComputationTree& tree)
{
    if (given.staleness_cap || !theory_of(given).tasks()) return "";
    return fmt::format("a --staleness-cap of {}, by max(1, SIGMA2 / EPS) gradients", *tree.stale);
}

const char* const slow_and_stale =
    "Dutta et al., Slow and Stale Gradients Can Win the Race, AISTATS 2018";

}  // namespace

SchemeEntry<KAsyncOptions> KAsyncOptions::entry()
{
    return {
        .name = "k-async",
        .text =
            "an update for each M workers that have answered, who wait for it; the others go on, "
            "stale by (N - M) / M updates on average",
        .source = slow_and_stale,
        .options = options<KAsyncOptions>(),
        .make =
            [](const KAsyncOptions& given, const Problem& problem) {
                const int n = problem.workers, k = collected(given, n);
                return std::make_unique<Asynchronous>(
                    given, problem,
                    Updates{.collect = k,
                            .waits = true,
                            .staleness = static_cast<double>(n - k) / k,
                            .note = note_of(theory_of(given), tree_of(given, n),
                                            tasks_note(theory_of(given)))});
            },
        .properties = {.candidates = [](int n, bool) { return half_collected(n); },
                       .pace = [](const KAsyncOptions& given, int n) -> Pace {
                           return {.updates = static_cast<double>(n) / collected(given, n)};
                       },
                       .tree = tree_of<KAsyncOptions>,
                       .varying_samples = true}};
}

SchemeEntry<KBatchAsyncOptions> KBatchAsyncOptions::entry()
{
    return {
        .name = "k-batch-async",
        .text =
            "an update for each M batches, of whatever workers; nobody waits; stale by (N - 1) / M "
            "updates on average",
        .source = slow_and_stale,
        .options = options<KBatchAsyncOptions>(
            {{&KBatchAsyncOptions::keep_going,
              {"keep-going", "", "",
               "workers never wait for a message: each takes batch after batch at its point, until "
               "a "
               "newer one is there; default: it waits for the newest one"}}}),
        .make = [](const KBatchAsyncOptions& given,
                   const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers, k = collected(given, n);
            const auto known = theory_of(given);
            auto note = note_of(known, tree_of(given, n), tasks_note(known));
            if (given.keep_going) return unwaiting(given, problem, k, std::move(note));
            return std::make_unique<Asynchronous>(
                given, problem,
                Updates{.collect = k,
                        .waits = false,
                        .staleness = static_cast<double>(n - 1) / k,
                        .note = std::move(note)});
        },
        .properties = {.candidates = [](int n, bool) { return half_collected(n); },
                       .pace = [](const KBatchAsyncOptions& given, int n) -> Pace {
                           return {.updates = static_cast<double>(n) / collected(given, n),
                                   .steady = !given.staleness_cap};
                       },
                       .tree = tree_of<KBatchAsyncOptions>,
                       .varying_samples = true}};
}

SchemeEntry<AsyncOptions> AsyncOptions::entry()
{
    return {
        .name = "async",
        .text =
            "an update for each batch, at once; nobody waits; stale by N - 1 updates on average: "
            "needs small steps",
        .source = slow_and_stale,
        .options = options<AsyncOptions>(),
        .make =
            [](const AsyncOptions& given, const Problem& problem) {
                return std::make_unique<Asynchronous>(
                    given, problem,
                    Updates{.collect = 1,
                            .waits = false,
                            .staleness = static_cast<double>(problem.workers - 1),
                            .note = note_of(theory_of(given), tree_of(given, problem.workers))});
            },
        .properties = {.candidates = defaults_tried,
                       .pace = [](const AsyncOptions& given, int n) -> Pace {
                           return {.updates = static_cast<double>(n),
                                   .steady = !given.staleness_cap};
                       },
                       .tree = tree_of<AsyncOptions>,
                       .varying_samples = true}};
}

SchemeEntry<RingmasterOptions> RingmasterOptions::entry()
{
    return {.name = "ringmaster",
            .text =
                "async whose answers of more than --staleness-cap updates are not used (N - 1), so "
                "that "
                "slow workers do no harm; with --stop-stale they begin anew instead",
            .source = "Maranjyan, Tyurin, Richtarik, Ringmaster ASGD, arXiv 2501.16168",
            .options = options<RingmasterOptions>({
                {&RingmasterOptions::stop_stale,
                 {"stop-stale", "", "",
                  "a task whose answer would be staler than --staleness-cap is stopped, and its "
                  "worker begins anew at the newest point; default: it goes on, and its answer "
                  "is not used"}},
            }),
            .make =
                [](const RingmasterOptions& given, const Problem& problem) {
                    const auto tree = tree_of(given, problem.workers);
                    return std::make_unique<Asynchronous>(
                        given, problem,
                        Updates{.collect = 1,
                                .waits = false,
                                .staleness = static_cast<double>(problem.workers - 1),
                                .cap = *tree.stale,
                                .stops = given.stop_stale,
                                .note = note_of(theory_of(given), tree, cap_note(given, tree))});
                },
            .properties = {.candidates = [](int n, bool) -> std::vector<Choice> {
                               if (n < 8) return {{}};
                               return {{}, {{"staleness-cap", std::to_string(n / 4)}}};
                           },
                           .pace = [](const RingmasterOptions&, int n) -> Pace {
                               return {static_cast<double>(n)};
                           },
                           .tree = tree_of<RingmasterOptions>,
                           .varying_samples = true}};
}

SchemeEntry<AsyncLocalOptions> AsyncLocalOptions::entry()
{
    return {.name = "async-local",
            .text =
                "each worker makes --local-steps steps of its own, which are added to the model at "
                "once, or when --collect answers have come; nobody waits; those of more than "
                "--staleness-cap updates before are not",
            .source =
                "Birch SGD, ICLR 2026 (Async-Local SGD), by a summary; with --collect Nguyen "
                "et al., FedBuff, AISTATS 2022",
            .options = options<AsyncLocalOptions>(),
            .make =
                [](const AsyncLocalOptions& given, const Problem& problem) {
                    const auto tree = tree_of(given, problem.workers);
                    const int collect = collected(given, problem.workers);
                    return std::make_unique<Asynchronous>(
                        given, problem,
                        Updates{.collect = collect,
                                .waits = false,
                                .staleness = static_cast<double>(problem.workers - 1) / collect,
                                .cap = *tree.stale,
                                .note = note_of(theory_of(given), tree, cap_note(given, tree))});
                },
            .properties = {.tree = tree_of<AsyncLocalOptions>, .varying_samples = true}};
}

}  // namespace quorate
