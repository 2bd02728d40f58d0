// SPDX-License-Identifier: BSD-2-Clause
// The messages of a simulation whose hosts each add up and update a share of the parameters.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/seconds.hpp"

namespace quorate {

/// What hosts tell one another in steps over shares, as a machine of states: a call says which
/// messages follow, and whoever simulates the network calls receive() when one is there. Host 0 is
/// that of the coordinator, which decides; host i owns share i, if there is one. A step goes so:
///
/// 1. The coordinator tells each owner of the contributions that come (tell()), so that it knows
///    what a step uses: two of them, who hand it on to two others each, and so on.
/// 2. A host that knows the step adds up what its workers contributed, and sends each owner its
///    slice of the sum.
/// 3. An owner that has the slices of all updates its share, reports that to the coordinator, and
///    sends each host its slice of the new point.
/// 4. The coordinator, when it has all reports, tells each host that the step has ended (end()).
///
/// A host has a point when it has all slices of it and knows that the step has ended. Slices may
/// still travel during the next step. Local.
class ShareSteps {
public:
    enum class Kind : std::uint8_t { told, added, sum, report, point, ended };
    /// A message between hosts; `added` is work of one host.
    struct Message {
        Kind kind;
        int from, to;
        std::int64_t step;  // counted from 1
        std::int64_t bytes = 0;
        Seconds work = 0;
        /// Whether it goes the way that tasks go, and not that of contributions.
        bool goes_out() const
        {
            return kind == Kind::told || kind == Kind::point || kind == Kind::ended;
        }
    };
    using Messages = std::vector<Message>;
    /// Of a host and a step: what its used contributions are.
    struct Used {
        std::vector<std::int64_t> bytes = {};  // of their sum, for each share; none: there are none
        Seconds adding = 0;
    };

    /// @param bounds        of the shares, as cut_shares() says
    /// @param of_points     of each host, bytes of a point that it needs of each share
    /// @param header_bytes  of each message, beside what it carries
    ShareSteps(const std::vector<std::int64_t>& bounds,
               std::vector<std::vector<std::int64_t>> of_points, std::int64_t header_bytes);

    /// The coordinator tells the other hosts something. @param bytes  beside the header
    Messages tell(std::int64_t bytes);
    /// Begins a step, of what the coordinator has told. Only if is_over().
    /// @param used  of each host
    Messages begin(std::vector<Used> used);
    /// Takes a message that is there. @return what follows
    Messages receive(const Message& message);
    /// Whether the step has been begun and the coordinator has all reports.
    bool is_over() const { return reports_ == 0; }
    /// The coordinator tells the other hosts that the step is over.
    Messages end();

    /// The steps that have been begun.
    std::int64_t steps() const { return step_; }
    /// The newest step whose point a host has; the first point, 0, is there from the beginning.
    std::int64_t newest(int host) const { return at(host).first - 1; }

private:
    struct Host {
        int untold = 0;  // messages that are on their way from the coordinator
        bool knows = false;
        Used used = {};
        int sums = 0;                  // that it waits for as an owner, and that it knows the step
        std::int64_t first = 1;        // the step of the oldest point of which something is missing
        std::deque<int> missing = {};  // messages of the points of this step and later ones
    };
    Host& at(int host) { return hosts_[static_cast<std::size_t>(host)]; }
    const Host& at(int host) const { return hosts_[static_cast<std::size_t>(host)]; }
    int hosts() const { return static_cast<int>(hosts_.size()); }
    void tell_others(const Message& by, Messages& next) const;
    void know(int host, Messages& next);
    void add_to_share(int owner, Messages& next);
    void note_point(int host, std::int64_t step);
    static void drop_complete(Host& host);

    std::int64_t header_bytes_;
    std::vector<std::vector<std::int64_t>> of_points_;  // by host and share
    std::vector<std::int64_t> of_reports_;              // bytes by share
    std::vector<Host> hosts_;
    int owners_;
    std::int64_t step_ = 0;
    int reports_ = 0;  // that the coordinator waits for
};

}  // namespace quorate
