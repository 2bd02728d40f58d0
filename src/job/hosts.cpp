// SPDX-License-Identifier: BSD-2-Clause
#include "job/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "job/share.hpp"
#include "job/shell.hpp"

namespace quorate {

namespace {

std::string first_line(const std::string& text) { return trimmed(text.substr(0, text.find('\n'))); }

class Host {
public:
    Host(std::string name, std::vector<Finding>& findings)
        : name_(std::move(name)), findings_(findings)
    {
    }

    Ended run(const std::string& command) const
    {
        return run_program(
            {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", name_, command});
    }
    bool does(const std::string& command) const { return run(command).status == 0; }
    void fault(const std::string& text) const
    {
        findings_.push_back({true, fmt::format("host {}: {}", name_, text)});
    }

private:
    std::string name_;
    std::vector<Finding>& findings_;
};

}  // namespace

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
        const Host host(name, findings);
        if (const auto there = host.run("true"); there.status != 0) {
            host.fault(fmt::format("ssh without a password does not work ({}): set up a key",
                                   first_line(there.output)));
            continue;
        }
        if (const auto theirs = host.run(quoted(program) + " --version"); theirs.status != 0)
            host.fault(fmt::format("{} does not run there ({}): install it at the same path",
                                   program, first_line(theirs.output)));
        else if (host.run(sum).output != ours)
            host.fault(program + " is another one there: copy this one to the same path");
        if (!host.does(fmt::format("command -v {}", quoted(launcher))))
            host.fault(fmt::format("{} is not there: install the MPI of this build", launcher));
        for (const auto& file : data)
            if (!host.does("test -r " + quoted(file)))
                host.fault(file + " cannot be read there: share the folder, or copy it there");
    }
    return findings;
}

}  // namespace quorate
