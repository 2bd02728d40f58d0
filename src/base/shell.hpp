// SPDX-License-Identifier: BSD-2-Clause
// Quotes words for a shell, and runs programs without one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace quorate {

/// Returns a word of a POSIX shell that stands for `text`, whatever characters it has.
std::string quoted(const std::string& text);

/// Makes `text` fit for a directive or a file name: other characters than letters,
/// digits and ._+=:-/,@% become underscores.
std::string plain(std::string text);

/// Makes `text` fit for a comment, with blanks in place of line breaks and the like.
std::string one_line(std::string text);

/// Makes `text` fit as the name of a job or a file in job scripts: like plain(), but / % , @ : and
/// =, which schedulers replace or read as more than a name, become underscores too. Never empty.
std::string plain_name(const std::string& text);

/// Returns words as arguments of a shell command: each is quoted, and stands behind a blank.
std::string arguments(std::span<const std::string> words);

/// How a program ended.
struct Ended {
    int status;          // its exit status; 127: it could not be started; 128 + signal
    std::string output;  // of its standard output and standard error

    /// The first line of the output that is not blank.
    std::string first_line() const { return trimmed(split(trimmed(output), '\n').front()); }
};

/// Runs a program to its end, with nothing on its standard input. Does not expand anything.
/// @param words  the program, which is looked for on PATH, and its arguments
Ended run_program(const std::vector<std::string>& words);

}  // namespace quorate
