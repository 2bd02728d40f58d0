// SPDX-License-Identifier: BSD-2-Clause
#include "code/fractional_repetition.hpp"
#include "scheme/synchronous.hpp"

namespace quorate {

namespace {

// Worker i holds partition i; a round waits for all n.
class Uncoded final : public SynchronousScheme {
public:
    explicit Uncoded(const Problem& problem) : problem_(problem)
    {
        for (int i = 0; i < problem.workers; ++i)
            plans_.push_back(std::make_shared<Plan>(Plan{{Part{{Item{i}}}}}));
    }

    Needs needs() const override
    {
        Needs needs;
        for (int i = 0; i < problem_.workers; ++i) {
            const auto [first, count] = partition(problem_.rows, problem_.workers, i);
            needs.blocks.push_back({first, count});
            needs.shard.push_back({i});
        }
        return needs;
    }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override
    {
        return plans_[static_cast<std::size_t>(worker)];
    }

    void begin() override { terms_.clear(); }

    std::optional<Step> hear(const Contribution& contribution) override
    {
        terms_.push_back({contribution.id});
        if (terms_.size() < plans_.size()) return std::nullopt;
        return Step{terms_, static_cast<double>(problem_.rows), 0};
    }

private:
    Problem problem_;
    std::vector<std::shared_ptr<const Plan>> plans_;
    std::vector<Term> terms_;
};

}  // namespace

Entry<MakeScheme> uncoded_entry()
{
    return {.name = "uncoded",
            .arguments = "",
            .text = "wait for all workers; exact, tolerates no straggler; the baseline",
            .source = "folklore",
            .options = {},
            .make = [](const Settings&, const Problem& problem) -> std::unique_ptr<Scheme> {
                return std::make_unique<Uncoded>(problem);
            }};
}

}  // namespace quorate
