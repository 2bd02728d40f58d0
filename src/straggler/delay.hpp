// SPDX-License-Identifier: BSD-2-Clause
// Injected delays. Pure mathematics: no MPI, no clock, no files.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/registry.hpp"

namespace quorate {

/// How long a machine sleeps before it begins a task. A draw is the task's round, or the worker's
/// own count of tasks where there are no rounds; the same (machine, draw) gives the same delay in
/// every scheme, whatever was cancelled in between. Local.
class DelayModel {
public:
    virtual ~DelayModel() = default;
    /// @return seconds, >= 0
    virtual double delay(int machine, std::int64_t draw) = 0;
};

/// @param machines  number of workers, for models that draw for all of them at once
using MakeDelay = std::unique_ptr<DelayModel> (*)(const Settings&, std::uint64_t seed,
                                                  int machines);

/// The delay models that --delay can name.
const std::vector<Entry<MakeDelay>>& delays();

/// The numbers after the colon of --delay, as many as the entry's `arguments` names, each >= 0.
/// @throws BadInput
std::vector<double> delay_arguments(const Settings& settings);

}  // namespace quorate
