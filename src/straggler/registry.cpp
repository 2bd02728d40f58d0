// SPDX-License-Identifier: BSD-2-Clause
// The list of delay models. A new one needs a file with an entry, and a line here.
#include "straggler/delay.hpp"

namespace quorate {

Entry<MakeDelay> no_delay_entry();
Entry<MakeDelay> constant_delay_entry();
Entry<MakeDelay> exponential_delay_entry();
Entry<MakeDelay> shifted_exponential_delay_entry();
Entry<MakeDelay> pareto_delay_entry();
Entry<MakeDelay> lognormal_delay_entry();
Entry<MakeDelay> mixture_delay_entry();
Entry<MakeDelay> niagara_delay_entry();
Entry<MakeDelay> cedar_delay_entry();
Entry<MakeDelay> gamma_delay_entry();
Entry<MakeDelay> gilbert_elliott_delay_entry();
Entry<MakeDelay> uneven_delay_entry();
Entry<MakeDelay> fixed_delay_entry();
Entry<MakeDelay> reception_delay_entry();
Entry<MakeDelay> erasurehead_delay_entry();
Entry<MakeDelay> trace_delay_entry();

namespace {

std::vector<Entry<MakeDelay>>& entries()
{
    static std::vector<Entry<MakeDelay>> all = {
        no_delay_entry(),
        constant_delay_entry(),
        exponential_delay_entry(),
        shifted_exponential_delay_entry(),
        pareto_delay_entry(),
        lognormal_delay_entry(),
        mixture_delay_entry(),
        niagara_delay_entry(),
        cedar_delay_entry(),
        gamma_delay_entry(),
        gilbert_elliott_delay_entry(),
        uneven_delay_entry(),
        fixed_delay_entry(),
        reception_delay_entry(),
        erasurehead_delay_entry(),
        trace_delay_entry(),
    };
    return all;
}

}  // namespace

const std::vector<Entry<MakeDelay>>& delays() { return entries(); }

void add_delay(Entry<MakeDelay> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
