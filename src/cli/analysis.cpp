// SPDX-License-Identifier: BSD-2-Clause
// quorate analysis: hands its words to the analysis, which is written in Python.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "jobs/share.hpp"

namespace quorate {

namespace {

// Becomes the interpreter that the program was configured with: returns only if that fails.
int analyse(const std::vector<std::string>& words)
{
    std::vector<std::string> all = {python, shared_folder("analysis") + "/quorate-analysis"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (auto& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::fflush(nullptr);
    execvp(python, arguments.data());
    throw Failure(fmt::format("cannot start {}: {}; it is the Python that 'make info' names",
                              python, std::strerror(errno)));
}

}  // namespace

Command analysis_command()
{
    return {.name = "analysis",
            .text = "figures, tables and reports of traces; quorate analysis --help",
            .operand = "COMMAND",
            .run_words = analyse,
            .examples = {"quorate analysis compare frc.h5 agc.h5",
                         "quorate analysis report frc.h5 agc.h5"}};
}

}  // namespace quorate
