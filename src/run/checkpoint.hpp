// SPDX-License-Identifier: BSD-2-Clause
// Checkpoints: what a stopped or killed run needs beside its trace to go on. A checkpoint is an
// HDF5 file:
//
//   /                format = "quorate checkpoint", format_version = 1, quorate_version,
//                    config (INI), data (identity_of() the data set), event, round
//   /position        number of rows of each table of the trace
//   /point/versions  the versions of the points that follow
//   /point/V         the point of version V
//   /optimizer/M     updates; vectors 0, 1, ... of model M's optimiser; its state, if it has one
//   /last_estimate   only if the scheme compares successive estimates
//   /arrival, /item  rows of contributions that are still in use; the trace lists them later
//
// A line with the SHA-256 of the HDF5 data stands at the end of the file, behind these data.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/snapshot.hpp"
#include "run/training.hpp"
#include "trace/writer.hpp"

namespace quorate {

/// Returns the options --checkpoint, --checkpoint-every and --resume.
std::vector<Option> checkpoint_options();

/// The time between two checkpoints.
struct Interval {
    double seconds;       // on the wall clock; not used if `rounds` is not 0
    std::int64_t rounds;  // 0: the interval is one of time
};
/// Reads --checkpoint-every. The default is 60 seconds. @throws BadInput if it is no interval
Interval interval_of(const Settings& settings);

/// A vector of a checkpoint, which may be so long that it stays in the file.
struct StoredVector {
    std::size_t size;
    /// Reads some elements. Holds libraries() meanwhile.
    std::function<std::vector<double>(std::size_t first, std::size_t count)> read;
};

/// A checkpoint as read, but for long vectors. Its file stays open.
struct Checkpoint {
    std::string path;   // of the file that was read: FILE or FILE.1
    Snapshot snapshot;  // its own `points` are empty; the member below holds them
    std::map<Version, StoredVector> points;
    /// What an optimiser remembers.
    struct Memory {
        std::int64_t updates;
        std::vector<StoredVector> vectors;  // as Optimizer::memory() orders them
        std::string state;
    };
    std::vector<Memory> optimizers;  // by model

    /// Gives up the vectors, and what holds them: a run that has begun to go on needs them no more.
    void drop_vectors()
    {
        points.clear();
        optimizers.clear();
        snapshot.last_estimate.clear();
    }
};

/// Reads the newest whole checkpoint of those that --checkpoint names: FILE, or else FILE.1. Logs
/// an error if it has to take FILE.1. Local. Reads the file twice: for its SHA-256, and for its
/// values.
/// @param config  of this run, as configuration() gives it
/// @return nothing if neither file exists
/// @throws BadInput if none is whole; if it is no checkpoint, or that of another version of
///         Quorate; or if it is that of another run: then the message says what differs
std::optional<Checkpoint> read_checkpoint(const Settings& settings, const Training& training,
                                          const std::string& config);

/// Returns the vectors of a checkpoint: the points, the last estimate, and the memory of the
/// optimisers. Copies all but the points.
std::vector<StateVector> vectors_of(const Snapshot& snapshot, const Optimizers& optimizers);

/// Returns the name under which the checkpoint before is kept: FILE.1.
std::string older(const std::string& path);

/// Whether FILE or FILE.1 exists. Does not read them.
bool has_checkpoint(const std::string& path);

/// Returns the options of a run that neither its resumption nor another rank may change, by name.
/// @param config  as configuration() gives it
std::map<std::string, std::string> lasting_options(const std::string& config);

/// Checks that a file is of the run that is to go on. Options that may change between a run and its
/// resumption are not compared. Local.
/// @param path    the checkpoint or trace, for the message
/// @param option  the option that named the file, for the message
/// @param config  configuration() of the run of the file
/// @param ours    configuration() of the run that is to go on
/// @throws BadInput with the first option that differs
void check_same_run(const std::string& path, const std::string& option, const std::string& config,
                    const std::string& ours);

/// Joins vectors as Fleet::join_vectors() does.
using JoinVectors = std::function<void(const std::vector<StateVector>&, const TakePiece&)>;

/// Writes checkpoints while a run goes on. The thread that writes the trace writes the files too,
/// so that no round waits for the disk. A checkpoint that cannot be written is reported at most
/// once a minute, and the run goes on. Coordinator only.
class Checkpointing {
public:
    /// Reads --checkpoint and --checkpoint-every.
    /// @param training, optimizers, trace  must outlive this object
    /// @param config                       configuration() of the run
    /// @param join                         makes vectors whole
    /// @throws BadInput as interval_of()
    Checkpointing(const Settings& settings, const Training& training, const Optimizers& optimizers,
                  const std::string& config, trace::Writer& trace, JoinVectors join);

    /// Remembers where the run stands after an update. Writes a checkpoint of it if one is due; the
    /// state after 0 rounds is never due, and none is while another one's vectors are joined.
    void stands(Snapshot snapshot);
    /// Has a checkpoint written of the last snapshot that stands() got, when its vectors are
    /// joined. Returns before the file is written. Copies the snapshot and the vectors of all
    /// optimisers, which must not have changed since that snapshot.
    /// @return false, and writes nothing, if stands() was not called yet
    bool write();
    /// Whether one was written since the run began or went on.
    bool has_written() const;

private:
    class Job;
    struct Outcome;
    const Training& training_;
    const Optimizers& optimizers_;
    std::string config_, data_;
    trace::Writer& trace_;
    std::string path_;
    Interval every_;
    Seconds written_;  // when the last checkpoint was begun, on the wall clock
    std::int64_t written_round_ = 0;
    std::optional<Snapshot> last_;
    JoinVectors join_;
    bool joining_ = false;  // the vectors of a checkpoint
    std::shared_ptr<Outcome> outcome_;
};

}  // namespace quorate
