// SPDX-License-Identifier: BSD-2-Clause
// Injected delays and slowdowns. Pure mathematics: no MPI, no clock, no files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/typed_entry.hpp"

namespace quorate {

/// How long a machine sleeps before it begins a task, or how much slower than others it computes.
/// The same (machine, draw) gives the same value in every scheme, whatever was cancelled in between
/// and in whatever order values are asked for. Local.
class DelayModel {
public:
    virtual ~DelayModel() = default;
    /// Returns the value of a draw. O(1), unless the model says otherwise.
    /// @param machine  its number, from 0
    /// @param draw     the task's round or exchange, from 0, or the worker's own count of tasks
    ///                 where there is neither
    /// @param load     share of the training rows that the task computes on; only replayed times
    ///                 depend on it
    /// @return seconds of a delay, or the factor of a slowdown; at least 0
    virtual double draw(int machine, std::int64_t draw, double load) = 0;
    /// Returns the mean of the k-th least of n draws, infinite if there is none. Nothing unless
    /// draws are independent and alike for all machines, and the mean has a closed form.
    virtual std::optional<double> mean_of_order(int, int) const { return {}; }
};

/// Recorded times of workers, for replay. All come from one run, so that every scheme meets the
/// same stragglers. If runs at several loads were recorded, they give the slope.
struct WorkerTimes {
    int workers = 0;
    std::int64_t rounds = 0;
    std::vector<double> seconds;  // workers x rounds, worker by worker
    double load = 0;              // share of the training rows at which they were recorded
    double slope = 0;             // further seconds for each unit of load
};

/// What a delay model is made for. The same models serve as delays (seconds) and as slowdowns
/// (factors of the computing time); straggler/models.hpp says where each acts.
struct DelaySetup {
    std::string option = "delay";  // the option that names the model
    double neutral = 0;            // what undisturbed machines draw: 0 seconds, or the factor 1
    Purpose purpose = Purpose::delay;
    std::uint64_t seed = 0;
    int machines = 0;                                                     // workers
    std::function<WorkerTimes(const std::string& path)> read_times = {};  // throws BadInput
};

/// Makes a delay model. @throws BadInput if its arguments are wrong
using MakeDelay = std::function<std::unique_ptr<DelayModel>(const Settings&, const DelaySetup&)>;
template <>
struct PropertiesOf<MakeDelay> {
    struct type {};
    static constexpr const char* option = "delay";
    static GivenComponent given(const Settings& settings, const std::string& form,
                                const std::string& text, const DelaySetup& setup);
};

/// The entry of a delay model whose arguments are a T (straggler/delays.hpp has those structs).
template <class T>
using DelayEntry = TypedEntry<MakeDelay, T>;

/// The models that the options of straggler/models.hpp can name.
const std::vector<Entry<MakeDelay>>& delays();
/// Adds one. While no other thread uses Quorate. @throws BadInput if its name is taken
void add_delay(Entry<MakeDelay> entry);

}  // namespace quorate
