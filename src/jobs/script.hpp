// SPDX-License-Identifier: BSD-2-Clause
// Makes job scripts as a person would write them: short, and independent of the submitting shell's
// environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/request.hpp"

namespace quorate {

/// Returns whose launcher starts the ranks: mpich or openmpi.
std::string mpi_of_launcher(const Profile& profile);

/// Where a script comes from, which it says in comments.
struct Origin {
    std::string command;                // that made it
    std::vector<std::string> comments;  // lines
};

/// Returns prepare.sh, which makes the data set.
/// @param words    of the quorate command
/// @param optimum  likewise, of the command that finds the optimum for it; empty: none does
std::string prepare_script(const Request& request, const Profile& profile, const Origin& origin,
                           const std::vector<std::string>& words,
                           const std::vector<std::string>& optimum);
/// Returns run.sh, which has a task of a job array for each run; without a scheduler it makes all
/// runs one after the other.
std::string run_script(const Request& request, const Profile& profile, const Origin& origin);
/// Returns analyse.sh, which makes a table, a figure and a report of all traces.
/// @param figure  words of the quorate-analysis command
std::string analyse_script(const Request& request, const Profile& profile, const Origin& origin,
                           const std::vector<std::string>& figure);

/// The job that another one waits for: until it has succeeded, until the same element of its array
/// has, or until it has ended anyhow.
struct Dependency {
    enum class Kind { success, same_element, end } kind;
    std::string job;
};

/// Returns the words of the command that submits a script.
/// @param array  numbers of the runs of a job array; empty: it is no array
/// @param after  the job to wait for, if any
std::vector<std::string> submit_words(const Request& request, const Profile& profile,
                                      const std::string& script,
                                      const std::vector<std::int64_t>& array,
                                      const std::optional<Dependency>& after);

}  // namespace quorate
