// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hdf5/hdf5.hpp"

namespace quorate::trace {

/// The models that a trace keeps, read one at a time. Local; holds libraries() meanwhile.
class Iterates {
public:
    /// @throws BadInput if the file is absent or damaged
    explicit Iterates(const std::string& path);
    /// Whether the model after so many updates is kept.
    bool has(std::int64_t round) const { return rows_.contains(round); }
    /// Reads that model. O(parameters).
    /// @throws std::out_of_range if it is not kept  @throws BadInput if the file is damaged
    std::vector<double> at(std::int64_t round) const;

private:
    std::string path_;
    h5::File file_;
    std::map<std::int64_t, std::int64_t> rows_;  // of the data set, by round
};

}  // namespace quorate::trace
