// SPDX-License-Identifier: BSD-2-Clause
// The subcommands of `quorate`: what each is called, reads and does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// A subcommand, as data: parsing and help are made from it.
struct Command {
    std::string name;
    std::string text;  // one line for the list of commands
    /// The names of its operands in the help, "WHAT [NAME]", read back under these names from the
    /// settings; one in brackets may be left out.
    std::string operand = {};
    std::vector<Option> options = {};
    std::function<int(const Settings&)> run = {};  // returns the exit status; errors are thrown
    /// In place of run: takes the words behind the command's name as they are. Such a command has
    /// no options, not even --help.
    std::function<int(const std::vector<std::string>&)> run_words = {};
    /// Whether the ranks that a launcher starts run it together. Otherwise it is one process.
    bool ranks = false;
    /// Options that most people need, with which the help begins; empty: it tells all.
    std::vector<std::string> first = {};
    /// Whole commands, each to be run as it stands; lines of at most 78 characters, of which all
    /// but the last end with a backslash.
    std::vector<std::string> examples = {};
};

// Return the commands. Each is made in the file of its name; submit is in script.cpp,
// cancel in status.cpp.
Command import_command();
Command generate_command();
Command encode_command();
Command run_command();
Command simulate_command();
Command optimum_command();
Command evaluate_command();
Command predict_command();
Command tune_command();
Command inspect_command();
Command advise_command();
Command script_command();
Command submit_command();
Command status_command();
Command cancel_command();
Command todo_command();
Command doctor_command();
Command analysis_command();
Command hosts_command();
Command list_command();
Command help_command();

/// Returns all commands, in the order of `quorate help`. Their options are those of the components
/// that there are now: plugins add some.
std::vector<Command> commands();

/// @throws BadInput if there is no such command, with the nearest name
Command command_named(const std::string& name);

/// Runs the command that the words of the command line name, without the program's. Prints errors
/// instead of throwing them, and ends MPI if the command has started it. Collective if the command
/// is; if one of several ranks fails, all processes are aborted.
/// @return the exit status
int program(const std::vector<std::string>& words);

}  // namespace quorate
