// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/median.hpp"
#include "straggler/delays.hpp"

namespace quorate {

namespace {

// Recorded times. As a delay: the recorded time, moved along the slope to the load of the task, and
// 0 if that is negative. When the recorded rounds are over, they are used again from the first.
//
// As a slowdown: the recorded time over the median of all times. The slope is not used, because the
// computation that the factor multiplies is already in proportion to the load.
class Replay final : public DelayModel {
public:
    explicit Replay(WorkerTimes times) : times_(std::move(times)) {}

    double draw(int machine, std::int64_t draw, double load) override
    {
        const auto at = machine * times_.rounds + draw % times_.rounds;
        return std::max(
            times_.seconds.at(static_cast<std::size_t>(at)) + times_.slope * (load - times_.load),
            0.0);
    }

private:
    WorkerTimes times_;
};

}  // namespace

DelayEntry<TraceDelay> TraceDelay::entry()
{
    return {.name = "trace",
            .arguments = {{&TraceDelay::file, "FILE"}},
            .text = "replays recorded times, from CSV or a trace; as a slowdown: over their median",
            .make = [](const TraceDelay& given, const DelaySetup& setup) {
                if (!setup.read_times) throw std::logic_error("a trace without read_times");
                auto times = setup.read_times(given.file);
                if (times.workers < setup.machines)
                    throw Refusal(
                        setup.option,
                        fmt::format(", which holds times of {} workers, but there are {}: use "
                                    "--workers {} or fewer, or times of more workers",
                                    times.workers, setup.machines, times.workers));
                if (setup.purpose == Purpose::slowdown) {
                    // The median is taken over all workers of the file, so that the slowdown of a
                    // worker does not depend on how many take part.
                    const double typical = median(times.seconds);
                    if (typical <= 0)
                        throw Refusal(
                            setup.option,
                            ", whose median time is 0, so that nothing can be said to be slower "
                            "than it: use it as --delay");
                    for (auto& seconds : times.seconds) seconds /= typical;
                    times.slope = 0;
                }
                return std::make_unique<Replay>(std::move(times));
            }};
}

}  // namespace quorate
