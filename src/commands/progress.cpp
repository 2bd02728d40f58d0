// SPDX-License-Identifier: BSD-2-Clause
#include "commands/progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/streams.hpp"
#include "engine/engine.hpp"
#include "process/launch.hpp"
#include "transport/clock.hpp"

namespace quorate {

namespace {

// Whether lines on stderr end up on a terminal. A launcher gives its ranks a pipe and copies it to
// its own stderr, so lines end up at the first stderr of this process and its ancestors that is no
// pipe. Linux only; elsewhere, no ancestor is looked at.
bool ends_on_terminal()
{
    if (isatty(STDERR_FILENO)) return true;
    auto process = getpid();
    for (int generation = 0; generation < 5 && process > 1; ++generation) {
        std::error_code error;
        const auto target =
            std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", process), error).string();
        if (error || target.empty()) return false;
        if (!target.starts_with("pipe:"))
            return target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
        process = find_process(process).parent;
    }
    return false;
}

// Returns when to show something next, in seconds. A terminal is refreshed ten times a second. A
// file gets a line after 1, 2, 4, ... seconds, and every ten minutes when the intervals have grown
// to that.
Seconds next_after(Seconds passed, bool terminal)
{
    return passed + (terminal ? 0.1 : std::min(passed, 600.0));
}

// Returns a text as a line that replaces the one before on a terminal.
std::string in_line(const std::string& text, bool terminal)
{
    return terminal ? "\r" + text + "   " : text + "\n";
}

}  // namespace

ProgressLine::ProgressLine(std::int64_t rounds, int workers, bool loss, bool quiet)
    : rounds_(rounds), count_(workers), workers_(workers), loss_(loss), quiet_(quiet),
      terminal_(!quiet && ends_on_terminal()), began_(clock_seconds()), next_(terminal_ ? 0.1 : 1)
{
    log_above_line(terminal_);
}

void ProgressLine::show(const Progress& progress)
{
    if (quiet_) return;
    workers_.round_over();
    const bool last = progress.round == rounds_;
    const double passed = clock_seconds() - began_;  // progress.time may be simulated
    if (passed < next_ && !last) return;
    next_ = next_after(passed, terminal_);
    const double left = passed / static_cast<double>(progress.round) *
                        static_cast<double>(rounds_ - progress.round);
    const auto loss = loss_ ? fmt::format("  loss about {:.6g}{}", progress.loss, quality_) : "";
    const auto text = fmt::format("round {}/{}{}  {:.1f} s  {:.0f} s left{}", progress.round,
                                  rounds_, loss, progress.time, left, who_answers());
    quorate::show(in_line(text, terminal_));
}

void ProgressLine::scored(const trace::Evaluation& row)
{
    quality_ = std::isnan(row.accuracy) ? fmt::format("  test loss {:.4g}", row.test_loss)
                                        : fmt::format("  accuracy {:.4f}", row.accuracy);
}

// Returns "  used 6.98/8  slow 5, 2".
std::string ProgressLine::who_answers() const
{
    constexpr std::size_t most = 3;
    auto slow = workers_.slow();
    const bool more = slow.size() > most;
    if (more) slow.resize(most);
    auto text = fmt::format("  used {:.3g}/{}", workers_.used(), count_);
    if (!slow.empty())
        text += fmt::format("  slow {}{}", fmt::join(slow, ", "), more ? ", ..." : "");
    return text;
}

void ProgressLine::finish()
{
    if (terminal_) quorate::show("\n");
    log_above_line(false);
}

WorkProgress::WorkProgress(bool quiet)
    : quiet_(quiet), terminal_(!quiet && ends_on_terminal()), began_(clock_seconds()), next_(2)
{
}

void WorkProgress::show(const std::function<std::string(Seconds passed)>& text)
{
    const double passed = clock_seconds() - began_;
    if (quiet_ || passed < next_) return;
    next_ = next_after(passed, terminal_);
    shown_ = true;
    quorate::show(in_line(text(passed), terminal_));
}

void WorkProgress::finish()
{
    if (std::exchange(shown_, false) && terminal_) quorate::show("\n");
}

}  // namespace quorate
