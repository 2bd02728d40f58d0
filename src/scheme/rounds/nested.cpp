// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <deque>

#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "scheme/contributions.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/schemes.hpp"
#include "scheme/rounds/synchronous.hpp"

namespace quorate {

namespace {

// One exact code for each number s of stragglers. The redundancy of a round follows the stragglers
// of the rounds before. Workers store what the largest code needs and compute what the chosen one
// asks, so data never move.
class Nested final : public SynchronousScheme {
public:
    struct Level {
        int stragglers;
        GradientCode code;
        Plans plans;
    };

    /// @param levels  ascending by number of stragglers; the last one stores what all others need
    Nested(const Problem& problem, std::vector<Level> levels)
        : SynchronousScheme(Layout(levels.back().code.encoding, problem)),
          levels_(std::move(levels)), level_(levels_.size() - 1), received_(layout().plans)
    {
        layout().needs.exact = true;
    }

    std::string warning() const override { return levels_.back().code.warning; }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override
    {
        return levels_[level_].plans[worker];
    }

    void begin(Version) override
    {
        choose();
        received_.clear();
        answered_.clear();
        levels_[level_].code.decoder->begin();
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        received_.add(contribution);
        answered_.push_back(elapsed());
        const auto* decoding = levels_[level_].code.decoder->receive(contribution.worker);
        if (!decoding) return std::nullopt;
        remember();
        return received_.step(*decoding, samples());
    }

private:
    // Counts the stragglers of a round. A straggler takes more than twice the median time of the
    // answers received. If a round ends earlier than that, its missing workers may not be
    // stragglers, and are not counted. So the redundancy sinks while workers are equally fast, and
    // rises when rounds have to wait.
    void remember()
    {
        auto times = answered_;
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        const Seconds late = 2 * *middle;
        auto count = std::ranges::count_if(answered_, [late](Seconds t) { return t > late; });
        if (answered_.back() > late) count += std::ssize(layout().plans) - std::ssize(answered_);
        constexpr std::size_t window = 50;
        recent_.push_back(static_cast<int>(count));
        if (recent_.size() > window) recent_.pop_front();
    }

    // Chooses the code for one straggler more than 95 % of the recent rounds had at most.
    void choose()
    {
        if (recent_.empty()) return;
        std::vector<int> sorted(recent_.begin(), recent_.end());
        std::ranges::sort(sorted);
        const auto at =
            static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(sorted.size())) - 1);
        const int wanted = sorted[at] + 1;
        level_ = 0;
        while (level_ + 1 < levels_.size() && levels_[level_].stragglers < wanted) ++level_;
    }

    std::vector<Level> levels_;
    std::size_t level_;
    Contributions received_;
    std::vector<Seconds> answered_;
    std::deque<int> recent_;
};

std::unique_ptr<Scheme> make_nested(const NestedOptions& given, const Problem& problem)
{
    const int n = problem.workers, most = given.stragglers;
    const bool cyclic = given.placement == Placement::cyclic;
    // Groups of d lie within groups of d_max if d divides d_max and d_max divides n. Cyclic windows
    // always do.
    if (!cyclic) refuse_unless_divides("stragglers", most + 1, n);
    std::vector<Nested::Level> levels;
    for (int s = 0; s <= most; ++s) {
        if (!cyclic && (most + 1) % (s + 1) != 0) continue;
        auto code = cyclic ? cyclic_code(n, s) : fractional_repetition(n, s + 1);
        auto plans = plans_of(code.encoding);
        levels.push_back({s, std::move(code), std::move(plans)});
    }
    return std::make_unique<Nested>(problem, std::move(levels));
}

}  // namespace

SchemeEntry<NestedOptions> NestedOptions::entry()
{
    return {.name = "nested",
            .text =
                "exact, with redundancy for as many stragglers as the last rounds had, up to S; "
                "data never move; where the number of stragglers drifts",
            .source = "",
            .options = options<NestedOptions>(),
            .make = make_nested};
}

}  // namespace quorate
