// SPDX-License-Identifier: BSD-2-Clause
#include "base/host.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> number_in(const std::string& path)
{
    std::int64_t value = 0;
    std::ifstream file(path);
    return file >> value ? std::optional(value) : std::nullopt;
}

// Returns the sum of the numbers behind these words in a file of lines "word number".
std::int64_t sum_of(const std::string& path, std::initializer_list<std::string_view> words)
{
    std::ifstream file(path);
    std::string word, rest;
    std::int64_t sum = 0, value = 0;
    while (file >> word >> value) {
        if (std::ranges::find(words, word) != words.end()) sum += value;
        std::getline(file, rest);
    }
    return sum;
}

// What a control group leaves. Its cache of files does not count as used: the system gives it up.
std::int64_t left_in(const std::string& group, const char* limit, const char* usage)
{
    const auto most = number_in(group + limit);
    if (!most) return unlimited;
    return *most - number_in(group + usage).value_or(0) +
           sum_of(group + "/memory.stat", {"inactive_file", "active_file"});
}

}  // namespace

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

std::int64_t free_memory()
{
    auto left = 1024 * sum_of("/proc/meminfo", {"MemAvailable:"});
    std::ifstream groups("/proc/self/cgroup");
    // A line of these is NUMBER:CONTROLLERS:PATH, without controllers in version 2.
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        const auto controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && controllers != "memory") continue;
        const bool old = !controllers.empty();
        const std::string root = old ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
        for (auto path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
            left = std::min(
                left, old ? left_in(root + path, "/memory.limit_in_bytes", "/memory.usage_in_bytes")
                          : left_in(root + path, "/memory.max", "/memory.current"));
            if (path.empty()) break;
        }
    }
    return std::max<std::int64_t>(0, left);
}

std::string size_text(double bytes)
{
    return bytes < 1e9 ? fmt::format("{:.0f} MB", std::ceil(1e-6 * bytes))
                       : fmt::format("{:.3g} GB", 1e-9 * bytes);
}

void need_memory(double bytes, const std::string& work)
{
    const auto free = static_cast<double>(free_memory());
    if (bytes > free)
        throw BadInput(
            fmt::format("{} takes {} of memory at least, and {} has {} free: ask for more memory",
                        work, size_text(bytes), host_name(), size_text(free)));
}

bool has_ended(pid_t process)
{
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string line;
    std::getline(file, line);
    const auto name = line.rfind(") ");  // the last one, because the name may hold anything
    if (name == std::string::npos) return true;
    // A process whose first thread is a zombie has not ended before its other threads have.
    constexpr std::size_t threads = 17;  // field of the number of threads, counted from the state
    const auto fields = split(line.substr(name + 2), ' ');
    return fields[0] == "Z" && fields.size() > threads && to_integer(fields[threads]) <= 1;
}

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace quorate
