// SPDX-License-Identifier: BSD-2-Clause
// Messages for whoever runs the program: lines on stderr. Any thread may log.
#pragma once

#include <functional>
#include <string>

namespace quorate {

enum class LogLevel {
    failure,  // what ends this process, with its rank
    error,    // what the user has to know or to mend
    warning,
    note,    // what happens, in few lines; not with --quiet
    detail,  // the same at length, with the rank: only with --verbose
};

/// Shows messages up to this level from now on. Before the first call, up to warnings.
void log_up_to(LogLevel level);
/// Sets what this process is called in failures and details, such as "[rank 3 of 31]".
void log_as(const std::string& who);
/// Whether a line on the terminal stands below all messages, which they have to clear.
void log_above_line(bool there);

/// Hands messages of all levels to a function from now on, instead of printing them. It is called
/// by the thread that logs.
void log_to(std::function<void(LogLevel level, const std::string& text)> function);

/// Hands messages of all levels to a function as well from now on, whatever else becomes of them.
/// Any thread may call it.
void log_also_to(std::function<void(LogLevel level, const std::string& text)> function);

/// Prints whole lines on stdout as a message, and hands each to the function of log_also_to() as a
/// note.
void say(const std::string& lines);

/// Prints "quorate: text", with what the level adds; line breaks in the text become blanks.
void log(LogLevel level, const std::string& text);

}  // namespace quorate
