// SPDX-License-Identifier: BSD-2-Clause
// The optimum cache of a data set: a file beside it that holds the optima that were found. Its
// layout:
//
//   /        format = "quorate optima", format_version = 1, data (name of the data set)
//   /NUMBER  one optimum: attributes model, options (of the model), l2, l1, rows, data_sha256
//            (identity_of() the data set), objective, bound, gradient_norm, iterations, solver,
//            command_line; data set w
#pragma once

#include <optional>
#include <string>

#include "data/data_set.hpp"
#include "optimum/optimum.hpp"

namespace quorate {

/// Which objective on the rows of a data set an optimum belongs to.
struct ObjectiveName {
    std::string model;
    double l2 = 0, l1 = 0;
    bool operator==(const ObjectiveName&) const = default;
};

/// Returns the path of a data set's optimum cache. That of data.h5 is data.optima.h5.
std::string optimum_cache_of(const std::string& data);

/// Adds an optimum to the cache, in place of one of the same objective. Writes a copy and renames
/// it. Local.
/// @throws BadInput if the cache is another kind of file or damaged  @throws Failure if it cannot
///     be written
void store_optimum(const DataSet& data, const ObjectiveName& name, const Optimum& optimum,
                   const std::string& command_line);

/// What is known of an optimum without its model; as in Optimum.
struct KnownOptimum {
    double objective, bound, gradient_norm;
};
/// Looks an optimum up. Local.
/// @param data  path of the data set; empty: there is none
/// @param rows      training rows of the data set; an optimum for another number does not count
/// @param identity  of the data set; an optimum of another one does not count. Empty: it is not
///        known
/// @return nothing if the cache does not have it
/// @throws BadInput if the cache is another kind of file or damaged
std::optional<KnownOptimum> known_optimum(const std::string& data, std::int64_t rows,
                                          const std::string& identity, const ObjectiveName& name);

}  // namespace quorate
