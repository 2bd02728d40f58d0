// SPDX-License-Identifier: BSD-2-Clause
// Options as data. A component (scheme, model, delay, subcommand) lists the options it reads; the
// command line, INI files, --help, the manual page and shell completion are made from those lists.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/seconds.hpp"

namespace quorate {

struct Option {
    std::string name;      // as on the command line, without the dashes
    std::string argument;  // in the help: N, SECONDS, FILE; empty: a switch without argument
    std::string fallback;  // the default; empty: none
    std::string text;      // what it does, one line, with the unit
    /// Whether the value counts workers: then it is at most their number less `fewer_than_workers`,
    /// and a run that loses workers goes on with less.
    std::optional<int> fewer_than_workers = {};
};

/// Appends options, but for those whose names are there: components may share one.
void add_options(std::vector<Option>& all, const std::vector<Option>& more);

/// Which of these options is meant by a name that none has: in other letters, as other programs
/// call it, or misspelt. Empty: none is near.
std::string option_meant(const std::string& name, const std::vector<std::string>& known);

/// Values of options by name, as on the command line; that of a switch is on or off.
using Options = std::map<std::string, std::string>;

/// Values of options by name, in the order in which they are shown.
using Choice = std::vector<std::pair<std::string, std::string>>;

/// Returns them as words of a command: " --l2 0.1 --step 1".
std::string words_of(const Choice& options);

/// The options of one run: every option that was declared, with its value and where that came from.
class Settings {
public:
    struct Value {
        std::string text;
        std::string origin;  // "jobs/x.ini:12: ", or empty for the command line and defaults
        bool given = false;
    };

    std::string command_line;  // as it was given, for the record

    void set(const std::string& name, Value value) { values_[name] = std::move(value); }

    /// Whether it was declared.
    bool has(const std::string& name) const { return values_.contains(name); }
    /// Whether the user gave it; an option that was not declared was not given.
    bool given(const std::string& name) const;
    /// A switch that is on, or any option with a non-empty value.
    bool on(const std::string& name) const { return !text(name).empty(); }
    /// The value as it stands. @throws std::logic_error for an option that was not declared.
    const std::string& text(const std::string& name) const;
    /// @throws BadInput unless the value is an integer in [lowest, highest].
    std::int64_t integer(const std::string& name, std::int64_t lowest,
                         std::int64_t highest = std::numeric_limits<std::int64_t>::max()) const;
    /// @throws BadInput unless the value is a finite number in [lowest, highest].
    double real(const std::string& name, double lowest,
                double highest = std::numeric_limits<double>::max()) const;
    /// A time: a number of seconds, or one with a unit (50ms, 10us, 2s, 5min, 1h), as to_seconds()
    /// reads it.
    /// @throws BadInput unless it is one, in [lowest, highest]
    Seconds seconds(const std::string& name, Seconds lowest = 0,
                    Seconds highest = std::numeric_limits<Seconds>::max()) const;
    /// @throws BadInput unless the value is one of `words`.
    const std::string& one_of(const std::string& name, const std::vector<std::string>& words) const;

    /// A BadInput about this option, with where its value came from.
    /// @param wrong  goes on from "--name is VALUE": " but there are 12 workers: use at most 11".
    [[noreturn]] void refuse(const std::string& name, const std::string& wrong) const;

    /// The effective configuration as the text of an INI file, options in alphabetical order.
    std::string ini() const;

private:
    std::map<std::string, Value> values_;
};

/// A value of an option as Settings holds it: a switch that is off is empty.
/// @param origin  of the value, for the message  @throws BadInput for a switch that is neither on
///        nor off
std::string stored_value(const Option& option, const std::string& text,
                         const std::string& origin = "");

/// Defaults of the options that are known, but for the ones given.
/// @throws BadInput for a name that is not known, with the nearest one, and for a switch that is
///         neither on nor off
Settings make_settings(const std::vector<Option>& known, const Options& given);

}  // namespace quorate
