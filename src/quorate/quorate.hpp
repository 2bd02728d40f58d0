// SPDX-License-Identifier: BSD-2-Clause
// Quorate as a library: simulations and runs over MPI from options, and components of your own.
// Link with `pkg-config --cflags --libs quorate`, or CMake's find_package(quorate).
//
//   #include <quorate/quorate.hpp>
//
//   auto trace = quorate::simulate({{"dry", "on"}, {"workers", "30"}, {"scheme", "agc"},
//                                   {"stragglers", "2"}, {"delay", "exponential:1"}});
//   for (const auto& round : trace.rounds) std::printf("%g\n", round.time);
//
// Components and their options can be structs as well:
//
//   quorate::simulate({{"dry", "on"}, {"workers", "30"}},
//                     {.scheme = quorate::AgcOptions{.stragglers = 2, .collect = 15},
//                      .delay = quorate::ExponentialDelay{.mean = 1}});
//
// Options are those of the command line (quorate simulate --help). A wrong option throws BadInput,
// whose text says what would be right. A run that cannot go on throws Failure.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "base/settings.hpp"
#include "code/collect_decoder.hpp"
#include "code/gradient_code.hpp"
#include "code/partition.hpp"
#include "compressor/compressor.hpp"
#include "model/linear_model.hpp"
#include "model/models.hpp"
#include "optimizer/optimizers.hpp"
#include "optimizer/schedule.hpp"
#include "quorate/build.hpp"
#include "quorate/data.hpp"
#include "scheme/rounds/synchronous.hpp"
#include "scheme/sample_mean.hpp"
#include "scheme/scheme.hpp"
#include "scheme/schemes.hpp"
#include "straggler/delays.hpp"
#include "tables/formats.hpp"
#include "trace/trace.hpp"

namespace quorate {

inline namespace QUORATE_ABI {

/// What a run did: rounds, arrivals, evaluations, the final model. docs/trace.md explains the
/// fields.
using Trace = trace::Trace;

/// A component as words. If none is chosen, its name is empty.
struct ComponentWords {
    std::string name = {};  // with its arguments
    Options words = {};
    std::vector<Option> options = {};  // all that it has, those at their defaults, too
};

/// A component of a kind with its options, as its struct: AgcOptions{.stragglers = 2}.
template <class Make>
struct Chosen : ComponentWords {
    Chosen() = default;
    template <class T>
    requires std::same_as<decltype(T::entry()), TypedEntry<Make, T>> Chosen(const T& given)
        : ComponentWords{T::entry().value(given), T::entry().options.words(given),
                         T::entry().options.options()}
    {
    }
};

/// The components of a run that are structs. Words choose the others.
struct Components {
    Chosen<MakeScheme> scheme = {};
    Chosen<MakeOptimizer> optimizer = {};
    Chosen<MakeSchedule> schedule = {};
    Chosen<MakeModel> model = {};
    Chosen<MakeDelay> delay = {}, slowdown = {};
    Chosen<MakeDelay> row_delay = {}, uplink_delay = {}, downlink_delay = {};
    Chosen<MakeCompressor> compressor = {};
};

/// Simulates a run under a virtual clock, in this process. Any number of threads may call it at
/// once. Needs the memory of all workers' rows. With {"dry", "on"} it needs none, and yields times
/// and decoding errors only. With data it starts MPI and PETSc for this process, unless they are
/// started.
/// @param options     of quorate simulate; the others keep their defaults
/// @param components  that are structs
/// @throws BadInput if an option is wrong or given twice; Failure if the run cannot go on
Trace simulate(const Options& options, const Components& components = {});
/// The same with a data set of the program's own. @throws BadInput if options name data, too
Trace simulate(const Data& data, const Options& options, const Components& components = {});

/// Trains over MPI. Collective over MPI_COMM_WORLD, with the same options on all ranks: rank 0 is
/// the coordinator, the others are workers. Starts MPI and PETSc, unless the program did. May be
/// called again. Writes no file.
/// @return the trace on rank 0, nothing on the others
/// @throws BadInput on all ranks if an option is wrong; Failure on the rank where the run fails,
///         and on all ranks if the coordinator fails before the run begins
std::optional<Trace> run(const Options& options, const Components& components = {});
/// The same with a data set of the program's own: the same rows on all ranks, each of which reads
/// those that it works on. @throws BadInput if options name data, too
std::optional<Trace> run(const Data& data, const Options& options,
                         const Components& components = {});

/// Ends MPI and PETSc, if run() or simulate() has started them. The process may end in this call,
/// with `status`. Make it the last call of a program, `return quorate::finish(0);`, or the last one
/// before its own MPI_Finalize. Collective.
/// @return status
int finish(int status);

// Components of your own, which options name from then on. Add them while no other thread uses
// Quorate. Each throws BadInput if its name is taken.

// add_scheme(), add_model(), add_optimizer(), add_delay() and add_format() stand beside what they
// add: scheme/scheme.hpp, model/model.hpp, optimizer/optimizer.hpp, straggler/delay.hpp and
// tables/formats.hpp.

/// Makes a gradient code for the workers of a problem. Throws BadInput if it cannot.
using MakeCode = std::function<GradientCode(const Settings& settings, const Problem& problem)>;

}  // namespace QUORATE_ABI

template <>
struct PropertiesOf<MakeCode> {
    using type = SchemeProperties;
};

inline namespace QUORATE_ABI {

/// Adds a scheme that is a gradient code: a matrix B and a decoder. Each worker sends a
/// contribution for each of its rows of B, and a round ends when the decoder has an estimate.
void add_code(Entry<MakeCode> code);

/// Returns a code with the matrix B. O(n k), and without `collect` O(n^2 k).
/// @param matrix   n rows of k coefficients each: worker i sends the sum over j of B_ij g_j
/// @param collect  answers that a round waits for, 1 to n, of which least squares makes the
///                 estimate; 0: a round ends as soon as its answers give the exact gradient
/// @throws BadInput if the matrix is empty, has rows of different length or a column of zeros, if
///         `collect` is out of range, or if it is 0 and not even all answers give the gradient
GradientCode code_from_matrix(const std::vector<std::vector<double>>& matrix, int collect = 0);

}  // namespace QUORATE_ABI

/// Loads a plugin (see QUORATE_PLUGIN), unless it is loaded. Local: call it on all ranks.
/// @throws BadInput if the file cannot be loaded, is no plugin, or was built with another version,
///         compiler, MPI or index width
void load_plugin(const std::string& path);

}  // namespace quorate

/// Makes a shared object a plugin. `function` takes no arguments and adds components. It is called
/// when the plugin is loaded, by load_plugin() or `quorate COMMAND --plugin FILE`.
///
///   static void add() { quorate::add_scheme({.name = "mine", ...}); }
///   QUORATE_PLUGIN(add)
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it defines what dlsym() looks for
#define QUORATE_PLUGIN(function)                                            \
    extern "C" const char quorate_plugin_built_with[] = QUORATE_BUILT_WITH; \
    extern "C" void quorate_plugin_add() { function(); }
