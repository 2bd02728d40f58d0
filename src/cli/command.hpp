// SPDX-License-Identifier: BSD-2-Clause
// A subcommand of `quorate`: what it is called, what it reads, what it does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

struct Command {
    std::string name;
    std::string text;     // one line for the list of commands
    std::string operand;  // the name of its one operand in the help, read back under that
                          // name from the settings; empty: none
    std::vector<Option> options;
    std::function<int(const Settings&)> run;  // returns the exit status; errors are thrown
};

// One file each.
Command import_command();
Command generate_command();
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
Command todo_command();
Command list_command();
Command help_command();

/// All of them, in the order of `quorate help`.
const std::vector<Command>& commands();

/// Runs the command that the words of the command line name. Returns the exit status, and prints errors.
int program(const std::vector<std::string>& words);

}  // namespace quorate
