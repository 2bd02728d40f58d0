// SPDX-License-Identifier: BSD-2-Clause
// The list of delay models. A new one needs a file with an entry, and its struct of arguments here.
#include "straggler/delays.hpp"

namespace quorate {

namespace {

std::vector<Entry<MakeDelay>>& entries()
{
    static auto all =
        entries_of<MakeDelay, NoDelay, ConstantDelay, ExponentialDelay, ShiftedExponentialDelay,
                   ParetoDelay, LognormalDelay, MixtureDelay, NiagaraDelay, CedarDelay, GammaDelay,
                   GilbertElliottDelay, UnevenDelay, FixedDelay, HalfNormalDelay, ErasureHeadDelay,
                   TraceDelay>();
    return all;
}

}  // namespace

GivenComponent PropertiesOf<MakeDelay>::given(const Settings& settings, const std::string& form,
                                              const std::string&, const DelaySetup& setup)
{
    return {settings,      setup.option, form, names(delays()), setup.purpose != Purpose::slowdown,
            setup.machines};
}

const std::vector<Entry<MakeDelay>>& delays() { return entries(); }

void add_delay(Entry<MakeDelay> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
