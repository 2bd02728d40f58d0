// SPDX-License-Identifier: BSD-2-Clause
// Synthetic data. A row depends on nothing but the seed and its number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/registry.hpp"
#include "model/data_shape.hpp"

namespace quorate {

/// What a kind of data is made of.
struct SyntheticSize {
    std::uint64_t seed = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;  // of a row, in distinct random columns; 0: all columns
    std::int64_t classes = 2;
    double noise = 0;
};

class Synthetic {
public:
    virtual ~Synthetic() = default;
    /// Without columns and storage.
    virtual DataShape shape() const = 0;
    virtual bool ones() const { return false; }

    struct Row {
        std::vector<std::pair<std::int64_t, double>> entries;  // by column; empty if dense
        std::vector<double> dense;
        double label = 0;
    };
    /// Replaces what is in `row`.
    virtual void make(std::int64_t number, Row& row) const = 0;
};

using MakeSynthetic = std::unique_ptr<Synthetic> (*)(const SyntheticSize&);

/// The kinds that generate --model can name.
const std::vector<Entry<MakeSynthetic>>& synthetics();

}  // namespace quorate
