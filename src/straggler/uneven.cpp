// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "base/gamma.hpp"
#include "straggler/arguments.hpp"
#include "straggler/burst_chain.hpp"
#include "straggler/delays.hpp"

namespace quorate {

namespace {

// Machines as a cloud has them: some are always slower than others, each has bursts in which it is
// slower than usual, and every task varies a little.
class Uneven final : public RandomDelay<UnevenDelay> {
public:
    Uneven(const UnevenDelay& given, const DelaySetup& setup)
        : RandomDelay(given, setup), bursts_(setup, given.p_bad, given.p_good, setup.machines)
    {
        refuse_unless_it_changes(given.p_bad, given.p_good);
        for (int machine = 0; machine < setup.machines; ++machine)
            usual_.push_back(1 + given.spread * machine / setup.machines);
        if (given.slow)
            for (const int worker : given.slow->workers)
                usual_[static_cast<std::size_t>(worker)] *= given.slow->factor;
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        auto stream = draws_.stream(machine, draw);
        const double noise = gamma(stream, 1, given_.deviation);
        const double burst = bursts_.bad(machine, draw / given_.draws) ? given_.burst : 1;
        return usual_.at(static_cast<std::size_t>(machine)) * noise * burst;
    }

private:
    BurstChain bursts_;
    std::vector<double> usual_;  // of each machine
};

}  // namespace

void read_argument(std::optional<UnevenDelay::Slow>& slow, const GivenArgument& given)
{
    if (given.words.empty()) return;
    slow.emplace();
    read_argument(slow->factor, {given.component, "FACTOR", {given.words[0]}});
    read_argument(slow->workers,
                  {given.component, "WORKER", {given.words.begin() + 1, given.words.end()}});
}

std::string written_argument(const std::optional<UnevenDelay::Slow>& slow, const Bounds& bounds)
{
    if (!slow) return "";
    return fmt::format("{},{}", slow->factor, written_argument(slow->workers, bounds));
}

DelayEntry<UnevenDelay> UnevenDelay::entry()
{
    return {.name = "uneven",
            .arguments = {{&UnevenDelay::deviation, "SD"},
                          {&UnevenDelay::spread, "SPREAD"},
                          {&UnevenDelay::p_bad, "P_BAD", probability_bounds},
                          {&UnevenDelay::p_good, "P_GOOD", probability_bounds},
                          {&UnevenDelay::burst, "BURST"},
                          {&UnevenDelay::draws, "DRAWS", {.lowest = 1}},
                          {&UnevenDelay::slow, "..."}},
            .text =
                "worker i of n takes 1 + SPREAD i / n, times gamma noise of deviation SD, times "
                "BURST in bursts, which begin with probability P_BAD and end with P_GOOD every "
                "DRAWS draws; workers that are named behind a further FACTOR take that many "
                "times as long",
            .source = "Severinson et al., arXiv 2111.13877",
            .make = construct_a<Uneven>};
}

}  // namespace quorate
