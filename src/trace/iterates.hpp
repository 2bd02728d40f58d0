// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hdf5/hdf5.hpp"

namespace quorate::trace {

/// Returns the round of each iterate of an open trace. If the run was killed, there may be fewer
/// models than rounds: those have none here.
std::vector<std::int64_t> iterate_rounds(hid_t file);
/// Reads iterate i of it, from 0. O(parameters).
std::vector<double> read_iterate(hid_t file, std::int64_t i);

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
