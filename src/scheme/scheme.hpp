// SPDX-License-Identifier: BSD-2-Clause
// A scheme decides who computes what, when to stop waiting, and what to do with late answers. It is
// a state machine over the events and actions of types.hpp: it knows no MPI, no vectors and no
// clock.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "aggregator/aggregator.hpp"
#include "base/typed_entry.hpp"
#include "scheme/round_end.hpp"
#include "scheme/tree.hpp"
#include "scheme/types.hpp"

namespace quorate {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// A weighted sum, row by row, of sets of training rows; or, column by column, of sets of their
/// columns. Shorter sets count as zeros at their end.
struct CodedBlock {
    struct Term {
        Rows rows;
        double weight;
    };
    std::int64_t rows;
    std::vector<Term> terms;
};

/// What a scheme needs of the engine. It does not change during a run.
struct Needs {
    std::vector<Block> blocks;                   // sets of training rows, by number
    std::vector<std::vector<int>> shard;         // for each worker, the blocks it stores, ascending
    std::vector<CodedBlock> coded;               // of coded storage: worker i stores block i
    std::vector<CodedBlock> coded_columns = {};  // likewise, of the columns of all training rows
    int models = 1;                              // their first points are versions 0..models-1
    bool limits_time = false;                    // tasks end with their time: rows must take some
    bool displaces = false;                      // workers make steps of their own
    bool places = false;  // steps place contributions, all of which must come to the coordinator
    bool membership = false;  // it is told who leaves and who joins
    bool exact = false;  // every estimate is that of all rows, or of the batch, at the newest point
    int answers = 0;     // that a step adds up, about; 0: one of each worker
    std::int64_t kept =
        0;  // contributions that outlive steps (Term::keep, Fill), at a time at most
    std::int64_t points = 0;         // that the tasks of these hold, at a time at most; 0: one each
    int slots = 0;                   // of the table (Fill)
    double staleness = 0;            // expected of contributions, in updates
    double stable_step = unlimited;  // largest step size that converges on a quadratic, times the
                                     // largest curvature
    // Whether the engine is to measure these of vectors, which the scheme never sees.
    bool fingerprint = false, projection = false, inner_product = false;
    /// Makes estimates of contributions, all of which must come to the coordinator, in place of the
    /// mean that a step's weighted sum / divisor is. Null: estimates are these.
    SharedAggregator aggregator = {};
    int tolerated = 0;  // false ones among them, at most

    /// Points that kept contributions hold at a time, at most.
    std::int64_t points_of_kept() const { return points > 0 ? std::min(points, kept) : kept; }
    /// Whether the last estimate is needed for the next one.
    bool looks_back() const { return inner_product || (aggregator && aggregator->looks_back()); }
};

/// A protocol, as a state machine.
class Scheme {
public:
    virtual ~Scheme() = default;
    virtual Needs needs() const = 0;
    /// A warning for the user about what is not promised for these parameters; empty: there is
    /// none.
    virtual std::string warning() const { return ""; }
    /// Handles an event. Pure: what it does depends only on its state, the event and `now`.
    /// @param now  point in time on the fleet's clock, seconds
    /// @param out  receives the actions, in the order in which they are to be carried out
    virtual void handle(const Event& event, Seconds now, std::vector<Action>& out) = 0;
    /// A hint that a contribution of this worker may come soon: what the scheme will look at can be
    /// fetched into the cache. Nothing else may follow from it.
    virtual void fetch_ahead(Worker) const {}
};

/// What a scheme is made for.
struct Problem {
    int workers;
    std::int64_t rows;       // of the training split
    std::uint64_t seed = 0;  // of random codes
    std::int64_t batch = 0;  // samples of a round, over all blocks; 0: all rows
    Seconds row_time = 0;    // that a worker takes for a row at least
    bool dense = true;       // whether the data are
    std::int64_t columns = 0;
    std::int64_t parameters = 0;  // of the model; of a dry run, the columns
};

/// Makes a scheme.
/// @throws BadInput, with the nearest valid values, if the scheme cannot work with these settings
using MakeScheme = std::function<std::unique_ptr<Scheme>(const Settings&, const Problem&)>;

/// How often a scheme updates whose updates are many and of old gradients.
struct Pace {
    double updates;  // while each worker answers once, on average
    /// Nobody ever waits and all answers count: updates come a task's mean time / updates apart.
    bool steady = false;
};

/// What a scheme says of itself, so that advice, reports and tests need no list of schemes.
/// @tparam Given  the options: a struct, or Settings
template <class Given>
struct SchemePropertiesWith {
    /// What `quorate advise` tries with so many workers; none: the scheme is not compared.
    /// @param timed  whether rows take time, without which limits of time mean nothing
    std::function<std::vector<Choice>(int workers, bool timed)> candidates = {};
    /// When a round can end with these options; none: that is not known.
    std::function<Blocked(const Given&, int workers)> blocked = {};
    /// Of schemes whose updates are many and of old gradients: advice compares them by what they
    /// reach in training, with shorter steps. None: a round is an answer of each worker.
    std::function<Pace(const Given&, int workers)> pace = {};
    /// Of schemes whose updates add up stochastic gradients that all count alike, for the step that
    /// theory allows. None: the scheme has no such tree.
    std::function<ComputationTree(const Given&, int workers)> tree = {};
    /// A round takes as many samples as there is time for, or those of one worker.
    bool varying_samples = false;
    /// Options with which it is tried, and shown to be used, where its defaults do not run or do
    /// not do what it is for; --workers, if it does not run with 7. Times suit rounds of
    /// milliseconds.
    Choice example = {};
};
using SchemeProperties = SchemePropertiesWith<Settings>;

template <>
struct PropertiesOf<MakeScheme> {
    using type = SchemeProperties;
    static constexpr const char* option = "scheme";
};
template <class T>
struct TypedPropertiesOf<MakeScheme, T> {
    using type = SchemePropertiesWith<T>;
    static SchemeProperties of_words(const type& of, const Fields<T>& options)
    {
        const auto read = [options](const auto& f) {
            return [options, f](const Settings& settings, int workers) {
                return options.with(settings, workers,
                                    [&](const T& given) { return f(given, workers); });
            };
        };
        SchemeProperties all{.candidates = of.candidates,
                             .varying_samples = of.varying_samples,
                             .example = of.example};
        if (of.blocked) all.blocked = read(of.blocked);
        if (of.pace) all.pace = read(of.pace);
        if (of.tree) all.tree = read(of.tree);
        return all;
    }
};

/// The entry of a scheme whose options are a T (scheme/schemes.hpp has those structs).
template <class T>
using SchemeEntry = TypedEntry<MakeScheme, T>;

/// Makes a scheme from a struct of options, such as AgcOptions{.stragglers = 2}.
/// @throws BadInput as MakeScheme does
template <class T>
requires requires { T::entry(); }
std::unique_ptr<Scheme> make_scheme(const T& options, const Problem& problem)
{
    return T::entry().made(options, problem);
}

/// The schemes that --scheme can name.
const std::vector<Entry<MakeScheme>>& schemes();
/// Adds one. While no other thread uses Quorate. @throws BadInput if its name is taken
void add_scheme(Entry<MakeScheme> entry);

}  // namespace quorate
