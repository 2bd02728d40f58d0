// SPDX-License-Identifier: BSD-2-Clause
// The language between schemes and the engine: what a worker can be asked, what a scheme wants done
// (actions), what it is told (events). Metadata only: no vectors, no MPI, no clock.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace quorate {

using Worker = int;                   // 0..n-1, the index in the code; the fleet maps it to a rank
using Seconds = double;               // the fleet's clock, from the first dispatch
using Version = std::int64_t;         // numbers the published points, from 0
using TaskId = std::int64_t;          // chosen by the scheme, ascending, never used twice
using ContributionId = std::int64_t;  // given by the engine, ascending

/// Versions named together: mostly one, and then no memory is allocated.
using Versions = boost::container::small_vector<Version, 1>;

inline constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

/// Rows [first, first + count) of the training split.
struct Rows {
    std::int64_t first = 0, count = 0;
    bool operator==(const Rows&) const = default;
};

/// A partition, or in coded storage a weighted sum of such sets.
using Block = Rows;

// ---- what a worker is asked -------------------------------------------------------------------

/// Sum over the rows of a block of the sample gradients at one input, times a coefficient (B_ij).
struct Item {
    int block;
    int input = 0;  // index into Dispatch::inputs
    double coefficient = 1;
};

/// The sum of its items is one contribution. Items are summed in the order given, which is ascending
/// by block, so that replicas agree to the last bit.
struct Part {
    std::vector<Item> items;
};

/// Immutable, shared by rounds and workers.
struct Plan {
    std::vector<Part> parts;
    bool each_when_ready = false;  // a message for each part; else all parts in one message
};

// ---- actions: carried out in the order given --------------------------------------------------

/// Gives a worker a task.
struct Dispatch {
    TaskId task;
    Worker worker;
    std::shared_ptr<const Plan> plan;
    Versions inputs;    // all points that the plan needs: a task is self-contained
    std::int64_t draw;  // key of delay and samples
    enum class Begin { now, after } begin = Begin::now;  // replaces the running task, or follows it
};

/// Cancel what runs, release what came, discard what still comes, of tasks first..last. Never waits.
struct Close {
    TaskId first, last;
};

struct Term {
    ContributionId contribution;
    double weight = 1;
};

/// estimate = sum of weighted contributions / divisor -> optimiser -> next version.
struct Step {
    std::vector<Term> terms;
    double divisor;    // the scheme knows the scaling: what turns the sum into a mean over all rows
    double error;      // ||B^T a - 1||^2 of this decode
    double scale = 1;  // of the step size
};

/// A Deadline event at that time; replaces a pending one of that number; never: none.
struct SetTimer {
    int timer;
    Seconds at;
};

/// No decode is possible any more.
struct Stuck {
    std::string why;
};

using Action = std::variant<Dispatch, Close, Step, SetTimer, Stuck>;

// ---- events -----------------------------------------------------------------------------------

struct Contribution {
    ContributionId id;
    Worker worker;
    TaskId task;
    int part;
    std::int64_t draw;
    std::int64_t samples;    // rows that went into it
    Version oldest, newest;  // of the points that its items were taken at
    // Measured by the engine, if Needs asks:
    std::uint64_t fingerprint = 0;  // equal for payloads that are equal bit by bit
    double projection = 0;          // inner product with a random vector that no worker knows
};

/// The first event, with the workers that take part.
struct Start {
    std::vector<Worker> active;
};

/// One message.
struct Arrived {
    std::vector<Contribution> contributions;
};

struct Deadline {
    int timer;
};

/// A Step is done and the point `version` is published.
struct Stepped {
    Version version;
    double inner_with_last = 0;  // of this estimate and the one before, if Needs asks; first: 0
};

using Event = std::variant<Start, Arrived, Deadline, Stepped>;

}  // namespace quorate
