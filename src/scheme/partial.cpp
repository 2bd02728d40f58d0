// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/partial.hpp"

#include <algorithm>

namespace quorate {

namespace {

Encoding with_own_partitions(const Encoding& code, int own)
{
    const int n = code.workers();
    Encoding both{n * own + code.partitions, {}};
    for (int i = 0; i < n; ++i) {
        Row plain;
        for (int j = i * own; j < (i + 1) * own; ++j) plain.push_back({j, 1});
        std::vector<Row> parts = {plain};
        for (auto row : code.rows[static_cast<std::size_t>(i)]) {
            for (auto& coefficient : row) coefficient.partition += n * own;
            parts.push_back(std::move(row));
        }
        both.rows.push_back(std::move(parts));
    }
    return both;
}

// Makes a plan whose parts are sent as they become ready.
Plans each_when_ready(const Plans& plans)
{
    Plans ready;
    for (const auto& plan : plans) {
        auto copy = *plan;
        copy.each_when_ready = true;
        ready.push_back(std::make_shared<Plan>(std::move(copy)));
    }
    return ready;
}

}  // namespace

PartialScheme::PartialScheme(const Problem& problem, int own, GradientCode code, Seconds limit)
    : problem_(problem), own_(own), code_(std::move(code)), limit_(limit),
      encoding_(with_own_partitions(code_.encoding, own)), samples_(samples_of(encoding_, problem)),
      plans_(each_when_ready(plans_of(encoding_))), received_(parts_of(plans_))
{
}

std::shared_ptr<const Plan> PartialScheme::plan(Worker worker) const
{
    return plans_[static_cast<std::size_t>(worker)];
}

std::vector<Worker> PartialScheme::order(std::vector<Worker> active) const
{
    return distinct_first(plans_of(code_.encoding), std::move(active));
}

void PartialScheme::begin(Version)
{
    received_.clear();
    firsts_.clear();
    coded_.reset();
    code_.decoder->begin();
}

std::optional<Step> PartialScheme::receive(const Contribution& contribution)
{
    const bool complete = received_.add(contribution);
    if (contribution.part == 0) firsts_.push_back(contribution.worker);
    if (complete && !coded_)
        if (const auto* decoding = code_.decoder->receive(contribution.worker)) coded_ = *decoding;
    if (!coded_ || static_cast<int>(firsts_.size()) < problem_.workers) return std::nullopt;
    return expire();
}

std::optional<Step> PartialScheme::expire()
{
    if (firsts_.empty()) return std::nullopt;
    const auto k = static_cast<double>(encoding_.partitions);
    const auto covered = static_cast<double>(own_) * static_cast<double>(firsts_.size());
    const auto coded = coded_ ? static_cast<double>(code_.encoding.partitions) : 0;
    // Without a quorum of second messages, the first ones are scaled to stand for the coded
    // partitions too.
    const double a = (k - coded) / covered;
    std::vector<Weight> weights;
    std::ranges::sort(firsts_);
    for (const auto worker : firsts_) weights.push_back({worker, 0, a});
    if (coded_)
        for (const auto& [worker, part, value] : coded_->weights)
            weights.push_back({worker, part + 1, value * coded_->scale});
    const bool whole = coded_ && static_cast<int>(firsts_.size()) == problem_.workers;
    const double error = whole ? coded_->error : decode_error(encoding_, weights, 1);
    return received_.step({std::move(weights), 1, error}, samples_);
}

}  // namespace quorate
