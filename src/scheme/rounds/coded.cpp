// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/rounds/coded.hpp"

namespace quorate {

CodedScheme::CodedScheme(const Problem& problem, GradientCode code, RoundLimit limit, Shares shares)
    : problem_(problem), code_(std::move(code)), shares_(std::move(shares)),
      samples_(samples_of(code_.encoding, problem, shares_)), limit_(limit),
      plans_(plans_of(code_.encoding)), received_(parts_of(plans_))
{
    if (limit_.adaptive) adaptive_.emplace(problem.workers, *limit_.adaptive);
}

Needs CodedScheme::needs() const
{
    auto needs = needs_of(code_.encoding, problem_.rows, shares_);
    needs.exact = code_.decoder->exact() && !limit_.given();
    return needs;
}

std::shared_ptr<const Plan> CodedScheme::plan(Worker worker) const
{
    return plans_[static_cast<std::size_t>(worker)];
}

std::vector<Worker> CodedScheme::order(std::vector<Worker> active) const
{
    return distinct_first(plans_, std::move(active));
}

void CodedScheme::begin(Version)
{
    received_.clear();
    code_.decoder->begin();
    if (adaptive_) adaptive_->begin();
}

std::optional<Step> CodedScheme::receive(const Contribution& contribution)
{
    if (!received_.add(contribution)) return std::nullopt;
    if (adaptive_) adaptive_->answered(elapsed());
    const auto* decoding = code_.decoder->receive(contribution.worker);
    if (!decoding) return std::nullopt;
    return received_.step(*decoding, samples_);
}

std::optional<Seconds> CodedScheme::new_limit() const
{
    return adaptive_ ? adaptive_->limit() : std::nullopt;
}

std::optional<Step> CodedScheme::make_do() { return limit_.given() ? expire() : std::nullopt; }

std::optional<Step> CodedScheme::expire()
{
    const auto* decoding = code_.decoder->expire();
    if (!decoding) return std::nullopt;
    return received_.step(*decoding, samples_);
}

std::string CodedScheme::why_undecodable() const
{
    return "all workers have answered, and the code cannot decode to its accuracy";
}

}  // namespace quorate
