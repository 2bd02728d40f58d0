// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/links.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace quorate {

namespace {

// Ways whose shares differ by less limit at the same level: else rounding would make more of them.
constexpr double alike = 1 + 1e-12;

constexpr int half = 32;  // bits
std::uint64_t key_of(int from, int to)
{
    return static_cast<std::uint64_t>(from) << half | static_cast<std::uint32_t>(to);
}

}  // namespace

Links::Links(std::vector<int> hosts, std::vector<double> rates)
    : hosts_(std::move(hosts)), rates_(std::move(rates)), ways_(2 * rates_.size())
{
}

void Links::send(int from, int to, std::int64_t bytes, std::size_t message, Seconds now)
{
    pass_until(now);
    const auto lane = key_of(from, to);
    const auto [waiting, is_free] = lanes_.try_emplace(lane);
    if (is_free)
        begin(lane, {message, bytes});
    else
        waiting->second.push_back({message, bytes});
}

void Links::begin(std::uint64_t lane, const Message& message)
{
    const auto from = hosts_[lane >> half];
    const auto to = hosts_[static_cast<std::uint32_t>(lane)];
    const auto [place, is_new] = place_.try_emplace(key_of(from, to), pairs_.size());
    if (is_new) pairs_.push_back({from, to});
    auto& pair = pairs_[place->second];
    pair.flows.push_back(
        {pair.passed + static_cast<double>(message.bytes), begun_++, lane, message.name});
    std::push_heap(pair.flows.begin(), pair.flows.end(), std::greater<>());
    pair.first_end = pair.flows.front().end;
    changed_ = true;
}

Seconds Links::next()
{
    if (changed_) {
        find_rates();
        changed_ = false;
        next_ = never;
        for (const auto& pair : pairs_) next_ = std::min(next_, end_of(pair));
    }
    return next_;
}

std::vector<std::size_t> Links::leave(Seconds now)
{
    if (next() > now) return {};
    std::vector<Flow> left;
    for (auto& pair : pairs_)
        while (!pair.flows.empty() && end_of(pair) <= now) {
            std::pop_heap(pair.flows.begin(), pair.flows.end(), std::greater<>());
            left.push_back(pair.flows.back());
            pair.flows.pop_back();
            if (!pair.flows.empty()) pair.first_end = pair.flows.front().end;
        }
    pass_until(now);
    for (std::size_t i = 0; i < pairs_.size();) {
        if (!pairs_[i].flows.empty()) {
            ++i;
            continue;
        }
        place_.erase(key_of(pairs_[i].from, pairs_[i].to));
        if (i + 1 < pairs_.size()) {
            pairs_[i] = std::move(pairs_.back());
            place_[key_of(pairs_[i].from, pairs_[i].to)] = i;
        }
        pairs_.pop_back();
    }
    std::ranges::sort(left, {}, &Flow::order);
    std::vector<std::size_t> names;
    for (const auto& flow : left) {
        names.push_back(flow.name);
        const auto waiting = lanes_.find(flow.lane);
        if (waiting->second.empty()) {
            lanes_.erase(waiting);
            continue;
        }
        begin(flow.lane, waiting->second.front());
        waiting->second.erase(waiting->second.begin());
    }
    changed_ = true;
    return names;
}

void Links::pass_until(Seconds now)
{
    if (now == now_) return;
    next();  // finds the rates
    for (auto& pair : pairs_) pair.passed += pair.rate * (now - now_);
    now_ = now;
}

Seconds Links::end_of(const Pair& pair) const
{
    return std::isinf(pair.rate) ? now_ : now_ + (pair.flows.front().end - pair.passed) / pair.rate;
}

// Progressive filling (Bertsekas, Gallager, Data Networks, 6.5.2): the rates of all flows grow
// until a way is full, which fixes those of its flows; the others grow on.
void Links::find_rates()
{
    list_pairs();
    std::vector<Way*> open, full;
    for (auto& way : ways_)
        if (way.flows > 0) open.push_back(&way);
    while (!open.empty()) {
        auto level = std::numeric_limits<double>::infinity();
        for (const auto* way : open) level = std::min(level, way->share());
        full.clear();
        std::ranges::copy_if(open, std::back_inserter(full),
                             [&](const Way* way) { return way->share() <= level * alike; });
        for (const auto* way : full)
            for (auto i = way->first; i < way->first + way->pairs; ++i)
                fix(pairs_[pairs_of_ways_[i]], level);
        std::erase_if(open, [](const Way* way) { return way->flows == 0; });
    }
}

// Sets the rate of a pair's flows, unless it is known.
void Links::fix(Pair& pair, double rate)
{
    if (pair.rate >= 0) return;
    pair.rate = rate;
    const auto flows = std::ssize(pair.flows);
    for (auto* way : {&out_of(pair), &into(pair)}) {
        way->flows -= flows;
        if (!std::isinf(way->room)) way->room -= rate * static_cast<double>(flows);
    }
}

// Lists the pairs of each way, whose rates are not known then.
void Links::list_pairs()
{
    for (std::size_t i = 0; i < ways_.size(); ++i) ways_[i] = {rates_[i / 2]};
    for (auto& pair : pairs_) {
        pair.rate = -1;
        for (auto* way : {&out_of(pair), &into(pair)}) {
            way->flows += std::ssize(pair.flows);
            ++way->pairs;
        }
    }
    std::size_t end = 0;
    for (auto& way : ways_) {
        way.first = end;
        end += std::exchange(way.pairs, 0);
    }
    pairs_of_ways_.resize(end);
    for (std::size_t i = 0; i < pairs_.size(); ++i)
        for (auto* way : {&out_of(pairs_[i]), &into(pairs_[i])})
            pairs_of_ways_[way->first + way->pairs++] = i;
}

}  // namespace quorate
