// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <random>

#include "straggler/delays.hpp"

namespace quorate {

namespace {

// The delays of the public ErasureHead code, bit for bit: in round i (from 0) NumPy's legacy
// generator is seeded with i and draws Exp(mean 0.5 s) for worker 0, 1, ..., n-1. They do not
// depend on the run's seed.
class ErasureHead final : public DelayModel {
public:
    ErasureHead(const ErasureHeadDelay&, const DelaySetup& setup)
        : seconds_(static_cast<std::size_t>(setup.machines))
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        if (draw != draw_) {
            std::mt19937 generator(static_cast<std::mt19937::result_type>(draw));
            for (auto& seconds : seconds_) {
                const double high = static_cast<double>(generator() >> 5);
                const double low = static_cast<double>(generator() >> 6);
                const double uniform = (high * 67108864 + low) / 9007199254740992.0;
                seconds = -0.5 * std::log(1 - uniform);
            }
            draw_ = draw;
        }
        return seconds_.at(static_cast<std::size_t>(machine));
    }

private:
    std::vector<double> seconds_;  // of round draw_
    std::int64_t draw_ = -1;
};

}  // namespace

DelayEntry<ErasureHeadDelay> ErasureHeadDelay::entry()
{
    return {.name = "erasurehead",
            .text =
                "the delays of the public ErasureHead code, bit for bit: Exp(mean 0.5 s), seeded "
                "by the round",
            .source = "hwang595/approximate_coding_gd; ErasureHead, arXiv 1901.09671",
            .make = construct_a<ErasureHead>};
}

}  // namespace quorate
