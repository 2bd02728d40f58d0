// SPDX-License-Identifier: BSD-2-Clause
#include "trace/round_times.hpp"

#include <algorithm>
#include <tuple>

namespace quorate {

namespace {

constexpr double epsilon = 1e-9;

// Returns when a round, counted from 1, begins.
double begin_of(const trace::Trace& trace, std::int64_t round)
{
    return round < 2 ? 0 : trace.rounds[static_cast<std::size_t>(round - 2)].time;
}

// Whether a number is that of a round which the trace has.
bool is_round(const trace::Trace& trace, std::int64_t round)
{
    return round >= 1 && round <= std::ssize(trace.rounds);
}

bool is_in_its_round(const trace::Trace& trace, const trace::Arrival& arrival)
{
    return is_round(trace, arrival.round) &&
           arrival.sent >= begin_of(trace, arrival.round) - epsilon;
}

// The message that ended a round: its contributions together.
struct Last {
    std::int64_t event = -1;
    double sent = 0, arrived = 0, delay = 0, compute = 0;
};

double overlap(double low, double high, double begin, double end)
{
    return std::max(0.0, std::min(high, end) - std::max(low, begin));
}

}  // namespace

Waiting waiting_of(const trace::Trace& trace)
{
    Waiting waiting;
    std::vector<Last> last(trace.rounds.size());
    for (const auto& arrival : trace.arrivals) {
        if (!is_round(trace, arrival.round)) continue;
        const auto round = static_cast<std::size_t>(arrival.round - 1);
        // The last one that came before the decision, used or not: schemes may count answers.
        if (arrival.arrived > begin_of(trace, arrival.round) + trace.rounds[round].wait + epsilon)
            continue;
        auto& one = last[round];
        if (arrival.event == one.event) {
            one.delay += arrival.delay;
            one.compute += arrival.compute;
        } else if (one.event < 0 || arrival.arrived > one.arrived) {
            one = {arrival.event, arrival.sent, arrival.arrived, arrival.delay, arrival.compute};
        }
    }
    for (std::size_t i = 0; i < trace.rounds.size(); ++i) {
        const double begin = begin_of(trace, static_cast<std::int64_t>(i) + 1);
        const double end = begin + trace.rounds[i].wait;
        waiting.all += trace.rounds[i].wait;
        const auto& one = last[i];
        if (one.event < 0) continue;
        // A worker sleeps, computes and sends.
        const double slept = std::min(one.sent + one.delay, one.arrived);
        const double computed = std::min(slept + one.compute, one.arrived);
        waiting.delay += overlap(one.sent, slept, begin, end);
        waiting.computing += overlap(slept, computed, begin, end);
        waiting.message += overlap(computed, one.arrived, begin, end);
    }
    return waiting;
}

ResponseTimes response_times(const trace::Trace& trace)
{
    ResponseTimes times{true, {}};
    if (trace.listed() != "all" || trace.arrivals.empty()) return times;
    std::vector<const trace::Arrival*> arrivals;
    for (const auto& arrival : trace.arrivals)
        if (is_round(trace, arrival.round)) arrivals.push_back(&arrival);
    std::ranges::sort(arrivals, {}, [](const auto* one) {
        return std::tuple(one->worker, one->round, one->arrived);
    });
    const auto own = std::ranges::count_if(
        arrivals, [&](const auto* one) { return is_in_its_round(trace, *one); });
    times.in_rounds = 2 * own > std::ssize(arrivals);

    const auto rounds = static_cast<double>(trace.rounds.size());
    const double length = trace.rounds.empty() ? 0 : trace.rounds.back().time / rounds;
    for (auto first = arrivals.begin(); first != arrivals.end();) {
        const auto worker = (*first)->worker;
        ResponseTime one{worker, 0, 0};
        double sum = 0;  // of the answers, less the whole length of the rounds that they came in
        std::int64_t before = 0;
        for (; first != arrivals.end() && (*first)->worker == worker; ++first) {
            const auto& arrival = **first;
            if (!times.in_rounds) {
                sum += arrival.arrived - arrival.sent;
                ++one.answered;
            } else if (arrival.round != before && is_in_its_round(trace, arrival)) {
                before = arrival.round;
                sum += arrival.arrived -
                       trace.rounds[static_cast<std::size_t>(arrival.round - 1)].time;
                ++one.answered;
            }
        }
        one.mean =
            times.in_rounds ? length + sum / rounds : sum / static_cast<double>(one.answered);
        times.slowest_first.push_back(one);
    }
    if (times.in_rounds) {
        // Whoever never answered was always slower than the rounds.
        std::vector<bool> known(trace.workers.size());
        for (const auto& one : times.slowest_first)
            if (one.worker < std::ssize(known)) known[static_cast<std::size_t>(one.worker)] = true;
        for (std::size_t worker = 0; worker < known.size(); ++worker)
            if (!known[worker])
                times.slowest_first.push_back({static_cast<std::int64_t>(worker), length, 0});
    }
    // Of a round that ended without a worker nobody knows by how much it was slower.
    std::ranges::stable_sort(times.slowest_first, std::less(), [&](const ResponseTime& one) {
        return std::pair(times.in_rounds ? one.answered : 0, -one.mean);
    });
    return times;
}

std::optional<Saving> saving_of(const trace::Trace& trace)
{
    const auto n = trace.workers.size();
    const auto rounds = trace.rounds.size();
    if (n < 2 || trace.listed() != "all" || trace.arrivals.size() != n * rounds || rounds == 0)
        return std::nullopt;
    // By round and worker: the answer. Twice the same, or one that was not used, is another
    // protocol.
    std::vector<const trace::Arrival*> answers(n * rounds);
    for (const auto& arrival : trace.arrivals) {
        if (arrival.used != arrival.round || !is_in_its_round(trace, arrival) ||
            arrival.worker < 0 || arrival.worker >= static_cast<std::int64_t>(n))
            return std::nullopt;
        auto& answer = answers[static_cast<std::size_t>(arrival.round - 1) * n +
                               static_cast<std::size_t>(arrival.worker)];
        if (answer) return std::nullopt;
        answer = &arrival;
    }
    std::optional<Saving> best;
    std::vector<double> ends(n);
    for (std::size_t stragglers = 1; stragglers <= n / 2; stragglers *= 2) {
        // How long all rounds take if a worker computes so many times longer.
        const auto total = [&](std::size_t more) {
            double sum = 0;
            for (std::size_t i = 0; i < rounds; ++i) {
                double last = 0;
                for (std::size_t worker = 0; worker < n; ++worker) {
                    const auto& answer = *answers[i * n + worker];
                    last = std::max(last, answer.arrived);
                    ends[worker] = answer.arrived + static_cast<double>(more) * answer.compute;
                }
                const auto deciding =
                    ends.begin() + static_cast<std::ptrdiff_t>(n - stragglers - 1);
                std::nth_element(ends.begin(), deciding, ends.end());
                sum += *deciding - begin_of(trace, static_cast<std::int64_t>(i) + 1);
                sum += trace.rounds[i].time - last;
            }
            return sum;
        };
        const Saving found{static_cast<int>(stragglers), total(stragglers), total(0)};
        if (!best || found.coded < best->coded) best = found;
    }
    return best;
}

}  // namespace quorate
