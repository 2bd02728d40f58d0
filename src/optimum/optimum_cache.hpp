// SPDX-License-Identifier: BSD-2-Clause
// The optimum cache of a data set: a file beside it, with the optima that were found.
//
//   /        format = "quorate optima", format_version = 1, data (name of the data set)
//   /NUMBER  one optimum: attributes model, options (of the model), l2, l1, rows, objective, bound,
//            gradient_norm, iterations, solver, command_line; data set w
#pragma once

#include <optional>
#include <string>

#include "data/data_set.hpp"
#include "optimum/optimum.hpp"

namespace quorate {

/// Which objective an optimum belongs to.
struct ObjectiveName {
    std::string model;
    double l2 = 0, l1 = 0;
    bool operator==(const ObjectiveName&) const = default;
};

/// The path of a data set's optimum cache: data.h5 has data.optima.h5.
std::string optimum_cache_of(const std::string& data);

/// Adds an optimum, in place of one of the same objective. Written aside and renamed. @throws Failure
void store_optimum(const DataSet& data, const ObjectiveName& name, const Optimum& optimum,
                   const std::string& command_line);

/// What is known of the optimum of an objective. @throws BadInput if the cache is damaged
struct KnownOptimum {
    double objective, bound, gradient_norm;
};
std::optional<KnownOptimum> known_optimum(const std::string& data, std::int64_t rows,
                                          const ObjectiveName& name);

}  // namespace quorate
