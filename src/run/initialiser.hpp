// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "model/model.hpp"

namespace quorate {

/// A range of the parameters: the first one, and how many.
using ShareRange = std::pair<std::size_t, std::size_t>;

/// Returns --init, or its default for the model. @param model  null: a dry run has none
std::string initialiser_of(const Settings& settings, const Model* model);

/// Returns the initial parameters that --init asks for; without it, those of the model itself, if
/// it has any. Local. O(parameters) time; O(elements) memory, but for those of the model itself.
///
/// - zero: all zero; the default of linear models.
/// - normal:SD: all N(0, SD^2), biases too.
/// - he: weights N(0, 2 / fan_in), biases zero (He et al. 2015); the default of networks.
/// - glorot: weights uniform in +-sqrt(6 / (fan_in + fan_out)), biases zero (Glorot and Bengio
///   2010).
/// - FILE: the final model of that trace.
///
/// @param seed     key of the random numbers
/// @param columns  of the data set
/// @param share    of the parameters; none: all
/// @return model.parameters(columns) elements, or those of the share
/// @throws BadInput if --init is none of these  @throws BadInput as final_model(), with the option
std::vector<double> initial_model(const Settings& settings, std::uint64_t seed, const Model& model,
                                  std::int64_t columns,
                                  const std::optional<ShareRange>& share = {});

/// Reads the final model of a trace. Local; holds libraries() meanwhile.
/// @param trace  path
/// @param width  number of parameters that the model must have
/// @throws BadInput if the file cannot be opened, holds no final model, or one of another width
std::vector<double> final_model(const std::string& trace, std::int64_t width);

/// Writes the average of models as traces have their final model, so that --init takes it. Local.
/// @throws Failure if it cannot be written
void write_average(const std::string& path, std::span<const double> model);

}  // namespace quorate
