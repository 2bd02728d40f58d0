// SPDX-License-Identifier: BSD-2-Clause
// quorate analysis and quorate hosts: hand their words to programs in Python.
#include "cli/command.hpp"
#include "cli/python_program.hpp"

namespace quorate {

Command analysis_command()
{
    return {.name = "analysis",
            .text = "figures, tables and reports of traces; quorate analysis --help",
            .operand = "COMMAND",
            .run_words = [](const auto& words) { return become_python("quorate-analysis", words); },
            .examples = {"quorate analysis compare frc.h5 agc.h5",
                         "quorate analysis report frc.h5 agc.h5"}};
}

Command hosts_command()
{
    return {.name = "hosts",
            .text = "machines in a cloud: launch, list, down; quorate hosts --help",
            .operand = "COMMAND",
            .run_words = [](const auto& words) { return become_python("quorate-hosts", words); },
            .examples = {"quorate hosts list try --cloud aws"}};
}

}  // namespace quorate
