// SPDX-License-Identifier: BSD-2-Clause
// One run whose workers are ranks: processes that mpiexec or srun has started, or else threads of
// this process.
#pragma once

#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "commands/thread_run.hpp"
#include "trace/trace.hpp"

namespace quorate {

/// Trains, and writes the trace. Rank 0 is the coordinator. Collective over all processes that the
/// launcher started; without a launcher, as run_on_threads(). Ends the process itself, without
/// returning, if the run is resilient or if MPI_Finalize would wait for ranks that have died.
/// @return the exit status of this rank; bad input and failures of the coordinator are logged
/// @throws mpi::Error if MPI fails  @throws BadInput, Failure  on a worker, for its own errors
/// @throws Failure as supervise()
int run_with_trace(const Settings& settings);

/// As run_with_trace(), for programs that go on afterwards: it returns, and if ranks have died,
/// end_mpi() leaves without MPI_Finalize.
int run_and_return(const Settings& settings);

/// As run_with_trace(), on threads of this process. Local.
/// @throws BadInput as ranks_to_start()  @throws what a rank has thrown
int run_on_threads(const Settings& settings, const ThreadRanks& ranks = {});

/// On a worker: the coordinator has found the input wrong, and says why there.
class RefusedRun : public BadInput {
public:
    using BadInput::BadInput;
};

/// Trains, writes no file and prints nothing; may be called again. Rank 0 is the coordinator.
/// Collective over MPI_COMM_WORLD; in a world of one process the ranks are threads.
/// @param settings  with all of run_options(); on threads --workers is needed
/// @return the trace on the coordinator; nothing on the others
/// @throws BadInput on the coordinator if the input is wrong, and RefusedRun on the others;
///         BadInput on one alone if it cannot read its rows
/// @throws Failure on the rank that fails; on all ranks if the coordinator fails while it prepares
///         the run
std::optional<trace::Trace> run_in_memory(const Settings& settings);

}  // namespace quorate
