// SPDX-License-Identifier: BSD-2-Clause
// Dry runs of the whole engine under the virtual clock.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fleet/network.hpp"
#include "scheme/scheme.hpp"
#include "straggler/delay.hpp"
#include "straggler/models.hpp"

namespace quorate::test {

using Options = std::map<std::string, std::string>;

/// A scheme of the registry, with its defaults but for the options given.
std::unique_ptr<Scheme> make_scheme(const std::string& name, const Problem& problem,
                                    const Options& given = {});

std::unique_ptr<DelayModel> make_delays(const std::string& text, int machines,
                                        std::uint64_t seed = 0);

/// @param models  by option; those that are missing are none
OwnedDelayModels make_stragglers(const Options& models, int machines, std::uint64_t seed = 0);

struct Simulation {
    std::string scheme;
    Options options = {};
    int workers = 30;
    std::int64_t rounds = 20000;
    std::string delay = "exponential:1", slowdown = "none";
    std::int64_t rows_each = 1;  // rows of a worker's partition; without codes its load
    Seconds row_time = 0;
    std::uint64_t seed = 1;
    Network network = {};

    /// Seconds of each round.
    std::vector<double> run() const;
};

}  // namespace quorate::test
