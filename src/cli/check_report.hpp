// SPDX-License-Identifier: BSD-2-Clause
// What `quorate inspect --check` says of the estimates of a trace.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "commands/check_estimates.hpp"

namespace quorate {

/// Returns --check and --check-rounds.
std::vector<Option> check_options();

/// Checks the estimates of a trace as these options say.
/// @throws BadInput if they are wrong, and as check_estimates()
EstimateCheck check_as_asked(const Settings& settings, const trace::Trace& trace,
                             const std::string& path);

/// The result for programs.
nlohmann::ordered_json as_json(const EstimateCheck& check);

/// A line for each round, and one for all of them. @param path  of the trace
std::string lines_of(const EstimateCheck& check, const std::string& path);

/// A line for each round whose estimate is not what its weights say.
std::vector<std::string> disagreements(const EstimateCheck& check);

}  // namespace quorate
