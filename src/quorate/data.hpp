// SPDX-License-Identifier: BSD-2-Clause
// Data sets of what a program has in memory. quorate/petsc.hpp makes them of a Mat and a Vec.
//
//   const quorate::Data data({quorate::DenseMatrix{x, columns}, y});
//   auto trace = quorate::simulate(data, {{"workers", "8"}, {"scheme", "agc"}});
#pragma once

#include <memory>
#include <string>

#include "quorate/arrays.hpp"
#include "quorate/build.hpp"

namespace quorate {

inline namespace QUORATE_ABI {

class TemporaryData;

/// A data set, for simulate() and run(). It lies in a file in the folder for temporary files
/// (TMPDIR), which goes with the last copy of the object; a killed process leaves it. The rows that
/// it was made of may change meanwhile.
class Data {
public:
    /// Starts MPI and PETSc unless they are; then all ranks must make one. Each makes its own, of
    /// the same rows. O(bytes) time, and as much of the folder; in memory it takes the labels and a
    /// megabyte or two, and rows of up to 512 MiB.
    /// @param train  dense or sparse rows with finite numbers. Labels mean what they do to `quorate
    ///               import`: two values or up to 1000 whole numbers are classes, others are a
    ///               regression, which `task` must name
    /// @param test   no rows, or more of the same kind and as many columns
    /// @throws BadInput if sizes or indices contradict each other, a number is not finite, or
    ///         labels do not fit the task  @throws Failure if the file cannot be written
    explicit Data(const LabelledRows& train, const LabelledRows& test = {},
                  const DataOptions& options = {});
    /// Of a file that is there already, and goes with the object.
    explicit Data(std::shared_ptr<const TemporaryData> file);

    /// The file, as --data names it.
    const std::string& path() const;

private:
    std::shared_ptr<const TemporaryData> file_;
};

}  // namespace QUORATE_ABI

}  // namespace quorate
