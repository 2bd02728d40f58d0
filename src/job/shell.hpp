// SPDX-License-Identifier: BSD-2-Clause
// Words for a shell, and programs that are run without one.
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// One word of a POSIX shell that stands for `text`, whatever is in it.
std::string quoted(const std::string& text);

/// `text` as a part of a comment, a directive or a file name: other characters than letters, digits and
/// ._+=:-/ become underscores.
std::string plain(const std::string& text);

/// `text` as the name of a job or a file in job scripts: `plain`, without what schedulers replace (%) or
/// read as more than a name. Never empty.
std::string plain_name(const std::string& text);

struct Ended {
    int status;          // 127: it could not be started; 128 + signal
    std::string output;  // of its standard output, and error
};

/// Runs a program, found on PATH, to its end. Nothing is expanded.
Ended run_program(const std::vector<std::string>& words);

}  // namespace quorate
