// SPDX-License-Identifier: BSD-2-Clause
// What `quorate doctor` finds out about the ranks of a job and their hosts. Gathering it
// (doctor_look, doctor_world) and judging it (doctor_findings) are apart, so that tests can make
// facts up. The names of the members are those of the JSON that the command prints.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace quorate {

/// A file that a run is to read or write, as one rank sees it.
struct FileFacts {
    std::string option;      // "data" or "trace"
    std::string path;        // as it was given
    std::string wrong = {};  // why it cannot be read or written; empty: it can
    std::int64_t bytes = 0;  // of the data set
    std::int64_t free = 0;   // bytes that are left where the trace is to be
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileFacts, option, path, wrong, bytes, free)

/// What PyTorch says in the process of a rank. All is empty unless Python runs the program.
struct TorchFacts {
    std::string version;            // empty: there is none
    std::string wrong;              // why it cannot be imported; empty: it can
    std::string platform;           // "CUDA 12.4", "ROCm 6.1"; empty: it was built for CPUs alone
    std::int64_t threads = 0;       // that the rank computes with while a run goes on
    std::vector<std::string> gpus;  // that it sees, by UUID; each is empty if that is not known
    std::int64_t takes = -1;        // where a worker would compute, a number of these; -1: the CPU
    std::int64_t installed = 0;     // GPUs of the host, whoever may use them
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TorchFacts, version, wrong, platform, threads, gpus, takes,
                                   installed)

/// What a rank says of itself and its host. Sizes are bytes; -1: there is no limit.
struct RankFacts {
    int rank = 0;
    std::string host;
    std::string program;              // its build
    std::string mpi;                  // the MPI library, with its version
    std::vector<std::string> mpis;    // whose libraries are loaded: mpich, openmpi
    std::vector<std::int64_t> cores;  // that it may use, ascending; each called by its first thread
    std::int64_t machine_cores = 0;   // of the whole host
    std::int64_t memory = 0, free_memory = 0;
    std::int64_t shm = 0, shm_free = 0;  // of /dev/shm
    bool shares = false;                 // whether memory of the host's first rank can be shared
    std::int64_t open_files = 0, open_files_limit = 0, open_files_most = 0;
    std::int64_t file_size_limit = -1;
    double clock_resolution = 0;  // seconds, of the monotonic clock
    std::string clock_source;
    double clock_ahead = 0;  // seconds, at least, by which its wall clock is ahead of rank 0's
    std::vector<FileFacts> files;  // of the first rank of each host
    TorchFacts torch;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFacts, rank, host, program, mpi, mpis, cores, machine_cores,
                                   memory, free_memory, shm, shm_free, shares, open_files,
                                   open_files_limit, open_files_most, file_size_limit,
                                   clock_resolution, clock_source, clock_ahead, files, torch)

/// A launcher in the PATH, and whose it is: mpich, openmpi or empty for not known.
struct LauncherFacts {
    std::string name, mpi;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LauncherFacts, name, mpi)

/// All of it.
struct DoctorFacts {
    std::string built_mpi;  // mpich or openmpi
    std::string launcher;   // of that MPI
    bool launched = false;  // whether a launcher has started it; else it is one process
    int size = 1;           // of the world
    std::string world;      // what is wrong with the world; empty: nothing
    bool resilient = false;
    int threads = 1;                       // of a rank
    double data_bytes = 0;                 // of all training rows in memory; 0: not known
    std::int64_t parameters = 0;           // of the model; 0: not known
    std::vector<LauncherFacts> launchers;  // on the coordinator's host
    std::vector<RankFacts> ranks;          // those that have answered, ascending
    std::vector<int> silent;               // those that have not
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DoctorFacts, built_mpi, launcher, launched, size, world,
                                   resilient, threads, data_bytes, parameters, launchers, ranks,
                                   silent)

/// The ranks of one host.
struct HostRanks {
    std::string host;
    std::vector<const RankFacts*> ranks;  // ascending, of the facts
};

/// Returns the hosts, in the order of their first ranks.
std::vector<HostRanks> hosts_of(const DoctorFacts& facts);

/// Returns them in words: "ranks 1-3", or "rank 1".
std::string spoken(const std::vector<std::int64_t>& ranks);

}  // namespace quorate
