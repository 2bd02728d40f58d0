// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/cached/load_balance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "base/gamma.hpp"

namespace quorate {

namespace {

int parts_for(const Latency& latency, double share, double time, int most)
{
    const double compute = time - latency.rest;
    if (compute <= 0) return most;
    const double parts = std::round(latency.compute * share / compute);
    return static_cast<int>(std::clamp(parts, 1.0, static_cast<double>(most)));
}

// Mean and deviation of the middle 80 % of some numbers.
std::pair<double, double> middle(std::vector<double> numbers)
{
    std::ranges::sort(numbers);
    const auto cut = static_cast<std::ptrdiff_t>(numbers.size() / 10);
    const auto first = numbers.begin() + cut, last = numbers.end() - cut;
    const auto count = static_cast<double>(last - first);
    const double mean = std::accumulate(first, last, 0.0) / count;
    double squares = 0;
    for (auto at = first; at != last; ++at) squares += (*at - mean) * (*at - mean);
    return {mean, std::sqrt(squares / count)};
}

}  // namespace

double answer_time(const Balanced& worker, double share)
{
    return worker.latency.compute * share / worker.parts + worker.latency.rest;
}

double contribution(const std::vector<Balanced>& workers, const BalanceRules& rules)
{
    double sum = 0;
    for (const auto& worker : workers) sum += rules.fresh * rules.share / worker.parts;
    return sum;
}

std::vector<int> equal_times(const std::vector<Balanced>& workers, const BalanceRules& rules)
{
    double rate = 0, rest = 0;
    for (const auto& [latency, parts] : workers) {
        rate += 1 / latency.compute;
        rest += latency.rest / latency.compute;
    }
    const double time = (rules.least / rules.fresh + rest) / rate;
    std::vector<int> found;
    for (const auto& worker : workers)
        found.push_back(parts_for(worker.latency, rules.share, time, rules.most));
    return found;
}

std::vector<double> simulated_fresh(const std::vector<Balanced>& workers, double share, int collect,
                                    double margin, std::uint64_t seed, int rounds)
{
    using Answer = std::pair<Seconds, std::size_t>;
    std::priority_queue<Answer, std::vector<Answer>, std::greater<>> coming;
    std::vector<int> asked(workers.size());  // the round of each worker's task
    std::vector<int> counts(workers.size());
    std::vector<bool> rests(workers.size(), true);
    std::vector<std::uint32_t> tasks(workers.size());
    const auto ask = [&](std::size_t i, int round, Seconds now) {
        const auto& [latency, parts] = workers[i];
        Stream stream(seed, Purpose::delay, static_cast<std::uint32_t>(i), tasks[i]++);
        const double part = share / parts;
        const double compute = gamma(stream, latency.compute * part, latency.deviation * part);
        coming.emplace(now + compute + latency.rest, i);
        asked[i] = round;
        rests[i] = false;
    };
    Seconds now = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = now;
        for (std::size_t i = 0; i < workers.size(); ++i)
            if (rests[i]) ask(i, round, now);
        for (int fresh = 0; fresh < collect;) {
            const auto [time, i] = coming.top();
            coming.pop();
            now = time;
            if (asked[i] == round) {
                ++fresh;
                ++counts[i];
                rests[i] = true;
            } else {
                ask(i, round, now);
            }
        }
        const auto end = begin + (1 + margin) * (now - begin);
        while (!coming.empty() && coming.top().first <= end) {
            const auto i = coming.top().second;
            coming.pop();
            counts[i] += asked[i] == round;
            rests[i] = true;
        }
        if (!coming.empty()) now = end;
    }
    std::vector<double> shares;
    for (const int count : counts) shares.push_back(static_cast<double>(count) / rounds);
    return shares;
}

std::vector<int> as_authors(const std::vector<Balanced>& workers, const BalanceRules& rules,
                            int collect, double margin, std::uint64_t seed)
{
    constexpr int rounds = 150;
    auto found = workers;
    const auto time = [&](const Balanced& one) { return answer_time(one, rules.share); };
    double slowest = 0;
    for (const auto& worker : workers) slowest = std::max(slowest, time(worker));
    for (auto& worker : found)
        worker.parts = parts_for(worker.latency, rules.share, slowest, rules.most);
    const auto renewed = [&] {
        const auto fresh = simulated_fresh(found, rules.share, collect, margin, seed, rounds);
        double sum = 0;
        for (std::size_t i = 0; i < found.size(); ++i)
            sum += fresh[i] * rules.share / found[i].parts;
        return sum;
    };
    const auto step = [](const Balanced& one) {
        return std::max(1, static_cast<int>(std::lround(one.parts / 100.0)));
    };
    const auto faster = [&](const Balanced* a, const Balanced* b) { return time(*a) < time(*b); };
    while (renewed() < rules.least) {
        std::vector<Balanced*> able;
        for (auto& one : found)
            if (one.parts >= 2) able.push_back(&one);
        if (able.empty()) break;
        auto& fastest = **std::ranges::min_element(able, faster);
        fastest.parts -= step(fastest);
    }
    constexpr double enough = 0.99, worth = 0.1;
    while (renewed() >= enough * rules.least) {
        std::vector<Balanced*> able;
        for (auto& one : found)
            if (one.parts < rules.most && time(one) - one.latency.rest >= worth * time(one))
                able.push_back(&one);
        if (able.empty()) break;
        auto& slow = **std::ranges::max_element(able, faster);
        slow.parts = std::min(rules.most, slow.parts + step(slow));
    }
    std::vector<int> parts;
    for (const auto& one : found) parts.push_back(one.parts);
    return parts;
}

int aligned(int units, int before, int now, int next)
{
    const auto first = [units](int parts, int part) { return units * part / parts; };
    // The part of a cut that a unit is in.
    const auto part_of = [units](int parts, int unit) { return ((unit + 1) * parts - 1) / units; };
    const int begin = first(before, next) + 1;
    int found = (begin * now + units - 1) / units - 1;
    while (first(before, part_of(before, first(now, found))) != first(now, found)) --found;
    return found;
}

void LatencyWindow::add(Seconds now, double compute, double rest)
{
    constexpr Seconds length = 10;
    constexpr std::size_t most = 256;
    answers_.push_back({now, compute, rest});
    while (answers_.front().time < now - length || answers_.size() > most) answers_.pop_front();
}

std::optional<Latency> LatencyWindow::latency() const
{
    constexpr std::size_t least = 10;
    if (answers_.size() < least) return std::nullopt;
    std::vector<double> compute, rest;
    for (const auto& one : answers_) {
        compute.push_back(one.compute);
        rest.push_back(one.rest);
    }
    const auto [mean, deviation] = middle(std::move(compute));
    return Latency{mean, deviation, middle(std::move(rest)).first};
}

}  // namespace quorate
