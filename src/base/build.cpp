// SPDX-License-Identifier: BSD-2-Clause
#include "base/build.hpp"

#include <sstream>

#include "base/version.hpp"

namespace quorate {

std::string built_mpi()
{
    std::istringstream lines(build_info);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, value;
        words >> name >> value;
        if (name == "MPI") return value;
    }
    return "";
}

std::string built_instructions()
{
    const std::string flags = build_info, option = "-march=";
    const auto at = flags.find(option);
    if (at == std::string::npos) return "";
    const auto first = at + option.size();
    return flags.substr(first, flags.find_first_of(" \n", first) - first);
}

bool has_built_instructions()
{
#ifdef __x86_64__
    const auto wanted = built_instructions();
    if (wanted == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
    if (wanted == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
    if (wanted == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
#endif
    return true;
}

}  // namespace quorate
