// SPDX-License-Identifier: BSD-2-Clause
// Deadlines that follow from the times of the last rounds.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "scheme/scheme.hpp"

namespace quorate {

/// Ends a round when a quorum has answered and whoever is still silent is unusually late. With the
/// times of the last rounds, in seconds since their tasks were given out and infinite for workers
/// that were not heard in their round,
///
///   m = lower median,  D = m + K * (lower median of |time - m|),
///   end = max(time of the Q-th answer, min(D, that time + CAP)).
///
/// There is no D while half of the times or more are infinite, and in the first round.
class AdaptiveDeadline {
public:
    struct Rule {
        int quorum;             // Q
        double deviations = 5;  // K
        int rounds = 20;        // whose times count
        Seconds cap = never;    // CAP
    };
    /// @param workers  that are asked in each round; a quorum of more is all of them
    AdaptiveDeadline(int workers, const Rule& rule) : workers_(workers), rule_(rule)
    {
        rule_.quorum = std::min(workers, rule.quorum);
    }

    /// Begins a round. O(workers x rounds that count).
    void begin();
    /// Takes note of an answer. @param elapsed  seconds since the tasks of the round were given out
    void answered(Seconds elapsed) { times_.back().push_back(elapsed); }
    /// Seconds after which the round ends; nothing before the quorum is there, and `never` if all
    /// are waited for.
    std::optional<Seconds> limit() const;
    /// D of the running round; never: there is none.
    Seconds deadline() const { return deadline_; }

private:
    Seconds choose() const;

    int workers_;
    Rule rule_;
    std::deque<std::vector<Seconds>> times_;  // of the answers, by round; the running one is last
    Seconds deadline_ = never;
};

/// When rounds end with what has come (--deadline): after a fixed time, or an adaptive one; or
/// never.
struct RoundLimit {
    Seconds fixed = never;
    std::optional<AdaptiveDeadline::Rule> adaptive = {};
    bool given() const { return fixed != never || adaptive; }
};
void read_option(RoundLimit& limit, const GivenWords& given);
std::string written(const RoundLimit& limit, const OptionRow&);

}  // namespace quorate
