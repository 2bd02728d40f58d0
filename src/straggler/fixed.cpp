// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <set>

#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"

namespace quorate {

namespace {

class Fixed final : public DelayModel {
public:
    Fixed(const FixedDelay& given, const DelaySetup& setup)
        : values_(static_cast<std::size_t>(setup.machines), setup.neutral)
    {
        std::set<int> named;
        for (const int worker : given.workers) {
            if (!named.insert(worker).second)
                throw Refusal("WORKER", fmt::format(", but worker {} is named twice", worker));
            values_[static_cast<std::size_t>(worker)] = given.value;
        }
    }

    double draw(int machine, std::int64_t, double) override
    {
        return values_.at(static_cast<std::size_t>(machine));
    }

private:
    std::vector<double> values_;  // of each machine
};

}  // namespace

DelayEntry<FixedDelay> FixedDelay::entry()
{
    return {.name = "fixed",
            .arguments = {{&FixedDelay::value, "VALUE", value_bounds},
                          {&FixedDelay::workers, "WORKER,..."}},
            .text = "the same workers are slow in every round, by VALUE; the others are not",
            .make = construct_a<Fixed>};
}

}  // namespace quorate
