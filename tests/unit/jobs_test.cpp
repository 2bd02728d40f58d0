// SPDX-License-Identifier: BSD-2-Clause
// Units of schedulers, host files, and when a run has to stop.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <map>

#include "jobs/hosts.hpp"
#include "jobs/units.hpp"
#include "process/stop.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;

constexpr double mib = 1024.0 * 1024;

TEST(Units, MemoryIsWhatSlurmAndPbsWrite)
{
    for (const auto& [text, bytes] : {std::pair{"4G", 4096 * mib},
                                      {"4GiB", 4096 * mib},
                                      {"4gb", 4096 * mib},
                                      {"4g", 4096 * mib},
                                      {"500m", 500 * mib},
                                      {"1.5 TB", 1.5 * 1024 * 1024 * mib},
                                      {"2048kb", 2 * mib},
                                      {"12b", 12.0}})
        EXPECT_EQ(to_bytes(text), bytes) << text;
    for (const auto* wrong : {"", "b", "g", "4x", "4gw", "-4G", "0", "4000", "0G", "much"})
        EXPECT_FALSE(to_bytes(wrong)) << wrong;
}

TEST(Units, ANumberWithoutAUnitCountsWhatTheReaderSays)
{
    EXPECT_EQ(to_bytes("4000", mib), 4000 * mib);
    EXPECT_EQ(to_bytes("4gb", 1), 4096 * mib);
    EXPECT_FALSE(to_bytes("-1", mib));
    EXPECT_EQ(to_time("60", 60), 3600);
    EXPECT_EQ(to_time("60s", 60), 60);
    EXPECT_EQ(to_time("1:00", 60), 60);
    EXPECT_FALSE(to_time("60"));
    EXPECT_FALSE(to_time("-60", 60));
}

Hosts hosts_of(const std::string& text)
{
    const Folder folder;
    return read_hosts(folder.write("h", text));
}

TEST(Hosts, AreReadAsEitherLauncherWritesThem)
{
    const auto hosts = hosts_of("# mine\na:4  # big\n\nb slots=2 max_slots=8\nc\nf max-slots=3\n");
    EXPECT_FALSE(hosts.for_hydra);
    EXPECT_FALSE(hosts.for_open_mpi);
    EXPECT_EQ(hosts_text(hosts, "mpich"), "a:4\nb:2\nc\nf:3\n");
    EXPECT_EQ(hosts_text(hosts, "openmpi"), "a slots=4\nb slots=2\nc\nf slots=3\n");
}

TEST(Hosts, AFileThatALauncherReadsIsLeftAlone)
{
    EXPECT_TRUE(hosts_of("a\nb\n").for_hydra && hosts_of("a\nb\n").for_open_mpi);
    EXPECT_TRUE(hosts_of("a:4 user=me\n").for_hydra);
    EXPECT_FALSE(hosts_of("a:4\n").for_open_mpi);
    EXPECT_TRUE(hosts_of("a slots=4\n").for_open_mpi);
    EXPECT_FALSE(hosts_of("a slots=4\n").for_hydra);
    EXPECT_EQ(hosts_text(hosts_of("a:4 user=me\n"), "mpich"), "a:4 user=me\n");
    EXPECT_NE(refusal([] {
                  hosts_text(hosts_of("a:4 user=me\n"), "openmpi");
              }).find("user=me of a, which is for MPICH"),
              std::string::npos);
}

TEST(Hosts, WhatIsNoHostIsRefused)
{
    for (const auto& [line, wanted] : {std::pair{"fe80::1", "IPv6"},
                                       {"[fe80::1]:2", "IPv6"},
                                       {"node1,node2", "no host"},
                                       {"node[1-4]", "no host"},
                                       {"a b", "'b' behind a host is not known"},
                                       {"a slots", "'slots' behind a host is not known"},
                                       {"a slots=0", "'0' is no number of ranks"},
                                       {"a slots=two", "'two' is no number of ranks"},
                                       {"a:", "'' is no number of ranks"},
                                       {"a:x", "'x' is no number of ranks"}}) {
        const auto message =
            refusal([&, &line = line] { hosts_of(std::string("ok\n") + line + "\n"); });
        EXPECT_NE(message.find("h:2: "), std::string::npos) << message;
        EXPECT_NE(message.find(wanted), std::string::npos) << line << ": " << message;
    }
}

// A variable of the environment, which is unset in the end.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name)
    {
        setenv(name, value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    ~Variable() { unsetenv(name_); }

private:
    const char* name_;
};

double seconds_with(const std::map<std::string, std::string>& options)
{
    return seconds_to_run(test::settings(stop_options(), options));
}

TEST(Stop, TheEarliestEndOfTheJobCounts)
{
    const auto in_1000 = std::to_string(std::time(nullptr) + 1000);
    const auto near = [](double seconds, double wanted) { return std::abs(seconds - wanted) < 30; };
    const Variable slurm("SLURM_JOB_END_TIME", in_1000);
    EXPECT_TRUE(near(seconds_with({{"stop-before", "100"}}), 900));
    EXPECT_TRUE(near(seconds_with({{"stop-before", "100"}, {"walltime", "1:00:00"}}), 900));
    EXPECT_TRUE(near(seconds_with({{"stop-before", "0:30"}, {"walltime", "500"}}), 470));
    const Variable torque("PBS_WALLTIME", "600");
    EXPECT_TRUE(near(seconds_with({{"stop-before", "100"}, {"walltime", "1-00"}}), 500));
    EXPECT_EQ(seconds_with({{"walltime", "500"}}), std::numeric_limits<double>::infinity());
}

TEST(Stop, WhatIsOverBeforeItBeginsIsRefused)
{
    const auto past = std::to_string(std::time(nullptr) - 100);
    const Variable slurm("SLURM_JOB_END_TIME", past);
    const auto message = refusal([] {
        seconds_with({{"stop-before", "5min"}, {"walltime", "1h"}});
    });
    EXPECT_NE(message.find("by SLURM_JOB_END_TIME the job ends in -10"), std::string::npos)
        << message;
    EXPECT_NE(message.find("is over already"), std::string::npos) << message;
}

}  // namespace
}  // namespace quorate
