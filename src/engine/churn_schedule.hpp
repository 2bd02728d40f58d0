// SPDX-License-Identifier: BSD-2-Clause
// Who leaves, dies and joins when, as planned by the user: at times of the run's clock, after rounds,
// or at random.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "engine/membership_table.hpp"
#include "fleet/fleet.hpp"

namespace quorate {

class ChurnSchedule {
public:
    /// Nobody comes or goes.
    ChurnSchedule() = default;
    /// @param settings  reads `events`: "3.0 leave 4; 100r join 4; 7.5 kill 2", a file of such, or
    ///                  random:leave=P,join=P,least=N
    /// @throws BadInput for what cannot be, with where it stands
    ChurnSchedule(const Settings& settings, int workers, std::uint64_t seed);

    /// When something is due next.
    Seconds next() const;
    /// What is due now.
    std::vector<Change> due(Seconds now);
    /// What happens after that many rounds.
    std::vector<Change> after_round(std::int64_t round, const MembershipTable& members);
    /// What was due by then has happened in a run that is resumed.
    void skip(Seconds now, std::int64_t round);
    /// Whether a worker is to join yet.
    bool joins() const;

private:
    struct Planned {
        double at;
        Change change;
    };
    struct Chance {
        double leave = 0, join = 0;
        std::size_t least = 1;  // workers that stay
    };
    std::vector<Change> planned_by(std::int64_t round);
    void read(const Settings& settings, const std::string& text, int workers);
    void read_chance(const Settings& settings, const std::string& text, int workers);

    std::vector<Planned> by_time_, by_round_;  // ascending
    std::size_t time_ = 0, round_ = 0;         // the next of each
    std::optional<Chance> chance_;
    std::uint64_t seed_ = 0;
};

/// The option that says it.
Option events_option();

}  // namespace quorate
