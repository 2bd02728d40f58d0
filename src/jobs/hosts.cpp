// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "jobs/share.hpp"

namespace quorate {

namespace {

// The number of ranks that a word says.
int slots_of(const std::string& word, const std::string& line)
{
    constexpr int most = 1'000'000;
    const auto slots = to_integer(word).value_or(0);
    if (slots < 1 || slots > most)
        throw BadInput(fmt::format("{}'{}' is no number of ranks: write HOST:4 or HOST slots=4",
                                   line, plain(word)));
    return static_cast<int>(slots);
}

}  // namespace

Hosts read_hosts(const std::string& path)
{
    const auto text = contents_of(path);
    if (!text)
        throw BadInput("--hostfile is " + path +
                       ", which cannot be read: give a file with a host a line");
    Hosts hosts;
    std::istringstream file(*text);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        const auto origin = fmt::format("{}:{}: ", path, number);
        if (line.ends_with('\r')) hosts.for_hydra = hosts.for_open_mpi = false;
        std::istringstream words(line.substr(0, line.find('#')));
        std::string word;
        if (!(words >> word)) continue;
        if (std::ranges::count(word, ':') > 1)
            throw BadInput(
                fmt::format("{}'{}' is an address of IPv6, which launchers take for HOST:RANKS: "
                            "give the host a name, as in /etc/hosts",
                            origin, plain(word)));
        const auto colon = word.find(':');
        Host host{word.substr(0, colon)};
        if (host.name.starts_with('-') || host.name.empty() || plain(host.name) != host.name ||
            host.name.find_first_of(",/=+%") != std::string::npos)
            throw BadInput(fmt::format("{}'{}' is no host: write a name or an address a line",
                                       origin, plain(word)));
        if (colon != std::string::npos) {
            host.slots = slots_of(word.substr(colon + 1), origin);
            hosts.for_open_mpi = false;
        }
        while (words >> word) {
            const auto equals = word.find('=');
            const auto name = word.substr(0, equals);
            if (equals != std::string::npos && (name == "user" || name == "binding")) {
                host.of_hydra.append(1, ' ').append(word);
                hosts.for_open_mpi = false;
                continue;
            }
            const bool most = name == "max_slots" || name == "max-slots";
            if (equals == std::string::npos || (name != "slots" && !most))
                throw BadInput(
                    fmt::format("{}'{}' behind a host is not known: write HOST, HOST:4 or HOST "
                                "slots=4",
                                origin, plain(word)));
            const auto slots = slots_of(word.substr(equals + 1), origin);
            if (!most || host.slots == 0) host.slots = slots;
            hosts.for_hydra = false;
        }
        hosts.all.push_back(std::move(host));
    }
    if (hosts.all.empty()) throw BadInput(path + " names no hosts: write one a line");
    return hosts;
}

std::string hosts_text(const Hosts& hosts, const std::string& mpi)
{
    const bool hydra = mpi != "openmpi";
    std::string text;
    for (const auto& host : hosts.all) {
        if (!hydra && !host.of_hydra.empty())
            throw BadInput(
                fmt::format("--hostfile says{} of {}, which is for MPICH, and this is {}: leave "
                            "it out",
                            host.of_hydra, host.name, mpi));
        text += host.name;
        if (host.slots) text += (hydra ? ":" : " slots=") + std::to_string(host.slots);
        text += host.of_hydra + "\n";
    }
    return text;
}

std::vector<Finding> check_hosts(const std::vector<Host>& hosts,
                                 const std::vector<std::string>& data)
{
    std::vector<Finding> findings;
    const auto program = own_path();
    const auto sum = "cksum < " + quoted(program);
    const auto ours = run_program({"sh", "-c", sum}).output;
    for (const auto& host : hosts) {
        const auto& name = host.name;
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
