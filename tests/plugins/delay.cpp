// SPDX-License-Identifier: BSD-2-Clause
// A delay model as a plugin: one worker after the other is late.
#include <quorate/quorate.hpp>

namespace {

using namespace quorate;

class InTurn final : public DelayModel {
public:
    explicit InTurn(int machines) : machines_(machines) {}
    double draw(int machine, std::int64_t draw, double) override
    {
        return draw % machines_ == machine ? 1 : 0.25;
    }

private:
    int machines_;
};

void add()
{
    add_delay({"in-turn",
               "",
               "one after the other is late",
               "a test",
               {},
               [](const Settings&, const DelaySetup& setup) {
                   return std::make_unique<InTurn>(setup.machines);
               }});
}

}  // namespace

QUORATE_PLUGIN(add)
