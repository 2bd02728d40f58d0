// SPDX-License-Identifier: BSD-2-Clause
// The language between schemes and the engine: what a worker can be asked, what a scheme wants done
// (actions), what it is told (events). Metadata only: no vectors, no MPI, no clock.
// Times are those of the fleet's clock, from the first dispatch.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/seconds.hpp"

namespace quorate {

using Worker = int;                   // 0..n-1, the index in the code; the fleet maps it to a rank
using Version = std::int64_t;         // numbers the published points, over all models, from 0
using TaskId = std::int64_t;          // chosen by the scheme, ascending, never used twice
using ContributionId = std::int64_t;  // given by the engine, ascending

/// Versions named together: mostly one, and then no memory is allocated.
using Versions = boost::container::small_vector<Version, 1>;

/// Rows [first, first + count) of the training split.
struct Rows {
    std::int64_t first = 0, count = 0;
    bool operator==(const Rows&) const = default;
};

/// A partition, or in coded storage a weighted sum of such sets.
using Block = Rows;

// ---- what a worker is asked -------------------------------------------------------------------

/// What is done with the rows of a block, times a coefficient (B_ij).
struct Item {
    enum class Operation : std::int32_t {
        gradient,  // the sum of their gradients at one input
        cached,  // the same, cached by the worker at whatever version; of a part's items the oldest
                 // is computed anew, and those that the worker does not have yet
        descent,  // how far steps on batches of the block lead away from the input
        // Of coded blocks and linear models, without coefficient:
        product,            // rows times the input: an element for each row and output
        transpose_product,  // the transpose of rows times an operand, of which such items take one
                            // after the other what their rows need
        column_product      // coded columns times a whole operand: an element for each and output
    };
    int block;
    int input = 0;  // index into Dispatch::inputs, and behind them into its operands
    double coefficient = 1;
    Operation operation = Operation::gradient;
    Rows rows = {};  // of products: those of the coded block, or its columns
    bool is_product() const { return operation >= Operation::product; }
};

/// The sum of its items is one contribution; products stand one behind the other. Items are summed in
/// the order given, which is ascending by block, so that replicas agree to the last bit.
struct Part {
    std::vector<Item> items;
};

/// Immutable, shared by rounds and workers.
struct Plan {
    std::vector<Part> parts;
    bool each_when_ready = false;  // a message for each part; else all parts in one message
};

/// How much of its block a part with one item computes: by default its share of the batch.
struct Budget {
    std::int64_t samples = 0;  // so many (descent: steps); 0: as many as there is time for, or the
                               // share of the batch if there is no limit of time
    Seconds seconds = never;   // from the moment the worker begins, its delay included
    std::int64_t micro_batch = 0;  // samples that are computed as a whole; 0: those of a chunk
    bool limited() const { return samples > 0 || seconds != never; }
    bool operator==(const Budget&) const = default;
};

/// Of a task that is keyed by its worker's own count of tasks.
inline constexpr std::int64_t own_count = -1;

/// Elements of the formed vector, times a weight. Rows behind its end are zeros.
struct Slice {
    Rows rows;
    double weight;
};
/// A sum of slices of equal length. An operand is such pieces, one behind the other.
using Piece = std::vector<Slice>;
using Operand = std::vector<Piece>;

// ---- actions: carried out in the order given --------------------------------------------------

/// Gives a worker a task.
struct Dispatch {
    TaskId task;
    Worker worker;
    std::shared_ptr<const Plan> plan;
    Versions inputs;  // all points that the plan needs: a task is self-contained
    std::shared_ptr<const std::vector<Operand>> operands =
        {};  // of products; formed when it is given
    /// Key of the delay; samples are keyed by the version of their point. own_count: of both.
    std::int64_t draw;
    enum class Begin { now, after } begin = Begin::now;  // replaces the running task, or follows it
    Budget budget = {};
    bool repeat = false;  // again at once, until another task follows
    double step = 0;      // of descent; the engine fills it in
};

/// Cancel what runs, release what came, discard what still comes, of tasks first..last. Never waits.
/// A contribution lives until its task is closed or a step has used it.
struct Close {
    TaskId first, last;
};

struct Term {
    ContributionId contribution;
    double weight = 1;
};

/// Rows of a product, counted in the contribution, and where they belong among the training rows; or
/// columns likewise. What lies behind the last one is left out.
struct Placed {
    ContributionId contribution;
    double weight;
    Rows from;
    std::int64_t at;
};

/// The scores of all training rows are the sum of these, and the derivatives of the losses by the scores
/// are the formed vector, until the next step.
struct Combine {
    std::vector<Placed> terms;
};

/// estimate = sum of weighted contributions / divisor -> optimiser -> next version.
struct Step {
    std::vector<Term> terms;
    double divisor;    // the scheme knows the scaling: what turns the sum over samples into a mean
    double error;      // ||B^T a - 1||^2 of this decode
    double scale = 1;  // of the step size
    double share = 1;  // of the samples of a whole batch: schedules of step sizes count these
    int model = 0;
    bool displacement = false;        // the estimate is added to the model as it is
    std::int64_t waste = 0;           // rows that changed hands before this round without need
    std::vector<Placed> placed = {};  // contributions to some columns only
};

/// A Deadline event at that time; replaces a pending one of that number; never: none.
struct SetTimer {
    int timer;
    Seconds at;
};

/// For the user, once.
struct Note {
    std::string text;
};

/// No decode is possible any more with those who are left.
struct Undecodable {
    std::string why;
};

using Action = std::variant<Dispatch, Close, Combine, Step, SetTimer, Note, Undecodable>;

// ---- events -----------------------------------------------------------------------------------

struct Contribution {
    ContributionId id;
    Worker worker;
    TaskId task;
    int part;
    std::int64_t draw;
    std::int64_t samples;    // rows that went into it (descent: steps); 0 if time was too short
    Version oldest, newest;  // of the points that its items were taken at
    Seconds delay = 0, compute = 0;  // measured at the worker
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
    int model = 0;
    double inner_with_last = 0;  // of this estimate and the one before, if Needs asks; first: 0
};

/// All who are left have answered, and no timer runs: what the scheme waits for cannot come. It may go on
/// with what it has; else the round is undecodable.
struct Quiescent {};

// Told only to schemes whose Needs ask for membership. To all others a worker that is lost is one that
// does not answer, and one that joins again is one that was late: it gets its newest task once more.

/// It left, or died. What came from it before stays valid; nothing more comes.
struct WorkerLost {
    Worker worker;
};

struct WorkerJoined {
    Worker worker;
};

using Event = std::variant<Start, Arrived, Deadline, Stepped, Quiescent, WorkerLost, WorkerJoined>;

}  // namespace quorate
