// SPDX-License-Identifier: BSD-2-Clause
// How fast a run was, and what its workers did meanwhile.
#pragma once

#include <optional>

#include "trace/trace.hpp"

namespace quorate {

/// Samples a second of the run's time, and shares of the time of all workers, by its trace.
struct Throughput {
    /// Samples whose gradients the updates used, each counted once an update.
    double used = 0;
    /// Samples that workers answered for, used or not. Nothing unless the trace lists all answers.
    std::optional<double> answered;
    /// Share in which workers compute what is used, with what a module of PyTorch copies; likewise.
    std::optional<double> computing;
    /// Share in which they sleep for injected delays before that; likewise.
    std::optional<double> delay;
};

/// Reads it from a trace. Nothing before the first round, and for local steps, whose samples a
/// trace does not count. O(rounds + arrivals). Local.
std::optional<Throughput> throughput_of(const trace::Trace& trace);

}  // namespace quorate
