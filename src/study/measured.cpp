// SPDX-License-Identifier: BSD-2-Clause
#include "study/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/median.hpp"
#include "run/recorded.hpp"
#include "trace/reader.hpp"

namespace quorate {

namespace {

// Returns the seconds that a message takes one way: half of the time from sending a task to the
// arrival of its contribution, without delay and computation; the median over all contributions.
double one_way(const trace::Trace& trace)
{
    std::vector<double> ways;
    for (const auto& one : trace.arrivals)
        ways.push_back(std::max(0.0, one.arrived - one.sent - one.delay - one.compute) / 2);
    return median(std::move(ways));
}

}  // namespace

Settings with_measured(Settings settings)
{
    if (!settings.on("measured")) return settings;
    const auto& path = settings.text("measured");
    const auto trace = trace::read(path);
    const auto& about = trace.attributes;
    // Injected delays would be taken for a property of the machine.
    if (const auto delays = recorded_delays(trace); !delays.empty())
        settings.refuse("measured",
                        fmt::format(", which has injected delays ({} {}): measure without, then "
                                    "pass them to advise",
                                    delays[0].first, delays[0].second));
    if (about.at("clock") != "wall" || trace.arrivals.empty())
        settings.refuse("measured", ", which measured nothing: give the trace of quorate run");
    const auto take = [&](const char* name, const std::string& value) {
        if (!settings.given(name)) settings.set(name, {value, path + ": ", true});
    };
    take("workers", about.at("workers"));
    take("row-time", path);
    take("slowdown", "trace:" + path);
    take("latency", fmt::format("{:g}", one_way(trace)));
    if (!settings.on("data")) take("rows", about.at("rows"));
    return settings;
}

}  // namespace quorate
