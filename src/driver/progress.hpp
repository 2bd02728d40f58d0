// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "base/seconds.hpp"

namespace quorate {

struct Progress;

/// Shows how a run goes on, on stderr: one line that is written over on a terminal, whole lines at
/// growing intervals in a file.
class ProgressLine {
public:
    /// @param loss  whether there is one to show: a dry run has none
    ProgressLine(std::int64_t rounds, bool loss, bool quiet);
    void show(const Progress& progress);
    /// Ends the line on a terminal.
    void finish();

private:
    std::int64_t rounds_;
    bool loss_, quiet_, terminal_;
    Seconds began_, next_;
};

/// Shows how many bytes were read, likewise.
class ByteProgress {
public:
    explicit ByteProgress(bool quiet);
    void add(std::int64_t bytes);
    /// Ends the line on a terminal.
    void finish();

private:
    bool quiet_, terminal_, shown_ = false;
    Seconds began_, next_;
    std::int64_t bytes_ = 0;
};

}  // namespace quorate
