// SPDX-License-Identifier: BSD-2-Clause
#include "base/host.hpp"

#include <unistd.h>

#include <cstdlib>

namespace quorate {

std::string host_name()
{
    if (const char* node = std::getenv("SLURMD_NODENAME")) return node;
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

std::int64_t host_memory()
{
    return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace quorate
