// SPDX-License-Identifier: BSD-2-Clause
// Quotes words for a shell, and runs programs without one.
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// Returns a word of a POSIX shell that stands for `text`, whatever characters it has.
std::string quoted(const std::string& text);

/// Makes `text` fit for a comment, a directive or a file name: other characters than letters,
/// digits and ._+=:-/,@% become underscores.
std::string plain(const std::string& text);

/// Makes `text` fit as the name of a job or a file in job scripts: like plain(), but / % , @ : and
/// =, which schedulers replace or read as more than a name, become underscores too. Never empty.
std::string plain_name(const std::string& text);

/// How a program ended.
struct Ended {
    int status;          // its exit status; 127: it could not be started; 128 + signal
    std::string output;  // of its standard output and standard error
};

/// Runs a program to its end, with nothing on its standard input. Does not expand anything.
/// @param words  the program, which is looked for on PATH, and its arguments
Ended run_program(const std::vector<std::string>& words);

}  // namespace quorate
