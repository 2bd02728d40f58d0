// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/sequential/multiplexed.hpp"

#include <algorithm>

namespace quorate {

Multiplexed::Multiplexed(const Problem& problem, GradientCode code, const Bursty& model)
    : problem_(problem), code_(std::move(code)), model_(model), chunks_(model.window - 1),
      usual_(problem.workers, Plans(delay() + 1)), mini_tasks_(problem.workers)
{
}

std::int64_t Multiplexed::units(int workers, const Bursty& model)
{
    const std::int64_t own = static_cast<std::int64_t>(workers) * (model.window - 1);
    if (model.workers == workers) return own;
    return own * (model.workers + 1) + static_cast<std::int64_t>(workers) * model.burst;
}

Needs Multiplexed::needs() const
{
    const auto n = problem_.workers;
    const auto all = units(n, model_);
    Needs needs;
    std::int64_t unit = 0;
    const auto add = [&](std::int64_t of) {
        const auto first = problem_.rows * unit / all;
        unit += of;
        needs.blocks.push_back({first, problem_.rows * unit / all - first});
    };
    for (int chunk = 0; chunk < n * chunks_; ++chunk) add(coded() ? model_.workers + 1 : 1);
    const int groups = coded() ? model_.burst : 0;
    for (int chunk = 0; chunk < n * groups; ++chunk) add(1);
    for (int worker = 0; worker < n; ++worker) {
        std::vector<int> held;
        for (int chunk = 0; chunk < chunks_; ++chunk) held.push_back(worker * chunks_ + chunk);
        for (int group = 0; group < groups; ++group)
            for (const auto& coefficient : code_.encoding.rows[worker][0])
                held.push_back(n * (chunks_ + group) + coefficient.partition);
        needs.shard.push_back(std::move(held));
    }
    return needs;
}

void Multiplexed::begin(std::int64_t exchange)
{
    exchange_ = exchange;
    const int n = problem_.workers, groups = coded() ? model_.burst : 0;
    const auto own = std::int64_t{n} * chunks_;
    jobs_.push_back({.own = Results(own, not_received),
                     .coded = std::vector<Results>(groups, Results(n, not_received)),
                     .decoding = std::vector<Decoding>(groups),
                     .own_missing = own,
                     .groups_missing = groups});
}

std::vector<Multiplexed::MiniTask> Multiplexed::mini_tasks_for(Worker worker)
{
    std::vector<MiniTask> mini_tasks;
    for (int q = 0; has(exchange_ - q); ++q) {
        const Job job = exchange_ - q;
        const auto first = state(job).own.begin() + static_cast<std::ptrdiff_t>(worker) * chunks_;
        const auto chunk =
            static_cast<int>(std::find(first, first + chunks_, not_received) - first);
        if (chunk < chunks_)
            mini_tasks.push_back({job, chunk, -1});
        else if (coded())
            mini_tasks.push_back({job, -1, q - chunks_});
    }
    return mini_tasks;
}

std::shared_ptr<const Plan> Multiplexed::plan_for(Worker worker,
                                                  const std::vector<MiniTask>& mini_tasks)
{
    // Usually chunk q is mini-task q. Then the plan is the same in every exchange.
    auto& usual = usual_[worker][std::min<std::int64_t>(exchange_, delay())];
    bool is_usual = true;
    for (const auto& one : mini_tasks) {
        const auto q = static_cast<int>(exchange_ - one.job);
        is_usual &= one.chunk == (q < chunks_ ? q : -1);
    }
    if (is_usual && usual) return usual;
    Plan plan;
    for (int input = 0; input < std::ssize(mini_tasks); ++input) {
        const auto& one = mini_tasks[input];
        Part part;
        if (one.chunk >= 0) {
            part.items.push_back({.block = worker * chunks_ + one.chunk, .input = input});
        } else {
            const int first = problem_.workers * (chunks_ + one.group);
            for (const auto& [partition, value] : code_.encoding.rows[worker][0])
                part.items.push_back(
                    {.block = first + partition, .input = input, .coefficient = value});
        }
        plan.parts.push_back(std::move(part));
    }
    auto made = std::make_shared<const Plan>(std::move(plan));
    if (is_usual) usual = made;
    return made;
}

SequentialCode::Task Multiplexed::task(Worker worker)
{
    auto& mini_tasks = mini_tasks_[worker];
    mini_tasks = mini_tasks_for(worker);
    Task task{plan_for(worker, mini_tasks), {}};
    for (const auto& one : mini_tasks) task.jobs.push_back(one.job);
    return task;
}

void Multiplexed::receive(Worker worker, const std::vector<ContributionId>& ids)
{
    const auto& mini_tasks = mini_tasks_[worker];
    for (std::size_t i = 0; i < mini_tasks.size(); ++i) {
        auto& job = state(mini_tasks[i].job);
        if (mini_tasks[i].chunk < 0) {
            job.coded[mini_tasks[i].group][worker] = ids.at(i);
        } else {
            job.own[worker * chunks_ + mini_tasks[i].chunk] = ids.at(i);
            --job.own_missing;
        }
    }
}

bool Multiplexed::decode_group(State& job, int group)
{
    auto& decoding = job.decoding[group];
    if (!decoding.weights.empty()) return true;
    auto found = decode(*code_.decoder, job.coded[group]);
    if (!found) return false;
    decoding = *std::move(found);
    --job.groups_missing;
    return true;
}

// Coded sums can come in this exchange only. Own chunks can come until the job is due.
bool Multiplexed::decodes()
{
    for (int group = 0; coded() && group < model_.burst; ++group) {
        const Job job = exchange_ - chunks_ - group;
        if (job >= 0 && !decode_group(state(job), group)) return false;
    }
    const Job due = exchange_ - delay();
    return !has(due) || state(due).complete();
}

std::optional<SequentialCode::Gradient> Multiplexed::gradient(Job number)
{
    const auto& job = state(number);
    if (!job.complete()) return std::nullopt;
    Gradient gradient{{}, 0};
    for (const auto id : job.own) gradient.terms.push_back({id});
    for (std::size_t group = 0; group < job.decoding.size(); ++group) {
        add_terms(job.decoding[group], job.coded[group], gradient.terms);
        gradient.error += job.decoding[group].error;
    }
    return gradient;
}

}  // namespace quorate
