// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/settings.hpp"

namespace quorate {

/// Writes a label that is a number always alike: 1.0 and 1 are the same. A word stays as it is.
std::string label_text(const std::string& label);

/// The map "FROM:TO,FROM:drop,other:drop" of --label-map. Labels are numbers or words; those that
/// it maps to are all numbers or all words. Those that hold commas or colons stand in double
/// quotes.
class LabelMap {
public:
    /// @throws BadInput if --label-map is no such map
    explicit LabelMap(const Settings& settings);
    /// Returns what becomes of a label; nothing if its row is dropped.
    /// @throws BadInput if the map does not name it
    std::optional<std::string> operator()(const std::string& label) const;
    /// Whether it has a place for a label.
    bool knows(const std::string& label) const
    {
        return drops_others_ || to_.contains(label_text(label));
    }
    /// Whether it maps a word.
    bool names_words() const;

private:
    const Settings& settings_;
    std::map<std::string, std::optional<std::string>> to_;
    bool drops_others_ = false;
};

/// Whether the labels of a text file are words rather than numbers: so it is if the first one is,
/// or if --label-map names a word. Words may look like numbers then.
bool labels_are_words(const Settings& settings, const std::string& first);

}  // namespace quorate
