// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace quorate {

// The exit statuses of every subcommand.
inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;      // something went wrong at run time
inline constexpr int exit_bad_input = 2;   // the user can mend it; nothing was written
inline constexpr int exit_run_again = 75;  // stopped in time, before the work was done

/// What a user gave cannot be used. The message is one line: what is wrong, the value, the remedy.
class BadInput : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Something failed that the user did not cause: a full disk, a library that returns an error.
class Failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Returns what is to be said of an error: its message, and where memory is exhausted, the remedy.
inline std::string reason_of(const std::exception& error)
{
    if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
    return "there is not enough memory: ask for more, or use more hosts";
}

}  // namespace quorate
