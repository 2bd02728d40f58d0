// SPDX-License-Identifier: BSD-2-Clause
// To add a delay model: one file with an entry, and one line here.
#include "base/text.hpp"
#include "straggler/delay.hpp"

namespace quorate {

Entry<MakeDelay> no_delay_entry();
Entry<MakeDelay> constant_delay_entry();
Entry<MakeDelay> exponential_delay_entry();
Entry<MakeDelay> erasurehead_delay_entry();

const std::vector<Entry<MakeDelay>>& delays()
{
    static const std::vector<Entry<MakeDelay>> all = {
        no_delay_entry(),
        constant_delay_entry(),
        exponential_delay_entry(),
        erasurehead_delay_entry(),
    };
    return all;
}

std::vector<double> delay_arguments(const Settings& settings, const DelaySetup& setup)
{
    const auto& entry = chosen(delays(), settings, setup.option);
    const auto wanted = entry.arguments.empty() ? 0 : split(entry.arguments, ',').size();
    const auto& text = settings.text(setup.option);
    const auto colon = text.find(':');
    std::vector<double> numbers;
    if (colon != std::string::npos)
        for (const auto& word : split(text.substr(colon + 1), ',')) {
            const auto number = to_real(word);
            if (!number || *number < 0)
                settings.refuse(setup.option, ": give numbers of at least 0");
            numbers.push_back(*number);
        }
    if (numbers.size() != wanted)
        settings.refuse(setup.option,
                        ": write " + entry.name + (wanted ? ":" + entry.arguments : ""));
    return numbers;
}

}  // namespace quorate
