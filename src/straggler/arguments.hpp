// SPDX-License-Identifier: BSD-2-Clause
// Reads the arguments of delay models. All models write them alike: a list with commas, as
// Entry::arguments shows it, where "A/B/C,..." and "A,B,..." may be repeated.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "straggler/delay.hpp"

namespace quorate {

/// The arguments of a delay model: what follows the first colon in the value of its option. Local.
class DelayArguments {
public:
    /// @param settings  must outlive this object
    /// @throws BadInput if the option names no model
    DelayArguments(const Settings& settings, const DelaySetup& setup);

    /// The arguments as they stand, with further colons and commas. Empty if there are none.
    const std::string& text() const { return text_; }
    /// The pieces between commas; none for an empty text.
    std::vector<std::string> words() const;
    /// The same. @throws BadInput unless there are as many as Entry::arguments names
    std::vector<std::string> all_words() const;
    /// All words as values of the model. @throws BadInput as all_words() and value() do
    std::vector<double> values() const;
    /// One word as a value of the model: a time if it is a delay, a number of seconds or one with a
    /// unit such as 50ms; a number if it is a slowdown, which is a factor.
    /// @param name  of the argument, as in Entry::arguments
    /// @throws BadInput unless `word` is one, of at least 0
    double value(const std::string& name, const std::string& word) const;
    /// One word as a number without a unit.
    /// @param name     of the argument, as in Entry::arguments
    /// @param highest  largest value that is allowed; 1 for shares and probabilities
    /// @throws BadInput unless `word` is a finite number in [0, highest]
    double number(const std::string& name, const std::string& word,
                  double highest = std::numeric_limits<double>::max()) const;

    /// Throws BadInput that ends with the form to write.
    /// @param wrong  continues "--delay is VALUE", for instance ", but worker 3 is named twice"
    [[noreturn]] void refuse(const std::string& wrong = "") const;
    /// Throws BadInput without the form, for a mistake that is not one of form.
    [[noreturn]] void refuse_value(const std::string& wrong) const;

private:
    const Settings& settings_;
    std::string option_, form_, names_, text_;
    bool times_;  // whether values are times
};

}  // namespace quorate
