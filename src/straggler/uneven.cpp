// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "base/gamma.hpp"
#include "base/text.hpp"
#include "straggler/arguments.hpp"
#include "straggler/burst_chain.hpp"

namespace quorate {

namespace {

// Machines as a cloud has them: some are always slower than others, each has bursts in which it is
// slower than usual, and every task varies a little.
class UnevenDelay final : public DelayModel {
public:
    struct Shape {
        double deviation, burst;
        std::int64_t draws;  // of a step of the bursts
    };
    /// @param usual  of each machine
    UnevenDelay(const DelaySetup& setup, const Shape& shape, BurstChain bursts,
                std::vector<double> usual)
        : draws_(setup), shape_(shape), bursts_(std::move(bursts)), usual_(std::move(usual))
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        auto stream = draws_.stream(machine, draw);
        const double noise = gamma(stream, 1, shape_.deviation);
        const double burst = bursts_.bad(machine, draw / shape_.draws) ? shape_.burst : 1;
        return usual_.at(static_cast<std::size_t>(machine)) * noise * burst;
    }

private:
    Draws draws_;
    Shape shape_;
    BurstChain bursts_;
    std::vector<double> usual_;
};

}  // namespace

Entry<MakeDelay> uneven_delay_entry()
{
    return {
        .name = "uneven",
        .arguments = "SD,SPREAD,P_BAD,P_GOOD,BURST,DRAWS,...",
        .text =
            "worker i of n takes 1 + SPREAD i / n, times gamma noise of deviation SD, times "
            "BURST in bursts, which begin with probability P_BAD and end with P_GOOD every "
            "DRAWS draws; workers that are named behind a further FACTOR take that many "
            "times as long",
        .source = "Severinson et al., arXiv 2111.13877",
        .make = [](const Settings& settings, const DelaySetup& setup) {
            const DelayArguments arguments(settings, setup);
            const auto words = arguments.words();
            constexpr std::size_t of_all = 6;
            if (words.size() < of_all || words.size() == of_all + 1) arguments.refuse();
            const auto draws = to_integer(words[5]);
            if (!draws || *draws < 1)
                arguments.refuse(fmt::format(", but DRAWS is {}, not a whole number of at least 1",
                                             words[5].empty() ? "empty" : words[5]));
            const double spread = arguments.number("SPREAD", words[1]);
            const double p_bad = arguments.number("P_BAD", words[2], 1);
            const double p_good = arguments.number("P_GOOD", words[3], 1);
            if (p_bad + p_good == 0)
                arguments.refuse(", but P_BAD and P_GOOD are both 0, which never changes");
            std::vector<double> usual;
            for (int machine = 0; machine < setup.machines; ++machine)
                usual.push_back(1 + spread * machine / setup.machines);
            for (auto i = of_all + 1; i < words.size(); ++i) {
                const auto worker = to_integer(words[i]);
                if (!worker || *worker < 0 || *worker >= setup.machines)
                    arguments.refuse(fmt::format(", but WORKER is {}, not a worker from 0 to {}",
                                                 words[i].empty() ? "empty" : words[i],
                                                 setup.machines - 1));
                usual[static_cast<std::size_t>(*worker)] *=
                    arguments.number("FACTOR", words[of_all]);
            }
            const UnevenDelay::Shape shape{arguments.number("SD", words[0]),
                                           arguments.number("BURST", words[4]), *draws};
            return std::make_unique<UnevenDelay>(
                setup, shape, BurstChain(setup, p_bad, p_good, setup.machines), std::move(usual));
        }};
}

}  // namespace quorate
