// SPDX-License-Identifier: BSD-2-Clause
// A least-squares problem of 24 rows and 3 columns, for trajectories that were computed elsewhere.
#pragma once

#include <string>
#include <vector>

#include "data/data_set_writer.hpp"

namespace quorate::test {

/// Writes it as a data set, the test rows like the training rows.
inline void write_tiny(const std::string& path)
{
    DataSetWriter writer(path, "tiny",
                         {.columns = 3, .task = LearningTask::regression, .dense = true}, false,
                         false);
    for (const auto split : {Split::train, Split::test}) {
        writer.begin(split);
        for (int r = 0; r < 24; ++r) {
            std::vector<double> row;
            for (int c = 0; c < 3; ++c) row.push_back((7 * r + 13 * c + 3) % 11 / 11.0 - 0.5);
            writer.add(row, (5 * r + 2) % 7 / 7.0 - 0.4);
        }
    }
    writer.finish({}, {});
}

}  // namespace quorate::test
