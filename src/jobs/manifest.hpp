// SPDX-License-Identifier: BSD-2-Clause
// Manifests: files of tab-separated values with a row for each run of an experiment, which people
// read and edit. Its columns are the number of the run, its trace, and each option that any run
// has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// A run.
struct ManifestRow {
    std::int64_t number;      // from 1
    std::string trace;        // path from the manifest's folder
    Choice options;           // those that are given
    std::string origin = {};  // "manifest.tsv:7: "

    /// The value of an option; empty if it is not given.
    std::string value(const std::string& option) const;
};

/// The runs of a manifest.
class Manifest {
public:
    /// Reads a manifest.
    /// @throws BadInput with file and line for what no manifest can say
    static Manifest read(const std::string& path);
    /// Writes the manifest. Tabs, newlines and backslashes in values are written as \t, \n and \\.
    /// @param header  lines of comment
    /// @throws Failure if it cannot be written
    void write(const std::string& path, const std::vector<std::string>& header) const;

    void add(ManifestRow row) { rows_.push_back(std::move(row)); }
    const std::vector<ManifestRow>& rows() const { return rows_; }
    /// The row of a run. @throws BadInput if there is none of that number
    const ManifestRow& row(std::int64_t number) const;
    /// Names of all options, in the order in which rows name them.
    std::vector<std::string> options() const;
    /// Checks that each run has a checkpoint of its own, because a run must not go on from another
    /// one's.
    /// @throws BadInput if two runs have the same
    void refuse_shared_checkpoints() const;
    /// The text that write() writes, without header.
    std::string text() const;

private:
    std::string path_;
    std::vector<ManifestRow> rows_;
};

/// Writes numbers as the ranges of a job array: 3,7,12-15.
std::string ranges(const std::vector<std::int64_t>& ascending);

/// Reads such ranges. @throws BadInput for other words
std::vector<std::int64_t> numbers(const std::string& ranges);

}  // namespace quorate
