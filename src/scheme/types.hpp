// SPDX-License-Identifier: BSD-2-Clause
// The language between schemes and the engine: what a worker can be asked, what a scheme wants done
// (actions), and what it is told (events). It is metadata only: no vectors, no MPI, no clock.
// Times are seconds on the fleet's clock, from the first dispatch.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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

/// Versions that are named together. Mostly there is one, and then no memory is allocated.
using Versions = boost::container::small_vector<Version, 1>;

/// Rows [first, first + count) of the training split.
struct Rows {
    std::int64_t first = 0, count = 0;
    bool operator==(const Rows&) const = default;
};

/// What a scheme calls the rows that a worker stores: a partition. Coded blocks, which are weighted
/// sums of such sets, stand beside them (CodedBlock in scheme/scheme.hpp).
using Block = Rows;

// ---- what a worker is asked -------------------------------------------------------------------

/// What a worker does with the rows of a block; the result is multiplied with a coefficient (B_ij).
struct Item {
    enum class Operation : std::int32_t {
        gradient,  // the sum of their gradients at one input
        cached,    // the same, but the worker caches it, at whatever version. A part computes the
                   // gradients that the worker does not have, or else the oldest of its items
        held,      // the same, but one that the worker holds (Part::held) is not computed again
        descent,   // how far steps on batches of the block lead away from the input
        // For coded blocks and linear models, without coefficient:
        product,            // rows times the input: an element for each row and output
        transpose_product,  // the transpose of rows times an operand; the items of a part take
                            // consecutive pieces of the operand, as long as their rows
        column_product      // coded columns times a whole operand: an element for each column and
                            // output
    };
    int block;
    int input = 0;  // index into Dispatch::inputs; behind these count its operands
    double coefficient = 1;
    Operation operation = Operation::gradient;
    Rows rows = {};  // of products: those of the coded block, or its columns
    bool is_product() const { return operation >= Operation::product; }
};

/// What one contribution is made of: the sum of its items, or for products the items one behind the
/// other. Items are summed in the order given. That is ascending by block where replicas are to
/// agree to the last bit.
struct Part {
    std::vector<Item> items;
    /// Folds the gradients of p elements: instead of a multiple of its gradient g, an item yields
    /// the q = ceil(p / m) elements sum_u fold[u] g[u q .. (u + 1) q) of the m pieces of g, zeros
    /// behind its end. These are the coefficients, m for each item. Empty: gradients are whole.
    std::vector<double> fold = {};
    /// The worker holds the gradient of each item and sends the head of its message only. A later
    /// task gets them in what sum it wants, by items that are `held`: those the worker has lost it
    /// computes then. It holds gradients of the points that the newest task with such parts names;
    /// samples are keyed by the point.
    bool held = false;
};

/// The parts of a task. Immutable; rounds and workers share it.
struct Plan {
    std::vector<Part> parts;
    bool each_when_ready = false;  // a message for each part; else all parts in one message
};

/// How much of its block a part with one item computes. By default that is its share of the batch.
/// A part of several items, which are not folded, can have a limit of seconds only: it computes the
/// items in their order, and the one that time cuts off does not count.
struct Budget {
    std::int64_t samples = 0;  // how many (descent: steps); 0: as many as there is time for, or the
                               // share of the batch if there is no limit of time
    Seconds seconds = never;   // from the moment the worker begins, its delay included
    std::int64_t micro_batch = 0;  // samples that are computed as a whole; 0: those of a chunk
    bool limited() const { return samples > 0 || seconds != never; }
    bool operator==(const Budget&) const = default;
};

/// The draw of a task that is keyed by its worker's own count of tasks.
inline constexpr std::int64_t own_count = -1;

/// Elements of the formed vector (Combine), times a weight. Rows behind its end count as zeros.
struct Slice {
    Rows rows;
    double weight;
};
/// A sum of slices of equal length. An operand is made of such pieces, one behind the other.
using Piece = std::vector<Slice>;
using Operand = std::vector<Piece>;

/// When a worker runs a task, for how long and how often.
struct TaskControl {
    /// Key of the delay; samples are keyed by the version of their point. own_count: the worker's
    /// own count of tasks keys both.
    std::int64_t draw = 0;
    enum class Begin { now, after } begin = Begin::now;  // replaces the running task, or follows it
    bool repeat = false;  // again at once, until another task follows
    Budget budget = {};
    double step = 0;  // of descent; the engine fills it in
    bool follows() const { return begin == Begin::after; }
    /// The draw that does not depend on the worker; nothing: its own count is the key.
    std::optional<std::int64_t> shared_draw() const
    {
        return draw == own_count ? std::nullopt : std::optional(draw);
    }
    /// Whether the task takes the place of one that waits to be sent: the latest task wins, but one
    /// that follows others replaces only those that would repeat.
    bool replaces(const TaskControl& waiting) const { return !follows() || waiting.repeat; }
    /// Returns the key of the samples of an item.
    /// @param counted  the draw, as the worker has counted it if its own count is the key
    /// @param point    version of the point that the item is taken at
    std::int64_t key(std::int64_t counted, Version point) const
    {
        return draw == own_count ? counted : point;
    }
    bool operator==(const TaskControl&) const = default;
};

/// Which state of its worker a task begins with (of the optimiser of its local steps, or of what
/// compressed contributions lack), and what it leaves. The states that one worker keeps have the
/// numbers of the tasks that left them.
struct LocalState {
    TaskId after = -1;  // the state to go on from; -1: none, it begins anew
    TaskId kept = std::numeric_limits<TaskId>::max();  // later tasks may name states from here on
    bool operator==(const LocalState&) const = default;
};

