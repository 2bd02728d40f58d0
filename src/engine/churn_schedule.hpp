// SPDX-License-Identifier: BSD-2-Clause
// The changes of membership that the user plans: at times of the run's clock, after rounds, or at
// random.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/settings.hpp"
#include "engine/failures.hpp"
#include "engine/membership_table.hpp"
#include "fleet/fleet.hpp"

namespace quorate {

/// Tells the engine which workers are to leave, die and join when. Each planned change is returned
/// once. Local; used by the engine's thread.
class ChurnSchedule {
public:
    /// Plans nothing: no worker comes or goes.
    ChurnSchedule() = default;
    /// Reads the plan.
    /// @param settings  its option `events` holds "3.0 leave 4; 100r join 4; 7.5 kill 2" (times in
    ///                  seconds or rounds), the name of a file of such events, max-away=N,
    ///                  random:leave=P,join=P,least=N, random:change=P,numbers=N+N*W or
    ///                  failures:mtbf=S,repair=S,together=N
    /// @param workers   of the run, numbered from 0
    /// @param seed      of the random changes
    /// @throws BadInput if an event cannot be read, names no worker of the run, or has a worker
    ///         join that died before; with the event and the origin of the option
    ChurnSchedule(const Settings& settings, int workers, std::uint64_t seed);

    /// Returns the time of the next change at a time, in seconds; never: none.
    Seconds next() const;
    /// Returns the changes whose time has come, in the order of their times.
    std::vector<Change> due(Seconds now);
    /// Returns the changes that come after `round` rounds: the planned ones, then the random ones.
    /// O(workers) if changes are random.
    /// @param round    ascends from call to call
    /// @param members  who takes part now; only random changes depend on it
    std::vector<Change> after_round(std::int64_t round, const MembershipTable& members);
    /// Drops all that was due by then, because it has happened before a resumed run goes on.
    void skip(Seconds now, std::int64_t round);
    /// Whether a worker is still to join at a planned time. Joins after rounds and at random do not
    /// count, because no round ends while the engine waits for workers.
    bool joins() const;

private:
    struct Planned {
        double at;  // seconds, or rounds
        Change change;
    };
    struct Chance {
        double leave = 0, join = 0;  // probabilities of each worker, after each round
        std::size_t least = 1;       // workers that stay
        double change = 0;           // probability that the number of workers is drawn again
        std::vector<std::size_t> numbers = {};  // from these, each alike
    };
    std::vector<Change> planned_by(std::int64_t round);
    void read(const Settings& settings, const std::string& text, int workers);
    void read_most_away(const Settings& settings, const std::string& text, int workers);
    void read_chance(const Settings& settings, const std::string& text, int workers);
    void read_failures(const Settings& settings, const std::string& text, int workers);
    void each_by_chance(Stream& stream, const MembershipTable& members,
                        std::vector<Change>& all) const;
    void number_by_chance(Stream& stream, const MembershipTable& members,
                          std::vector<Change>& all) const;

    std::vector<Planned> by_time_, by_round_;  // ascending
    std::size_t time_ = 0, round_ = 0;         // the next of each
    std::optional<Chance> chance_;
    std::optional<Failures> failures_;
    std::uint64_t seed_ = 0;
};

/// Returns the option `events`, which the schedule reads.
Option events_option();

}  // namespace quorate
