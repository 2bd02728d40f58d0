// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/newest/restarts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace quorate {

namespace {

constexpr std::int64_t first_free = 20;  // tasks of a worker without a limit, at the beginning
constexpr std::int64_t explore_every = 20;
constexpr std::int64_t anew_every = 10;  // times after which the limit is found anew
constexpr std::size_t remembered = 100;  // times

}  // namespace

Seconds best_restart(std::span<const Seconds> times)
{
    std::vector<Seconds> sorted(times.begin(), times.end());
    std::ranges::sort(sorted);
    const auto m = static_cast<double>(sorted.size());
    Seconds best = never, cost = std::reduce(sorted.begin(), sorted.end()) / m, sum = 0;
    for (std::size_t k = 1; k < sorted.size(); ++k) {
        const auto limit = sorted[k - 1], count = static_cast<double>(k);
        sum += limit;
        // The times up to the limit, and the limit for each longer one, over the successes.
        if (const auto with = (sum + (m - count) * limit) / count; with < cost) {
            cost = with;
            best = limit;
        }
    }
    return best;
}

Restarts::Restarts(int workers, Seconds limit)
    : fixed_(limit > 0), own_(workers, Own{fixed_ ? limit : never}), unknown_(fixed_ ? 0 : workers)
{
}

Seconds Restarts::next(Worker worker)
{
    auto& own = own_[worker];
    own.exploring = !fixed_ && (own.free < first_free || own.given % explore_every == 0);
    ++own.given;
    return own.exploring ? never : own.limit;
}

void Restarts::ended(Worker worker, Seconds seconds, bool complete)
{
    auto& own = own_[worker];
    if (fixed_) {
        ++own.limited;
        own.complete += complete;
        return;
    }
    // Where no limit is best, all tasks tell.
    if (!own.exploring && own.limit != never) return;
    if (own.times.size() < remembered)
        own.times.push_back(seconds);
    else
        own.times[static_cast<std::size_t>(own.free) % remembered] = seconds;
    ++own.free;
    if (own.free < first_free || (own.free - first_free) % anew_every != 0) return;
    if (own.free == first_free) --unknown_;
    own.limit = best_restart(own.times);
}

double Restarts::success(Worker worker) const
{
    const auto& own = own_[worker];
    if (own.limit == never) return 1;
    // One more of each, so that a worker of which nothing is known is believed to be in time.
    if (fixed_) return static_cast<double>(own.complete + 1) / static_cast<double>(own.limited + 1);
    const auto in_time =
        std::ranges::count_if(own.times, [&](Seconds time) { return time <= own.limit; });
    return static_cast<double>(in_time) / static_cast<double>(own.times.size());
}

Seconds Restarts::cost(Worker worker) const
{
    const auto& own = own_[worker];
    if (own.limit != never) return own.limit;
    if (own.times.empty()) return never;
    return std::reduce(own.times.begin(), own.times.end()) / static_cast<double>(own.times.size());
}

Restarts restarts(Seconds limit, const Problem& problem, std::int64_t samples)
{
    if (limit == limit_by_times) return {problem.workers, 0};
    if (limit == 0) throw Refusal("restart-after", ": use a number above 0");
    if (const auto least = static_cast<double>(samples) * problem.row_time; least > limit)
        throw Refusal("restart-after",
                      fmt::format(", but a task of {} row{} takes {:g} s: use a longer one, or a "
                                  "smaller --batch",
                                  samples, samples == 1 ? "" : "s", least));
    return {problem.workers, limit};
}

}  // namespace quorate
