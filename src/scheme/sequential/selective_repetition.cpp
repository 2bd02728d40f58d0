// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/sequential/selective_repetition.hpp"

#include <algorithm>

namespace quorate {

SelectiveRepetition::SelectiveRepetition(const Problem& problem, GradientCode code, int stragglers,
                                         const Bursty& model)
    : problem_(problem), code_(std::move(code)), stragglers_(stragglers), model_(model),
      plans_(plans_of(code_.encoding)), repeats_(problem.workers)
{
}

void SelectiveRepetition::begin(std::int64_t exchange)
{
    exchange_ = exchange;
    results_.emplace_back(problem_.workers, not_received);
    repeating_ = 0;
    repeats_.assign(repeats_.size(), false);
    if (model_.burst == 0 || !has(exchange - model_.burst)) return;
    const auto& old = results(exchange - model_.burst);
    if (decode(*code_.decoder, old)) return;
    auto too_many = std::ranges::count(old, not_received) - stragglers_;
    for (std::size_t worker = 0; worker < old.size() && too_many > 0; ++worker)
        if (old[worker] == not_received) {
            repeats_[worker] = true;
            ++repeating_;
            --too_many;
        }
}

Job SelectiveRepetition::job_of(Worker worker) const
{
    return repeats_[worker] ? exchange_ - model_.burst : exchange_;
}

SequentialCode::Task SelectiveRepetition::task(Worker worker)
{
    return {plans_[worker], {job_of(worker)}};
}

void SelectiveRepetition::receive(Worker worker, const std::vector<ContributionId>& ids)
{
    results(job_of(worker))[worker] = ids.at(0);
}

// The job of this exchange can be decoded at once, and no other job depends on the exchange.
bool SelectiveRepetition::harmless()
{
    return repeating_ == 0 && decode(*code_.decoder, results_.back());
}

bool SelectiveRepetition::decodes()
{
    const Job due = exchange_ - model_.burst;
    return !has(due) || decode(*code_.decoder, results(due));
}

std::optional<SequentialCode::Gradient> SelectiveRepetition::gradient(Job job)
{
    const auto decoding = decode(*code_.decoder, results(job));
    if (!decoding) return std::nullopt;
    Gradient gradient{{}, decoding->error};
    add_terms(*decoding, results(job), gradient.terms);
    return gradient;
}

}  // namespace quorate
