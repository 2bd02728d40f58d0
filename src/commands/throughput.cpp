// SPDX-License-Identifier: BSD-2-Clause
#include "commands/throughput.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/text.hpp"
#include "run/recorded.hpp"

namespace quorate {

namespace {

// The most samples that an update needs: a batch, or all rows. Contributions of a code hold some
// samples twice.
std::int64_t most_samples(const trace::Trace& trace, const std::string& batch)
{
    if (trace.text("varying_samples") == "1") return std::numeric_limits<std::int64_t>::max();
    const auto rows = to_integer(trace.text("rows")).value_or(0);
    const auto asked = to_integer(batch).value_or(0);
    return asked > 0 ? std::min(asked, rows) : rows;
}

}  // namespace

std::optional<Throughput> throughput_of(const trace::Trace& trace)
{
    auto options = recorded_options(trace.text("config"));
    const double time = trace.rounds.empty() ? 0 : trace.rounds.back().time;
    if (time <= 0 || options.contains("local-steps")) return {};
    const auto most = most_samples(trace, options["batch"]);
    Throughput found;
    for (const auto& round : trace.rounds)
        found.used += static_cast<double>(std::min(round.samples, most)) / time;
    const auto workers = to_integer(trace.text("workers")).value_or(0);
    if (trace.listed() != "all" || workers == 0) return found;
    double samples = 0, computing = 0, delay = 0;
    for (const auto& arrival : trace.arrivals) {
        samples += static_cast<double>(arrival.samples);
        if (arrival.used == 0) continue;
        computing += arrival.compute;
        delay += arrival.delay;
    }
    const double of_workers = time * static_cast<double>(workers);
    found.answered = samples / time;
    found.computing = computing / of_workers;
    found.delay = delay / of_workers;
    return found;
}

}  // namespace quorate