// ---- actions: carried out in the order given --------------------------------------------------

/// Gives a worker a task.
struct Dispatch {
    TaskId task;
    Worker worker;
    std::shared_ptr<const Plan> plan;
    Versions inputs;  // all points that the plan needs: a task is self-contained
    std::shared_ptr<const std::vector<Operand>> operands =
        {};  // of products; formed when it is given
    TaskControl control;
    LocalState local = {};  // the engine fills it in
};

/// Closes tasks first..last: cancels those that run, releases contributions that have come, and
/// discards those that still come. Never waits. A contribution lives until its task is closed or a
/// step has used it without keeping it.
struct Close {
    TaskId first, last;
};

/// A contribution in a weighted sum.
struct Term {
    ContributionId contribution;
    double weight = 1;
    bool keep = false;  // it outlives the step, until its task is closed
};

/// Contributions that are named together. Mostly there is one, and then no memory is allocated.
using ContributionIds = boost::container::small_vector<ContributionId, 1>;

/// Fills a slot of the table, whose sum steps may add (Step::table): from now on the slot holds
/// these, ascending by task and part, each times the weight, in place of what it held. A
/// contribution is in one slot at most, outlives steps there, and leaves it when its task is
/// closed. A step then costs what has changed, not what is there; so neighbours are best filled
/// together.
struct Fill {
    int slot;  // 0..Needs::slots-1
    double weight;
    ContributionIds contributions;
};

/// Where rows of a product belong among the training rows; or columns likewise. Rows that would lie
/// behind the last training row are left out.
struct Placed {
    ContributionId contribution;
    double weight;
    Rows from;        // counted in the contribution
    std::int64_t at;  // the training row at which the first of them belongs
};

/// Adds these up to the scores of all training rows. The derivatives of the losses by the scores
/// are then the formed vector, until the next step.
struct Combine {
    std::vector<Placed> terms;
};

/// Makes an update: estimate = sum of weighted contributions / divisor, or what a rule makes of
/// them in its place (Needs::aggregator). The optimiser turns it into the point of the next
/// version.
struct Step {
    std::vector<Term> terms;
    double divisor;    // turns the weighted sum over samples into a mean
    double error;      // ||B^T a - 1||^2 of this decode
    double scale = 1;  // of the step size
    double share = 1;  // of the samples of a whole batch: schedules of step sizes count these
    int model = 0;
    /// Contributions are displacements by local steps. The estimate is their mean with its sign
    /// turned, as a gradient of which the optimiser makes a step of size `scale`.
    bool displacement = false;
    std::int64_t waste = 0;           // rows that changed hands before this round without need
    std::vector<Placed> placed = {};  // contributions that hold some columns of the gradient only
    bool table = false;               // the sum of the table is added too
};

/// Asks for a Deadline event. Replaces a pending one of the same timer.
struct SetTimer {
    int timer;   // its number, chosen by the scheme
    Seconds at;  // never: none
};

/// Tells the user something, once.
struct Note {
    std::string text;
};

/// No decode is possible any more with the workers that are left.
struct Undecodable {
    std::string why;
};

using Action = std::variant<Dispatch, Close, Fill, Combine, Step, SetTimer, Note, Undecodable>;

// ---- events -----------------------------------------------------------------------------------

/// What a worker says of a contribution, beside its values. It measures the durations.
struct ContributionInfo {
    Worker worker;
    int part;
    TaskId task;
    std::int64_t draw;       // of its task; the worker's own count, if the task is keyed by it
    std::int64_t samples;    // rows that went into it (descent: steps); 0 if time was too short
    Version oldest, newest;  // of the points that its items were taken at
    int items = 0;  // of a part of several items with a limit of seconds: those it is made of
    Seconds compute = 0, delay = 0;
    Seconds idle = 0;  // before its task
    Seconds send = 0;  // what the worker's message before took to leave
};

/// A contribution as a scheme sees it: without its vector.
struct Contribution : ContributionInfo {
    ContributionId id;
    // On the fleet's clock, as the trace has them, so that a replay tells the same: when its task
    // was sent, and when it came.
    Seconds sent = 0, arrived = 0;
    // Measured by the engine, if Needs asks:
    std::uint64_t fingerprint = 0;  // equal for payloads that are equal bit by bit
    double projection = 0;          // inner product with a random vector that no worker knows
};

/// The first event. It names the workers that take part.
struct Start {
    std::vector<Worker> active;
};

/// A message of one worker has come.
struct Arrived {
    std::vector<Contribution> contributions;
};

/// The time of a timer has come.
struct Deadline {
    int timer;
};

/// A Step is done and the point `version` is published.
struct Stepped {
    Version version;
    int model = 0;
    double inner_with_last = 0;  // inner product with the estimate before, if Needs asks; first: 0
};

/// All workers that are left have answered, and no timer runs: what the scheme waits for cannot
/// come. It may go on with what it has. If it does not, the round is undecodable.
struct Quiescent {};

// The following events are told only to schemes whose Needs ask for membership. To all other
// schemes a lost worker is one that does not answer, and a worker that joins again is one that was
// late: it gets its newest task once more.

/// A worker has left or died. What came from it before stays valid; nothing more comes.
struct WorkerLost {
    Worker worker;
};

/// A worker takes part from now on.
struct WorkerJoined {
    Worker worker;
};

using Event = std::variant<Start, Arrived, Deadline, Stepped, Quiescent, WorkerLost, WorkerJoined>;

}  // namespace quorate
