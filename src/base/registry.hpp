// SPDX-License-Identifier: BSD-2-Clause
// What a component says of itself. Each kind of component (scheme, model, optimizer, delay, format)
// has one registry.cpp: a list of entries, one line each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "base/values.hpp"

namespace quorate {

/// A component and its arguments: pareto:SCALE,SHAPE, or its name alone.
inline std::string with_arguments(const std::string& name, const std::string& arguments)
{
    return arguments.empty() ? name : name + ":" + arguments;
}

/// What else components of a kind say of themselves, and the option that names one; specialised
/// beside the kind (scheme/scheme.hpp).
template <class Make>
struct PropertiesOf {
    struct type {};
};

template <class Make>
struct Entry {
    std::string name;                  // the option's value
    std::string arguments = {};        // after a colon: "constant:S" has "S"; empty: none
    std::string text;                  // what it does and when to choose it, one line
    std::string source = {};           // paper or section
    std::vector<Option> options = {};  // those that it reads beside its own name
    Make make;
    typename PropertiesOf<Make>::type properties = {};

    /// How the option's value is written: "uncoded", "constant:S".
    std::string form() const { return with_arguments(name, arguments); }
};

/// Adds an entry behind the others. @throws BadInput if its name is no word, or is taken
template <class Make>
void add_entry(std::vector<Entry<Make>>& entries, Entry<Make> entry)
{
    if (entry.name.empty() || entry.name.find_first_of(": ,=\n") != std::string::npos)
        throw BadInput("a component is called '" + entry.name + "': give it a name of one word");
    for (const auto& known : entries)
        if (known.name == entry.name)
            throw BadInput("there is a component " + entry.name + " already: give it another name");
    entries.push_back(std::move(entry));
}

/// The entry that the option names; what follows a colon in the value is left aside.
/// @throws BadInput with the nearest name.
template <class Make>
const Entry<Make>& chosen(const std::vector<Entry<Make>>& entries, const Settings& settings,
                          const std::string& option)
{
    const auto word = split(settings.text(option), ':').front();
    for (const auto& entry : entries)
        if (entry.name == word) return entry;
    const auto known = names(entries);
    settings.refuse(option,
                    unless_several(option, settings.text(option), suggestion(word, known), known));
}

}  // namespace quorate
