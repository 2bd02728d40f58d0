// SPDX-License-Identifier: BSD-2-Clause
// Checkpoints: what a stopped or killed run needs beside its trace to go on.
//
//   /             format = "quorate checkpoint", format_version = 1, quorate_version, config (INI), data,
//                 workers, event, round
//   /position     rows of each table of the trace
//   /point/V      the point of version V
//   /optimizer/M  updates; vectors 0, 1, ... of model M's optimiser
//   /last_estimate  if the scheme compares successive estimates
//   /arrival, /item  rows that the trace lists later
//
// Behind the HDF5 file stands a line with its SHA-256.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/training.hpp"
#include "engine/snapshot.hpp"
#include "trace/writer.hpp"

namespace quorate {

/// --checkpoint, --checkpoint-every and --resume.
std::vector<Option> checkpoint_options();

/// --checkpoint-every: seconds on the wall clock, or rounds if those are not 0. @throws BadInput
struct Interval {
    double seconds;
    std::int64_t rounds;
};
Interval interval_of(const Settings& settings);

/// A checkpoint as read.
struct Checkpoint {
    std::string path;   // the generation that it is
    Snapshot snapshot;  // without points
    std::map<Version, std::vector<double>> points;
    struct Memory {
        std::int64_t updates;
        std::vector<std::vector<double>> vectors;
    };
    std::vector<Memory> optimizers;
};

/// The newest checkpoint under that name that is whole; says so if that is the older generation.
/// @return nothing if there is none at all
/// @throws BadInput if none is whole, or it is that of another run: with what differs
std::optional<Checkpoint> read_checkpoint(const Settings& settings, const Training& training,
                                          const std::string& config);

/// The name of the checkpoint before.
std::string older(const std::string& path);

/// Whether there is a file of that name, or of the generation before.
bool has_checkpoint(const std::string& path);

/// @param path    a checkpoint or trace  @param option  that named it
/// @param config  of its run  @param ours  of the one that is to go on: both as configuration() gives them
/// @throws BadInput with what differs, if that matters
void check_same_run(const std::string& path, const std::string& option, const std::string& config,
                    const std::string& ours);

/// Writes checkpoints as the run goes on.
class Checkpointing {
public:
    /// @param config  what the run can be given again
    Checkpointing(const Settings& settings, const Training& training, const Optimizers& optimizers,
                  const std::string& config, trace::Writer& trace);

    /// The run stands here. Writes it down if it is time.
    void stands(Snapshot snapshot);
    /// Writes down where the run stood last. @return whether there is anything to write
    bool write();

private:
    struct Job;
    struct Warning;
    const Training& training_;
    const Optimizers& optimizers_;
    std::string config_, data_;
    trace::Writer& trace_;
    std::string path_;
    Interval every_;
    Seconds written_;  // when, on the wall clock
    std::int64_t written_round_ = 0;
    std::optional<Snapshot> last_;
    std::shared_ptr<Warning> warning_;
};

}  // namespace quorate
