// SPDX-License-Identifier: BSD-2-Clause
// To add a subcommand: one file, one line in command.hpp and one line here.
#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

namespace quorate {

std::vector<Command> commands()
{
    return {
        import_command(),   generate_command(), encode_command(),   run_command(),
        simulate_command(), evaluate_command(), predict_command(),  optimum_command(),
        tune_command(),     inspect_command(),  analysis_command(), hosts_command(),
        advise_command(),   script_command(),   submit_command(),   status_command(),
        cancel_command(),   todo_command(),     doctor_command(),   list_command(),
        help_command(),
    };
}

Command command_named(const std::string& name)
{
    const auto all = commands();
    const auto at = std::ranges::find(all, name, &Command::name);
    if (at == all.end())
        throw BadInput("quorate has no command " + name + suggestion(name, names(all)));
    return *at;
}

}  // namespace quorate
