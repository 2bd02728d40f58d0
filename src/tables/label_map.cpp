// SPDX-License-Identifier: BSD-2-Clause
#include "tables/label_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"

namespace quorate {

std::string label_text(const std::string& label)
{
    const auto number = to_real(label);
    return number ? fmt::format("{}", *number) : label;
}

LabelMap::LabelMap(const Settings& settings) : settings_(settings)
{
    std::optional<bool> to_words;
    for (const auto& pair : split_quoted(settings.text("label-map"), ',')) {
        auto ends = split_quoted(pair, ':');
        const bool drops_it = ends.size() == 2 && ends[1] == "drop", others = ends[0] == "other";
        for (auto& end : ends) end = unquoted(end);
        const bool whole = ends.size() == 2 && !ends[0].empty() && !ends[1].empty();
        const bool drops = whole && drops_it;
        const bool to_word = whole && !to_real(ends[1]);
        if (drops && others) {
            drops_others_ = true;
        } else if (drops) {
            to_[label_text(ends[0])] = std::nullopt;
        } else if (whole && !others && to_words.value_or(to_word) == to_word) {
            to_[label_text(ends[0])] = label_text(ends[1]);
            to_words = to_word;
        } else {
            throw BadInput(fmt::format(
                "--label-map has '{}': write FROM:TO or FROM:drop, separated by commas, and "
                "other:drop if the rows of all others are to go",
                shown(pair)));
        }
    }
}

std::optional<std::string> LabelMap::operator()(const std::string& label) const
{
    if (const auto at = to_.find(label_text(label)); at != to_.end()) return at->second;
    if (!drops_others_)
        throw BadInput(fmt::format("label {} is not in --label-map {}: add it, or other:drop",
                                   shown(label), settings_.text("label-map")));
    return std::nullopt;
}

bool LabelMap::names_words() const
{
    return std::ranges::any_of(to_, [](const auto& pair) { return !to_real(pair.first); });
}

bool labels_are_words(const Settings& settings, const std::string& first)
{
    return !to_real(first) || (settings.on("label-map") && LabelMap(settings).names_words());
}

}  // namespace quorate
