// SPDX-License-Identifier: BSD-2-Clause
// What delay models have in common in reading their arguments. The form is uniform: a list between
// commas, as Entry::arguments writes it; "A/B/C,..." and "A,B,..." go on for as long as wanted.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "straggler/delay.hpp"

namespace quorate {

/// What follows the first colon in the value of the option that names the model.
class DelayArguments {
public:
    /// @throws BadInput if the option names no model
    DelayArguments(const Settings& settings, const DelaySetup& setup);

    /// All of it, as it stands: it may hold further colons and commas. Empty if there is none.
    const std::string& text() const { return text_; }
    /// The pieces between commas; none for an empty text.
    std::vector<std::string> words() const;
    /// All words as numbers of at least 0, exactly as many as Entry::arguments names.
    /// @throws BadInput
    std::vector<double> numbers() const;
    /// @param name     of the argument, as in Entry::arguments
    /// @param highest  1 for shares and probabilities
    /// @throws BadInput unless `word` is a finite number in [0, highest]
    double number(const std::string& name, const std::string& word,
                  double highest = std::numeric_limits<double>::max()) const;

    /// A BadInput that ends with the form to write.
    /// @param wrong  goes on from "--delay is VALUE", as ", but worker 3 is named twice"
    [[noreturn]] void refuse(const std::string& wrong = "") const;
    /// A BadInput without the form, for what is no matter of form.
    [[noreturn]] void refuse_value(const std::string& wrong) const;

private:
    const Settings& settings_;
    std::string option_, form_, names_, text_;
};

}  // namespace quorate
