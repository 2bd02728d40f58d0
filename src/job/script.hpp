// SPDX-License-Identifier: BSD-2-Clause
// Job scripts as a person would write them: short, and of nothing that the submitting shell has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/request.hpp"

namespace quorate {

/// What a script says of itself.
struct Origin {
    std::string command;                // that made it
    std::vector<std::string> comments;  // lines
};

/// prepare.sh: makes the data set. @param words  of the quorate command
std::string prepare_script(const Request& request, const Profile& profile, const Origin& origin,
                           const std::vector<std::string>& words);
/// run.sh: one task of the array for each run; without a scheduler, all of them in a row.
std::string run_script(const Request& request, const Profile& profile, const Origin& origin);
/// analyse.sh: table, figure and report of all traces. @param figure  words of the quorate-analysis command
std::string analyse_script(const Request& request, const Profile& profile, const Origin& origin,
                           const std::vector<std::string>& figure);

/// The command that starts the ranks, without what they run.
std::string launch_command(const Request& request, const Profile& profile);

/// What a job waits for: another one, as a whole or by the same element of its array, and whether that must
/// have succeeded.
struct Dependency {
    enum class Kind { success, same_element, end } kind;
    std::string job;
};

/// A command that submits a script. @param array  runs; none: it is no array
std::vector<std::string> submit_words(const Request& request, const Profile& profile,
                                      const std::string& script,
                                      const std::vector<std::int64_t>& array,
                                      const std::optional<Dependency>& after);

}  // namespace quorate
