// SPDX-License-Identifier: BSD-2-Clause
// The list of rules. A new one needs an entry, and its struct of arguments in aggregator.hpp.
#include "aggregator/aggregator.hpp"

namespace quorate {

GivenComponent PropertiesOf<MakeAggregator>::given(const Settings& settings,
                                                   const std::string& form, const std::string&)
{
    return {.settings = settings, .option = option, .form = form, .known = names(aggregators())};
}

const std::vector<Entry<MakeAggregator>>& aggregators()
{
    static const auto all = entries_of<MakeAggregator, MedianAggregator, TrimmedMeanAggregator,
                                       GeometricMedianAggregator, KrumAggregator,
                                       MultiKrumAggregator, CentredClippingAggregator>();
    return all;
}

void read_option(AggregatorChoice& choice, const GivenWords& given)
{
    const auto& entry = chosen(aggregators(), given.settings, given.name());
    choice.words = given.text();
    choice.rule = entry.make(given.settings);
}

std::string written(const AggregatorChoice& choice, const OptionRow&) { return choice.words; }

}  // namespace quorate
