// SPDX-License-Identifier: BSD-2-Clause
// The judge of `quorate doctor`, with facts that are made up: each finding has its remedy.
#include <gtest/gtest.h>

#include "doctor/findings.hpp"

namespace quorate {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

RankFacts healthy_rank(int number, const std::string& host, std::int64_t core)
{
    RankFacts rank;
    rank.rank = number;
    rank.host = host;
    rank.program = "Quorate";
    rank.mpi = "MPICH 4.0.2";
    rank.mpis = {"mpich"};
    rank.cores = {core};
    rank.machine_cores = 8;
    rank.memory = rank.free_memory = 8 * gib;
    rank.shm = rank.shm_free = gib;
    rank.shares = true;
    rank.open_files = 20;
    rank.open_files_limit = rank.open_files_most = 1024;
    rank.clock_resolution = 1e-9;
    return rank;
}

// Two hosts, a and b, of four ranks each, of which nothing is wrong.
DoctorFacts healthy()
{
    DoctorFacts facts;
    facts.built_mpi = "mpich";
    facts.launcher = "mpiexec.mpich";
    facts.launchers = {{"mpiexec.mpich", "mpich"}};
    facts.launched = true;
    facts.size = 8;
    for (int rank = 0; rank < 8; ++rank)
        facts.ranks.push_back(healthy_rank(rank, rank < 4 ? "a" : "b", rank % 4));
    return facts;
}

// The same, where each host has four GPUs, and each worker takes one in turn.
DoctorFacts with_gpus()
{
    auto facts = healthy();
    for (auto& rank : facts.ranks) {
        rank.torch.version = "2.5.1";
        rank.torch.platform = "CUDA 12.4";
        rank.torch.threads = 1;
        rank.torch.installed = 4;
        for (int gpu = 0; gpu < 4; ++gpu)
            rank.torch.gpus.push_back("GPU-" + rank.host + std::to_string(gpu));
        rank.torch.takes = rank.rank % 4;
    }
    return facts;
}

DoctorFacts alone()
{
    auto facts = healthy();
    facts.launched = false;
    facts.size = 1;
    facts.ranks.resize(1);
    return facts;
}

// Expects exactly one finding, whose text has all these words.
void expect_one(const DoctorFacts& facts, bool error, const std::vector<std::string>& words)
{
    const auto findings = judge(facts);
    ASSERT_EQ(findings.size(), 1U) << (findings.size() > 1 ? findings[1].text : "none");
    EXPECT_EQ(findings[0].error, error) << findings[0].text;
    for (const auto& word : words)
        EXPECT_NE(findings[0].text.find(word), std::string::npos) << findings[0].text;
    EXPECT_NE(findings[0].text.find(':'), std::string::npos);
}

TEST(Doctor, FindsNothingWhereAllIsWell)
{
    EXPECT_TRUE(judge(healthy()).empty());
    EXPECT_TRUE(judge(alone()).empty());
    EXPECT_TRUE(judge(with_gpus()).empty());
}

TEST(Doctor, PassesOnWhatIsWrongWithTheWorld)
{
    auto facts = alone();
    facts.world = "this is 8 ranks that each see a world of one: start it otherwise";
    expect_one(facts, true, {"a world of one"});
}

TEST(Doctor, NamesSilentRanks)
{
    auto facts = healthy();
    facts.silent = {6, 7};
    facts.ranks.resize(6);
    expect_one(facts, true, {"ranks 6-7 of 8", "--timeout"});
}

TEST(Doctor, WarnsOfTheLauncherOfAnotherMpiIfItIsAlone)
{
    auto facts = alone();
    facts.launchers.insert(facts.launchers.begin(), {"mpiexec", "openmpi"});
    expect_one(facts, false, {"mpiexec in the PATH", "openmpi", "start runs with mpiexec.mpich"});
    facts = healthy();
    facts.launchers.insert(facts.launchers.begin(), {"mpiexec", "openmpi"});
    EXPECT_TRUE(judge(facts).empty());
}

TEST(Doctor, WarnsIfTheLauncherIsNotThere)
{
    auto facts = alone();
    facts.launchers = {{"mpirun", "mpich"}};
    expect_one(facts, false, {"mpiexec.mpich", "not in the PATH", "install"});
}

TEST(Doctor, RefusesLibrariesOfTwoMpis)
{
    auto facts = healthy();
    facts.ranks[5].mpis = {"mpich", "openmpi"};
    expect_one(facts, true, {"rank 5 on b", "two MPIs", "LD_LIBRARY_PATH"});
    facts.ranks[5].mpis = {"openmpi"};
    expect_one(facts, true, {"rank 5 on b", "openmpi", "built with mpich"});
}

TEST(Doctor, RefusesAnotherBuildOnAHost)
{
    auto facts = healthy();
    facts.ranks[4].program = "older";
    expect_one(facts, true, {"rank 4 on b", "older", "install"});
    facts = healthy();
    facts.ranks[4].mpi = "MPICH 4.2";
    expect_one(facts, false, {"rank 4 on b", "MPICH 4.2", "install"});
}

TEST(Doctor, WarnsOfMoreRanksThanCores)
{
    auto facts = healthy();
    for (auto& rank : facts.ranks)
        if (rank.host == "a") {
            rank.cores = {0, 1};
            rank.machine_cores = 2;
        }
    expect_one(facts, false, {"host a: 4 ranks share 2 cores", "start 2 there"});
    facts = healthy();
    for (auto& rank : facts.ranks) rank.cores = {0, 1, 2, 3};
    facts.threads = 4;
    EXPECT_EQ(judge(facts).size(), 2U);
    EXPECT_NE(judge(facts)[0].text.find("4 ranks of 4 threads share 4 cores of the machine's 8"),
              std::string::npos)
        << judge(facts)[0].text;
}

TEST(Doctor, WarnsOfRanksThatAreNotBound)
{
    auto facts = healthy();
    for (auto& rank : facts.ranks)
        if (rank.host == "b") rank.cores = {0, 1, 2, 3, 4, 5, 6, 7};
    expect_one(facts, false, {"host b: ranks 4-7 are not bound", "0-7", "-bind-to core", "srun"});
    facts.built_mpi = "openmpi";
    for (auto& rank : facts.ranks) rank.mpis = {"openmpi"};
    expect_one(facts, false, {"--bind-to core --map-by slot:pe=1"});
}

TEST(Doctor, WarnsOfRanksBoundToOneCore)
{
    auto facts = healthy();
    facts.ranks[2].cores = {1};
    expect_one(facts, false, {"host a: ranks 1-2 are bound to core 1 together", "-bind-to core"});
}

TEST(Doctor, WarnsOfThreadsOnOneCore)
{
    auto facts = healthy();
    facts.threads = 2;
    for (auto& rank : facts.ranks) {
        const auto core = 2 * static_cast<std::int64_t>(rank.rank % 4);
        rank.cores = {core, core + 1};
    }
    EXPECT_TRUE(judge(facts).empty());
    facts.ranks[3].cores = {6};
    expect_one(facts, false, {"rank 3 of 2 threads is bound to core 6", "-bind-to core:2"});
}

TEST(Doctor, WarnsIfMemoryCannotBeShared)
{
    auto facts = healthy();
    facts.ranks[6].shares = false;
    expect_one(facts, false, {"host b: rank 6", "with rank 4", "messages", "container"});
}

TEST(Doctor, WarnsOfLittleSharedMemoryUnlessMpiDoesWithout)
{
    auto facts = healthy();
    facts.ranks[0].shm_free = 16 << 20;
    expect_one(facts, false, {"host a: /dev/shm has 16 MiB", "--shm-size", "UCX_TLS=tcp,self"});
    facts.resilient = true;
    EXPECT_TRUE(judge(facts).empty());
}

TEST(Doctor, RefusesARunThatDoesNotFit)
{
    auto facts = healthy();
    facts.parameters = 1000;
    facts.data_bytes = 7.0 * gib;  // one for each worker: three on a, four on b
    for (auto& rank : facts.ranks) rank.free_memory = 9 * gib;
    EXPECT_TRUE(judge(facts).empty());
    for (auto& rank : facts.ranks) rank.free_memory = 7 * gib;
    expect_one(facts, false,
               {"host b: a run takes 4 GiB", "7 GiB are free", "ask for more memory"});
    for (auto& rank : facts.ranks)
        if (rank.host == "b") rank.free_memory = 3 * gib;
    EXPECT_TRUE(judge(facts)[0].error);
    // A wide model: four points of the coordinator, two vectors of each worker.
    facts = healthy();
    facts.data_bytes = 1;
    facts.parameters = gib / 8;
    const auto findings = judge(facts);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_NE(findings[0].text.find("host a: a run takes 10 GiB"), std::string::npos)
        << findings[0].text;
    EXPECT_TRUE(findings[0].error);
}

TEST(Doctor, RefusesALimitOfOpenFilesThatIsTooLow)
{
    auto facts = healthy();
    facts.ranks[0].open_files_limit = 50;
    expect_one(facts, true, {"rank 0 on a may open 50 files", "ulimit -n 60"});
    facts.ranks[0].open_files_most = 50;
    expect_one(facts, true, {"limits.conf"});
    facts.ranks[0].open_files_limit = -1;
    EXPECT_TRUE(judge(facts).empty());
}

TEST(Doctor, WarnsOfALimitOfTheSizeOfFiles)
{
    auto facts = healthy();
    facts.ranks[0].file_size_limit = 8 << 20;
    expect_one(facts, false, {"8 MiB at most", "ulimit -f unlimited"});
}

TEST(Doctor, JudgesFiles)
{
    auto facts = healthy();
    const FileFacts trace{"trace", "t.h5", "", 0, gib};
    facts.ranks[0].files = {trace};
    EXPECT_TRUE(judge(facts).empty());
    facts.ranks[0].files[0].wrong = "read-only: give another";
    expect_one(facts, true, {"host a: --trace is t.h5", "read-only: give another"});
    facts.ranks[0].files = {trace};
    facts.ranks[0].files[0].free = 1 << 20;
    expect_one(facts, false, {"1 MiB are free", "make room"});
}

TEST(Doctor, RefusesOtherDataOnAHost)
{
    auto facts = healthy();
    const FileFacts data{"data", "d.h5", "", 100, 0};
    facts.ranks[0].files = facts.ranks[4].files = {data};
    EXPECT_TRUE(judge(facts).empty());
    facts.ranks[4].files[0].bytes = 99;
    expect_one(facts, true, {"host b: --data is d.h5", "99 bytes there and 100 on a", "copy"});
}

TEST(Doctor, WarnsOfClocks)
{
    auto facts = healthy();
    for (auto& rank : facts.ranks)
        if (rank.host == "b") rank.clock_ahead = -30;
    expect_one(facts, false, {"host b: its clock is 30.0 s behind that of a", "chrony"});
    facts = healthy();
    facts.ranks[4].clock_resolution = 4e-3;
    facts.ranks[4].clock_source = "jiffies";
    expect_one(facts, false, {"host b", "0.004 s", "jiffies"});
}

TEST(Doctor, ErrorsComeFirst)
{
    auto facts = healthy();
    facts.ranks[2].cores = {1};
    facts.ranks[7].mpis = {"openmpi"};
    facts.ranks[0].open_files_limit = 50;
    const auto findings = judge(facts);
    ASSERT_EQ(findings.size(), 3U);
    EXPECT_TRUE(findings[0].error && findings[1].error && !findings[2].error);
}

TEST(Doctor, WantsOnePyTorchThatCanBeImported)
{
    auto facts = with_gpus();
    facts.ranks[5].torch.version = "2.1.0";
    expect_one(facts, false, {"rank 5 on b", "PyTorch 2.1.0", "rank 0 has 2.5.1", "install"});
    facts.ranks[5].torch = {};
    facts.ranks[5].torch.takes = 1;
    facts.ranks[5].torch.gpus = facts.ranks[6].torch.gpus;
    expect_one(facts, true, {"rank 5 on b has no PyTorch", "install it there"});
    facts.ranks[5].torch.wrong = "OSError: libcudart.so.12";
    expect_one(facts, true, {"rank 5 on b", "libcudart.so.12", "another Python"});
}

TEST(Doctor, CountsTheThreadsOfPyTorch)
{
    auto facts = with_gpus();
    for (auto& rank : facts.ranks)
        if (rank.host == "a") rank.torch.threads = 2;
    expect_one(facts, false, {"host a", "rank 0 of 2 threads", "--cpus-per-task=2"});
}

TEST(Doctor, NamesWorkersThatWouldLeaveGpusIdle)
{
    auto facts = with_gpus();
    for (auto& rank : facts.ranks)
        if (rank.host == "b") rank.torch.takes = -1;
    const auto findings = judge(facts);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_NE(findings[0].text.find("--gpus-per-task"), std::string::npos);
    EXPECT_NE(findings[1].text.find("ranks 4-7 would compute on the CPU, and other workers"),
              std::string::npos);
    for (auto& rank : facts.ranks) rank.torch.installed = 0;
    expect_one(facts, false, {"ranks 4-7", "give each a GPU"});
    for (auto& rank : facts.ranks) {
        rank.torch.takes = -1;
        rank.torch.platform.clear();
    }
    EXPECT_TRUE(judge(facts).empty());
    facts.ranks[4].torch.installed = 4;
    expect_one(facts, false, {"host b", "PyTorch 2.5.1 was built for CPUs alone", "4 GPUs"});
}

TEST(Doctor, TellsHowWorkersShareGpus)
{
    auto facts = with_gpus();
    for (auto& rank : facts.ranks) rank.torch.takes = 0;
    for (auto& rank : facts.ranks)
        if (rank.host == "a") rank.torch.takes = rank.rank - 1;
    expect_one(facts, false, {"host b: ranks 4-7 would take 1 of 4 GPUs", "set LOCAL_RANK"});
    for (auto& rank : facts.ranks) {
        rank.torch.gpus.resize(2);
        rank.torch.takes = rank.rank % 2;
        if (rank.host == "a") rank.torch.gpus = {"GPU-of-" + std::to_string(rank.rank), "GPU-x"};
    }
    for (auto& rank : facts.ranks)
        if (rank.host == "a") rank.torch.takes = 0;
    expect_one(facts, false, {"host b: ranks 4-7 share 2 GPUs", "start 2 there"});
    // An old PyTorch does not say which of them are the same.
    for (auto& rank : facts.ranks) rank.torch.gpus.assign(rank.torch.gpus.size(), "");
    EXPECT_TRUE(judge(facts).empty());
}

}  // namespace
}  // namespace quorate
