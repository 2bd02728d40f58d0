// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "straggler/arguments.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

class ReceptionDelay final : public DelayModel {
public:
    ReceptionDelay(const DelaySetup& setup, double deviation) : draws_(setup), deviation_(deviation)
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        return std::abs(deviation_ * draws_.stream(machine, draw).normal());
    }

    bool on_reception() const override { return true; }

private:
    Draws draws_;
    double deviation_;
};

}  // namespace

Entry<MakeDelay> reception_delay_entry()
{
    return {.name = "gauss-recv",
            .arguments = "SD",
            .text = "messages are late, not computations: |normal| of that deviation, mean 0.8 SD",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                const DelayArguments arguments(settings, setup);
                if (setup.purpose == Purpose::slowdown)
                    arguments.refuse_value(
                        ", which delays messages and slows no computation: use it as --delay");
                return std::make_unique<ReceptionDelay>(setup, arguments.values()[0]);
            }};
}

}  // namespace quorate
