// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <set>

#include "base/text.hpp"
#include "straggler/arguments.hpp"

namespace quorate {

namespace {

class FixedDelay final : public DelayModel {
public:
    explicit FixedDelay(std::vector<double> values) : values_(std::move(values)) {}

    double draw(int machine, std::int64_t, double) override
    {
        return values_.at(static_cast<std::size_t>(machine));
    }

private:
    std::vector<double> values_;  // of each machine
};

}  // namespace

Entry<MakeDelay> fixed_delay_entry()
{
    return {.name = "fixed",
            .arguments = "VALUE,WORKER,...",
            .text = "the same workers are slow in every round, by VALUE; the others are not",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                const DelayArguments arguments(settings, setup);
                const auto words = arguments.words();
                const double value = arguments.value("VALUE", words[0]);
                if (words.size() < 2) arguments.refuse(", but no worker is named");
                std::vector<double> values(static_cast<std::size_t>(setup.machines), setup.neutral);
                std::set<std::int64_t> named;
                for (std::size_t i = 1; i < words.size(); ++i) {
                    const auto worker = to_integer(words[i]);
                    if (!worker || *worker < 0 || *worker >= setup.machines)
                        arguments.refuse(
                            fmt::format(", but WORKER is {}, not a worker from 0 to {}",
                                        words[i].empty() ? "empty" : words[i], setup.machines - 1));
                    if (!named.insert(*worker).second)
                        arguments.refuse(fmt::format(", but worker {} is named twice", *worker));
                    values[static_cast<std::size_t>(*worker)] = value;
                }
                return std::make_unique<FixedDelay>(std::move(values));
            }};
}

}  // namespace quorate
