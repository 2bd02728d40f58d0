// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/rounds/adaptive_deadline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace quorate {

namespace {

// Returns the lower median of these numbers and of `missing` infinite ones.
double lower_median(std::vector<double>& numbers, std::size_t missing)
{
    const auto all = numbers.size() + missing;
    if (all == 0 || (all - 1) / 2 >= numbers.size()) return never;
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>((all - 1) / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    return *middle;
}

}  // namespace

void AdaptiveDeadline::begin()
{
    deadline_ = choose();
    times_.emplace_back();
    if (std::ssize(times_) > rule_.rounds) times_.pop_front();
}

Seconds AdaptiveDeadline::choose() const
{
    std::vector<double> times;
    for (const auto& round : times_) times.insert(times.end(), round.begin(), round.end());
    const auto missing = times_.size() * static_cast<std::size_t>(workers_) - times.size();
    const auto median = lower_median(times, missing);
    if (median == never || rule_.deviations == 0) return median;
    for (auto& time : times) time = std::abs(time - median);
    return median + rule_.deviations * lower_median(times, missing);
}

std::optional<Seconds> AdaptiveDeadline::limit() const
{
    const auto& answers = times_.back();
    if (std::ssize(answers) < rule_.quorum) return std::nullopt;
    const auto quorum = answers[static_cast<std::size_t>(rule_.quorum) - 1];
    return std::max(quorum, std::min(deadline_, quorum + rule_.cap));
}

void read_option(RoundLimit& limit, const GivenWords& given)
{
    const auto words = split(given.text(), ':');
    if (words[0] != "adaptive") {
        limit.fixed = given.settings.seconds(given.name());
        return;
    }
    const auto numbers = words.size() == 2 ? split(words[1], ',') : std::vector<std::string>();
    if (numbers.size() < 2 || numbers.size() > 4)
        given.refuse(": write SECONDS or adaptive:Q,K[,W,CAP], such as adaptive:" +
                     std::to_string((given.workers + 1) / 2) + ",5");
    const auto whole = [&](std::size_t at, const std::string& name) {
        const auto number = to_integer(numbers[at]);
        if (!number || *number < 1 || *number > 1'000'000)
            given.refuse(", but " + name + " is no whole number from 1 to 1000000");
        return static_cast<int>(*number);
    };
    const auto deviations = to_real(numbers[1]).value_or(-1);
    if (deviations < 0) given.refuse(", but K is no number of at least 0");
    AdaptiveDeadline::Rule rule{.quorum = whole(0, "Q"), .deviations = deviations};
    if (numbers.size() > 2) rule.rounds = whole(2, "W");
    if (numbers.size() > 3) {
        rule.cap = to_seconds(numbers[3]).value_or(0);
        if (rule.cap == 0) given.refuse(", but CAP is no time above 0, such as 0.5 or 500ms");
    }
    limit.adaptive = rule;
}

std::string written(const RoundLimit& limit, const OptionRow&)
{
    if (!limit.adaptive) return limit.fixed == never ? "" : fmt::format("{}", limit.fixed);
    const auto& [quorum, deviations, rounds, cap] = *limit.adaptive;
    return fmt::format("adaptive:{},{},{}", quorum, deviations, rounds) +
           (cap == never ? "" : fmt::format(",{}", cap));
}

}  // namespace quorate
