// SPDX-License-Identifier: BSD-2-Clause
// An own scheme as a plugin: a round lasts twice as long as half of the workers took in the one
// before. quorate simulate --plugin ./plugin.so --scheme patient ...
#include <quorate/quorate.hpp>

namespace {

using namespace quorate;

class Patient final : public SynchronousScheme {
public:
    explicit Patient(const Problem& problem) : problem_(problem) {}

    Needs needs() const override
    {
        Needs needs;
        for (int i = 0; i < problem_.workers; ++i) {  // worker i stores partition i
            const auto [first, count] = partition(problem_.rows, problem_.workers, i);
            needs.blocks.push_back({first, count});
            needs.shard.push_back({i});
        }
        return needs;
    }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override
    {
        return std::make_shared<Plan>(Plan{{Part{{Item{worker}}}}});
    }
    void begin(Version) override { step_ = {}; }
    std::optional<Step> receive(const Contribution& one) override
    {
        step_.terms.push_back({one.id, 1});
        step_.divisor += static_cast<double>(one.samples);
        const int answers = static_cast<int>(step_.terms.size()), n = problem_.workers;
        step_.error = 1.0 * n * n / answers - n;  // of weights n / answers
        if (2 * answers >= n && 2 * (answers - 1) < n) next_limit_ = 2 * elapsed();
        return answers == n ? std::optional(step_) : std::nullopt;
    }
    Seconds limit() const override { return limit_; }
    std::optional<Step> expire() override
    {
        return step_.terms.empty() ? std::nullopt : std::optional(step_);
    }
    void stepped(const Stepped&) override { limit_ = next_limit_; }

private:
    Problem problem_;
    Step step_ = {};
    Seconds limit_ = never, next_limit_ = never;
};

void add()
{
    add_scheme({"patient",
                "",
                "waits twice as long as half of the workers took",
                "an example",
                {},
                [](const Settings&, const Problem& p) { return std::make_unique<Patient>(p); }});
}

}  // namespace

QUORATE_PLUGIN(add)
