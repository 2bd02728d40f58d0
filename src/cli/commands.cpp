// SPDX-License-Identifier: BSD-2-Clause
// To add a subcommand: one file, one line in command.hpp and one line here.
#include "cli/command.hpp"

namespace quorate {

const std::vector<Command>& commands()
{
    static const std::vector<Command> all = {
        import_command(),   generate_command(), run_command(),     simulate_command(),
        evaluate_command(), predict_command(),  optimum_command(), tune_command(),
        inspect_command(),  advise_command(),   script_command(),  submit_command(),
        todo_command(),     list_command(),     help_command(),
    };
    return all;
}

}  // namespace quorate
