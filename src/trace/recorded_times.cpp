// SPDX-License-Identifier: BSD-2-Clause
#include "trace/recorded_times.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "base/median.hpp"
#include "base/text.hpp"
#include "trace/worker_times.hpp"

namespace quorate::trace {

namespace {

// What one worker did in one draw, summed over the parts of its task.
struct Task {
    double delay = 0, compute = 0;
    std::int64_t samples = 0;
};

// Returns an attribute that must be an integer from 1 to `highest`.
std::int64_t integer(const Trace& trace, const std::string& attribute, std::int64_t highest,
                     const std::string& name)
{
    const auto at = trace.attributes.find(attribute);
    const auto value = at == trace.attributes.end() ? std::nullopt : to_integer(at->second);
    if (!value || *value < 1 || *value > highest)
        throw BadInput(fmt::format("{} is a damaged trace: its attribute {} is {}", name, attribute,
                                   at == trace.attributes.end() ? "missing" : at->second));
    return *value;
}

}  // namespace

WorkerTimes recorded_times(const Trace& trace, const std::string& name)
{
    WorkerTimes times;
    times.workers =
        static_cast<int>(integer(trace, "workers", std::numeric_limits<int>::max(), name));
    const auto rows =
        static_cast<double>(integer(trace, "rows", std::numeric_limits<std::int64_t>::max(), name));

    std::map<std::int64_t, std::map<std::int64_t, Task>> draws;  // draw -> worker -> task
    for (const auto& arrival : trace.arrivals) {
        if (arrival.worker < 0 || arrival.worker >= times.workers ||
            !std::isfinite(arrival.delay + arrival.compute) || arrival.delay < 0 ||
            arrival.compute < 0)
            throw BadInput(fmt::format(
                "{} is a damaged trace: event {} names worker {} with delay {} and computation {}",
                name, arrival.event, arrival.worker, arrival.delay, arrival.compute));
        auto& task = draws[arrival.draw][arrival.worker];
        task.delay += arrival.delay;
        task.compute += arrival.compute;
        task.samples += arrival.samples;
    }
    if (trace.status() != "completed" && !draws.empty() &&
        static_cast<int>(draws.rbegin()->second.size()) < times.workers)
        draws.erase(std::prev(draws.end()));
    if (draws.empty()) throw BadInput(name + " lists no arrivals: give the trace of a longer run");
    for (const auto& [draw, tasks] : draws)
        for (int worker = 0; worker < times.workers; ++worker)
            if (!tasks.contains(worker))
                throw BadInput(fmt::format(
                    "{} holds no time of worker {} in draw {}, whose task was cancelled: give the "
                    "trace of a scheme that waits for all, such as uncoded",
                    name, worker, draw));

    times.rounds = static_cast<std::int64_t>(draws.size());
    std::vector<double> per_load;
    for (int worker = 0; worker < times.workers; ++worker)
        for (const auto& [draw, tasks] : draws) {
            const auto& task = tasks.at(worker);
            const double load = static_cast<double>(task.samples) / rows;
            times.seconds.push_back(task.delay + task.compute);
            times.load += load;
            if (load > 0) per_load.push_back(task.compute / load);
        }
    times.load /= static_cast<double>(times.seconds.size());
    times.slope = median(std::move(per_load));
    return times;
}

WorkerTimes read_times(const std::string& path)
{
    std::array<char, 8> head{};
    std::ifstream(path, std::ios::binary).read(head.data(), head.size());
    // HDF5 files begin with this signature. A file that cannot be opened is refused by the reader
    // below.
    if (std::string_view(head.data(), head.size()) == "\x89HDF\r\n\x1a\n")
        return recorded_times(read(path), path);
    return read_worker_times(path);
}

}  // namespace quorate::trace
