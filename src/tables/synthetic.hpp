// SPDX-License-Identifier: BSD-2-Clause
// Synthetic data (`quorate generate`). A row depends only on the seed and its number.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/registry.hpp"
#include "model/data_shape.hpp"

namespace quorate {

/// What synthetic data are made from.
struct SyntheticSize {
    std::uint64_t seed = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;  // of a row, in distinct random columns; 0: all columns
    std::int64_t classes = 2;
    double noise = 0;  // as --noise says
};

/// A kind of synthetic data of some size. Local.
struct Synthetic {
    struct Row {
        std::vector<std::pair<std::int64_t, double>> entries;  // by column; empty if dense
        std::vector<double> dense;
        double label = 0;
    };
    DataShape shape;    // the caller fills in the number of columns and how rows are stored
    bool ones = false;  // whether all entries are one
    /// Makes a row in place of what is in `row`. O(entries of the row).
    /// number: of the row, from 0; test rows go on where training rows end
    std::function<void(std::int64_t number, Row& row)> make;
};

/// Makes a kind of data. Local. @throws BadInput if there is too little memory for its weights
using MakeSynthetic = Synthetic (*)(const SyntheticSize&);

/// The kinds that generate --model can name.
const std::vector<Entry<MakeSynthetic>>& synthetics();

}  // namespace quorate
