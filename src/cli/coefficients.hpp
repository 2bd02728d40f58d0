// SPDX-License-Identifier: BSD-2-Clause
// What a linear model has learnt, by the names of its data set's columns.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace quorate {

/// Reads the final model of a trace, and names its coefficients; if a row has several scores, those
/// of each class. Local. O(parameters log parameters).
/// @param trace  path
/// @param data   path of a data set in place of the run's, with the same columns; empty: the run's
/// @param most   how many coefficients; the intercept is not counted
/// @return the model, its data set, what a score stands for, whether the data set's columns have
///         names and are scaled, the intercept if there is one, and the coefficients: the largest
///         first, of those alike in the order of the data set
/// @throws BadInput if the model is not linear, if the trace holds no final one, or if the data set
///         is not like the run's
nlohmann::ordered_json coefficients(const std::string& trace, const std::string& data,
                                    std::size_t most);

/// The same in lines.
std::string coefficient_lines(const nlohmann::ordered_json& found);

}  // namespace quorate
