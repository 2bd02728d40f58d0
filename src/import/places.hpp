// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quorate {

/// The numbers and names that columns have in the data set. Those of rows that are to be like those
/// of another data set have its numbers, by name. Else columns of sparse rows are numbered in the
/// order in which rows use them: neighbouring rows then use neighbouring columns, so packing a
/// point to a shard's columns reads memory in runs, and columns that only one worker uses stand
/// together. Dense columns, and columns without names, keep their numbers.
class Places {
public:
    /// @param mine    names of the columns of the rows; empty: they have none
    /// @param theirs  of the data set that they are to be like; empty: it has none, or there is
    ///     none. Both must outlive this object
    Places(const std::vector<std::string>& mine, const std::vector<std::string>& theirs,
           bool dense);

    /// The number of a column; -1: the data set that the rows are to be like does not have it.
    /// O(1).
    std::int64_t operator()(std::int64_t column);
    /// Names of the data set's columns; those that no row uses come last. To be called after all
    /// rows.
    std::vector<std::string> names();
    /// Names of the columns that the data set that the rows are to be like does not have.
    std::vector<std::string> unknown() const;

private:
    const std::vector<std::string>&mine_, &theirs_;
    bool by_use_;
    std::vector<std::int64_t> number_;  // of each column; -1: it has none, or none yet; empty: all
                                        // keep theirs
    std::int64_t next_ = 0;
};

}  // namespace quorate
