// SPDX-License-Identifier: BSD-2-Clause
#include "cli/python_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "base/version.hpp"
#include "jobs/share.hpp"

namespace quorate {

int become_python(const std::string& script, const std::vector<std::string>& words)
{
    std::vector<std::string> all = {python, shared_folder("analysis") + '/' + script};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (auto& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::fflush(nullptr);
    execvp(python, arguments.data());
    throw Failure(fmt::format("cannot start {}: {}; it is the Python that 'make info' names",
                              python, std::strerror(errno)));
}

}  // namespace quorate
