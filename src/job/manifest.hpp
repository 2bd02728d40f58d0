// SPDX-License-Identifier: BSD-2-Clause
// The runs of an experiment, one a row of a file of tab-separated values that people read and edit: number,
// trace, and a column for each option that any of them has.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace quorate {

struct ManifestRow {
    std::int64_t number;
    std::string trace;                                         // file, from the manifest's folder
    std::vector<std::pair<std::string, std::string>> options;  // empty values are not given
    std::string origin = {};                                   // "manifest.tsv:7: "

    /// Empty if it is not given.
    std::string value(const std::string& option) const;
};

class Manifest {
public:
    /// @throws BadInput with file and line for what no manifest can say
    static Manifest read(const std::string& path);
    /// Tabs, newlines and backslashes in values are written as \t, \n and \\.
    /// @param header  lines of comment
    void write(const std::string& path, const std::vector<std::string>& header) const;

    void add(ManifestRow row) { rows_.push_back(std::move(row)); }
    const std::vector<ManifestRow>& rows() const { return rows_; }
    /// @throws BadInput if there is none
    const ManifestRow& row(std::int64_t number) const;
    /// Names of all options, in the order in which rows name them.
    std::vector<std::string> options() const;
    /// @throws BadInput if two runs would write the same checkpoint, from which the wrong one would go on
    void refuse_shared_checkpoints() const;
    /// As it would be written, without header.
    std::string text() const;

private:
    std::string path_;
    std::vector<ManifestRow> rows_;
};

/// Numbers as the ranges of a job array: 3,7,12-15.
std::string ranges(const std::vector<std::int64_t>& ascending);

/// What such ranges name. @throws BadInput for other words
std::vector<std::int64_t> numbers(const std::string& ranges);

}  // namespace quorate
