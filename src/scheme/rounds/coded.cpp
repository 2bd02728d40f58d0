// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/rounds/coded.hpp"

namespace quorate {

CodedScheme::CodedScheme(const Problem& problem, GradientCode code, const RoundLimit& limit,
                         const Shares& shares)
    : SynchronousScheme(Layout(code.encoding, problem, shares), limit.fixed), problem_(problem),
      code_(std::move(code)), received_(layout().plans)
{
    layout().needs.exact = code_.decoder->exact() && !limit.given();
    if (limit.adaptive) adaptive_.emplace(problem.workers, *limit.adaptive);
}

std::vector<Worker> CodedScheme::order(std::vector<Worker> active) const
{
    return distinct_first(layout().plans, std::move(active));
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
    return received_.step(*decoding, samples());
}

std::optional<Seconds> CodedScheme::new_limit() const
{
    return adaptive_ ? adaptive_->limit() : std::nullopt;
}

std::optional<Step> CodedScheme::make_do()
{
    return adaptive_ ? expire() : SynchronousScheme::make_do();
}

std::optional<Step> CodedScheme::expire()
{
    const auto* decoding = code_.decoder->expire();
    if (!decoding) return std::nullopt;
    return received_.step(*decoding, samples());
}

std::string CodedScheme::why_undecodable() const
{
    return "all workers have answered, and the code cannot decode to its accuracy";
}

}  // namespace quorate
