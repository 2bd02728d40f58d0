// SPDX-License-Identifier: BSD-2-Clause
// Synthetic data (`quorate generate`). A row depends only on the seed and its number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
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
class Synthetic {
public:
    virtual ~Synthetic() = default;
    /// The shape of the data; the caller fills in the number of columns and how rows are stored.
    virtual DataShape shape() const = 0;
    /// Whether all entries are one.
    virtual bool ones() const { return false; }

    struct Row {
        std::vector<std::pair<std::int64_t, double>> entries;  // by column; empty if dense
        std::vector<double> dense;
        double label = 0;
    };
    /// Makes a row in place of what is in `row`. O(entries of the row).
    /// @param number  of the row, from 0; test rows go on where training rows end
    virtual void make(std::int64_t number, Row& row) const = 0;
};

/// Makes a kind of data. Local.
using MakeSynthetic = std::unique_ptr<Synthetic> (*)(const SyntheticSize&);

/// The kinds that generate --model can name.
const std::vector<Entry<MakeSynthetic>>& synthetics();

}  // namespace quorate
