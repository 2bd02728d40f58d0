// SPDX-License-Identifier: BSD-2-Clause
// Commands of the program in this process, thousands of which take no longer than ten processes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate::test {

/// How a command ended.
struct Said {
    int status;
    std::string text;  // its messages of all levels, in lines, and what ended it
};

/// Carries out a command, as `quorate WORDS` does.
/// @param run  what it does in place of what it does; empty: what it does
Said command(const std::vector<std::string>& words,
             const std::function<int(const Settings&)>& run = {});
/// @param words  between blanks; those of several words stand in single quotes
Said command(const std::string& words);

/// The words of a text, as above.
std::vector<std::string> words_in(const std::string& text);

}  // namespace quorate::test
