// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// Returns the path of this program's executable; where another program has called run_as(), that
/// of the library.
std::string own_path();

/// Returns what starts this program in a shell: words that are quoted.
std::string own_command();

/// For a program that runs commands in its own process: how a shell starts it.
/// @param command  to which the words of a command can be appended
void run_as(const std::string& command);

/// Returns the path of a folder that comes with the program (slurm, jobs, analysis), in the sources
/// from which it was built or below PREFIX/share/quorate. @throws Failure if there is none
std::string shared_folder(const std::string& name);

/// Returns the paths of the files of such a folder that have this extension (".ini"), in
/// alphabetical order.
/// @throws Failure if there is no such folder
std::vector<std::string> shared_files(const std::string& folder, const std::string& extension);

/// Returns the path of the INI file that a word names: one of a folder that comes with the program,
/// by its name without .ini, or a file of the user's.
/// @param option  that has the word as value, for the message  @param what  it is: "a profile"
/// @throws BadInput if there is neither, with the nearest name
std::string named_file(const std::string& folder, const std::string& option,
                       const std::string& word, const std::string& what);

}  // namespace quorate
