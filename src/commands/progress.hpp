// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/seconds.hpp"
#include "commands/slow_workers.hpp"

namespace quorate {

struct Progress;

/// Shows on stderr how a run goes on. On a terminal it writes one line over and over, ten times a
/// second at most; in a file, lines at growing intervals, up to ten minutes. Coordinator only.
class ProgressLine {
public:
    /// @param rounds  of the run
    /// @param workers  of the run
    /// @param loss    whether there is a loss to show; a dry run has none
    /// @param quiet   show nothing
    ProgressLine(std::int64_t rounds, int workers, bool loss, bool quiet);
    /// Takes note of a contribution whose use is known.
    void arrived(const trace::Arrival& row) { workers_.arrived(row); }
    /// Takes note of a model that was scored live: its accuracy, or test loss, is shown from now
    /// on.
    void scored(const trace::Evaluation& row);
    /// Shows a round if it is time, and always the last one: its loss, the answers that rounds use
    /// and who is slow, both over the last fifty. The seconds left are an estimate, from the time
    /// since the constructor.
    void show(const Progress& progress);
    /// Ends the line on a terminal. Messages no longer clear it then.
    void finish();

private:
    std::string who_answers() const;

    std::string quality_;  // of the model scored last
    std::int64_t rounds_;
    int count_;
    SlowWorkers workers_;
    bool loss_, quiet_, terminal_;
    Seconds began_, next_;
};

/// Shows on stderr how other work goes on, at the same intervals; first after two seconds. Local.
class WorkProgress {
public:
    /// @param quiet  show nothing
    explicit WorkProgress(bool quiet);
    WorkProgress(const WorkProgress&) = delete;
    WorkProgress& operator=(const WorkProgress&) = delete;
    /// As finish(), so that an error stands in a line of its own.
    ~WorkProgress() { finish(); }
    /// Shows a text if it is time. @param text  made of the seconds since the constructor
    void show(const std::function<std::string(Seconds passed)>& text);
    /// Ends the line on a terminal, if one was shown.
    void finish();

private:
    bool quiet_, terminal_, shown_ = false;
    Seconds began_, next_;
};

}  // namespace quorate
