// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/owner.hpp"
#include "base/seconds.hpp"
#include "run/checkpoint.hpp"
#include "trace/reader.hpp"

namespace quorate {

/// A run has lost what it cannot go on without, and is to go back to its newest checkpoint.
class GoBack : public Failure {
public:
    /// What was lost.
    struct Loss {
        std::string why;
        Seconds time;  // when it was seen, on the run's clock; 0: not known
        Seconds seen;  // the same on the host's
    };
    /// @param how  it can go on if it does not in this job
    GoBack(Loss loss, const std::string& how) : Failure(loss.why + how), loss_(std::move(loss)) {}
    const Loss& loss() const { return loss_; }

private:
    Loss loss_;
};

/// A run that is to go on: its checkpoint, and its trace up to the checkpoint.
struct Resumption {
    Checkpoint checkpoint;
    trace::Trace trace;
    bool completed = false;  // all rounds are done; then the members above and below are empty
    /// The workers with which the run goes on, by their numbers, ascending. Those that took part at
    /// the checkpoint stay as far as there are places; then those come back that were gone, then
    /// new ones come.
    std::vector<Worker> here = {};
    /// Rounds that the trace had beyond the checkpoint, and its time then.
    std::int64_t rounds = 0;
    Seconds time = 0;
    /// Why it goes back to the checkpoint in the same job, if it does. What it did since is lost,
    /// but the time that this took counts.
    std::optional<GoBack::Loss> loss = {};

    /// How many workers the run has had, those that are new now included.
    int workers() const
    {
        return std::max(static_cast<int>(trace.workers.size()), here.back() + 1);
    }
    /// When the run goes on, on its clock.
    Seconds begins() const;
    /// Returns what the engine resumes from. Reads the points.
    /// @param share  of the parameters that it has; none: all
    Past past(const std::optional<ShareRange>& share = {}) const;
};

/// Reads the slice of a vector of a checkpoint, of which an engine has so many elements: all of it,
/// or where these are fewer those of its share.
std::vector<double> slice_of(const StoredVector& whole, std::size_t elements,
                             const std::optional<ShareRange>& share);

/// Returns a state that ranks of this job have in memory: with each call an older one, first the
/// newest; none: there is no other.
using NextState = std::function<std::optional<Checkpoint>()>;

/// Checks the files of a run before any work, and reads what it goes on from. Tells the user
/// whether the run is complete, goes on or begins. Coordinator only. O(size of the trace and the
/// checkpoint).
/// @param owner  becomes that of the trace before it is read
/// @param next   states that may be newer than the checkpoint in the file; empty: there are none
/// @return nothing if the run begins: --resume is not given, there is no checkpoint yet, or it is a
///         dry run that is not complete
/// @throws BadInput if the options, the data and the files are not those of one run; if a file
///         cannot be written; if a trace or checkpoint that is worth keeping would be replaced; or
///         if no code exists for the workers that are there
std::optional<Resumption> resumption(const Settings& settings, const Training& training,
                                     std::unique_ptr<Owner>& owner, const NextState& next = {});

/// Returns how many workers the run of these files began with; none: there is no checkpoint that it
/// can go on from and it is not complete, or its trace cannot be read, as resumption() will say.
/// @param in_memory  whether there is a state in memory that it can go on from
std::optional<int> began_with(const std::string& trace, const std::string& checkpoint,
                              bool in_memory);

/// Returns the effective options of a run as INI text, with which the run can be made again.
/// Options that nothing reads are left out.
/// @param dry  whether options of data are left out too
std::string configuration(const Settings& settings, bool dry);

}  // namespace quorate
