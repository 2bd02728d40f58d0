// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/examples.hpp"

namespace quorate {

/// What a data set file says of itself, beside its rows.
using Provenance = std::map<std::string, std::string>;

/// Writes sparse rows as a data set: training rows and test rows, in the order of these lists.
/// Under a temporary name until it is complete and on disk. @throws Failure
void write_data_set(const std::string& path, const std::string& name, const Examples& examples,
                    std::span<const std::int64_t> train, std::span<const std::int64_t> test,
                    const Provenance& provenance);

/// Dense rows of one split.
struct DenseRows {
    std::vector<double> values;  // rows x columns, row by row
    std::vector<double> label;
};
void write_data_set(const std::string& path, const std::string& name, std::int64_t columns,
                    const DenseRows& train, const DenseRows& test, const Provenance& provenance);

}  // namespace quorate
