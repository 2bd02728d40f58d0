// SPDX-License-Identifier: BSD-2-Clause
#include "job/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/version.hpp"
#include "job/share.hpp"
#include "job/shell.hpp"

namespace quorate {

std::vector<std::string> read_hosts(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
        throw BadInput("--hostfile is " + path +
                       ", which cannot be read: give a file with a host a line");
    std::vector<std::string> hosts;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string host;
        if (!(words >> host)) continue;
        host.resize(std::min(host.find(':'), host.size()));
        if (host.starts_with('-') || host.empty() || plain(host) != host)
            throw BadInput(fmt::format("{}:{}: '{}' is no host: write a name or an address a line",
                                       path, number, plain(host)));
        hosts.push_back(host);
    }
    if (hosts.empty()) throw BadInput(path + " names no hosts: write one a line");
    return hosts;
}

std::vector<Finding> check_hosts(const std::vector<std::string>& hosts,
                                 const std::vector<std::string>& data)
{
    std::vector<Finding> findings;
    const auto program = own_path();
    const auto sum = "cksum < " + quoted(program);
    const auto ours = run_program({"sh", "-c", sum}).output;
    for (const auto& name : hosts) {
        const auto run = [&](const std::string& command) {
            return run_program(
                {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", name, command});
        };
        const auto fault = [&](const std::string& text) {
            findings.push_back({true, fmt::format("host {}: {}", name, text)});
        };
        if (const auto there = run("true"); there.status != 0) {
            fault(fmt::format("ssh without a password does not work ({}): set up a key",
                              there.first_line()));
            continue;
        }
        if (const auto theirs = run(own_command() + " --version"); theirs.status != 0)
            fault(fmt::format("{} does not run there ({}): install it at the same path", program,
                              theirs.first_line()));
        else if (run(sum).output != ours)
            fault(program + " is another one there: copy this one to the same path");
        if (run(fmt::format("command -v {}", quoted(launcher))).status != 0)
            fault(fmt::format("{} is not there: install the MPI of this build", launcher));
        for (const auto& file : data)
            if (run("test -r " + quoted(file)).status != 0)
                fault(file + " cannot be read there: share the folder, or copy it there");
    }
    return findings;
}

}  // namespace quorate
