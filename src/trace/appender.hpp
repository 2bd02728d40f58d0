// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/writer.hpp"

namespace quorate::trace {

/// Reads the iterates of a trace whose run is over, and adds evaluations to it. Local. Functions
/// throw Failure if HDF5 fails; see hdf5/hdf5.hpp for threads.
class Appender {
public:
    /// @throws BadInput if the file is absent, unreadable or not HDF5, or its run goes on; Failure
    ///         if it has no table of evaluations
    explicit Appender(const std::string& path);

    /// Returns the round of each iterate.
    std::vector<std::int64_t> iterate_rounds() const;
    /// Reads iterate i, from 0. O(parameters).
    Iterate iterate(std::int64_t i) const;
    /// Writes a row, and flushes the file.
    void add(const Evaluation& row);
    /// Closes the file. @throws Failure if what it still has to write cannot be written
    void close();

private:
    std::string path_;
    Owner owner_;
    h5::File file_;
    std::optional<Table> evaluations_;
};

}  // namespace quorate::trace
