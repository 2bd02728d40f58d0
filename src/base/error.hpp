// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <stdexcept>

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

}  // namespace quorate
