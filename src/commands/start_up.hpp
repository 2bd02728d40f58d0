// SPDX-License-Identifier: BSD-2-Clause
// What ranks tell one another at the start of a run, before it is known whether it takes place.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "ranks/state_copies.hpp"
#include "scheme/types.hpp"
#include "transport/endpoint.hpp"
#include "transport/shared_file.hpp"

namespace quorate {

/// Statuses of join replies: the run that is to be resumed is complete already; some rank is dead,
/// and those that are left start once more.
inline constexpr int nothing_to_do = -1, start_again = -2;

/// The coordinator's answer to the hello of a rank: whether the run takes place, and which worker
/// the rank is.
struct JoinReply {
    SharedAddress bells = {}, points = {};
    std::int64_t reads = 0;     // whether the coordinator reads the rank's contributions in place
    std::int64_t channel = 0;   // whether it has opened the rank's channel
    std::int64_t launched = 0;  // the coordinator's launched_process()
    // exit_done: the run takes place. Otherwise why not: one of those above, or an exit status.
    std::int64_t status = exit_done;
    Worker worker = -1;      // -1: no worker; the rank is a standby rank, idle, or scores models
    int began_with = 0;      // workers that the run began with
    std::int64_t loads = 0;  // whether that worker loads at once what it stored in the beginning
    std::int64_t round = 0;  // after which the run goes on; 0: it begins
};

/// What the ranks say of themselves. Element 0 is that of rank 1.
struct Hellos {
    std::vector<int> left;  // ranks that have spoken, and this one
    std::vector<std::string> hosts, plugins;
    std::vector<std::vector<std::string>> alike;  // to_be_alike()
    std::vector<std::int64_t> free;               // bytes of memory
    std::vector<SharedAddress> contributions, channels, bells;
    std::vector<std::set<StatePart>> states;  // parts of states that they keep
};

/// Waits for the hello of every other rank. On the coordinator.
/// @param patience  seconds after which a rank that has not spoken is taken for dead
/// @throws transport::Unreachable  if there is no end to that, and a rank is dead
Hellos receive_hellos(transport::Endpoint& endpoint, Seconds patience);
/// Tells the coordinator what this rank says of itself: where it writes contributions, its channel,
/// the bells that it has made, the bytes of memory that it may take, its host, its plugins, its
/// options, and which parts of states it keeps.
void say_hello(transport::Endpoint& endpoint, const std::vector<std::string>& alike,
               const SharedAddress& contributions, const SharedAddress& channel,
               const SharedAddress& bells, const StateCopies& states);
/// Sends every other rank its join reply. On the coordinator.
/// @param common  what the replies of all ranks have
/// @param chosen  with the files of the run
/// @param left    ranks, as Hellos has them
/// @param ranks   for each worker, its rank; none if the run does not take place
/// @param own     fills in what is of one rank
void send_join_replies(transport::Endpoint& endpoint, const JoinReply& common,
                       const Settings& chosen, const std::vector<int>& left,
                       const std::vector<int>& ranks = {},
                       const std::function<void(int rank, JoinReply&)>& own = {});
/// Waits for the join reply of this rank. Sends the coordinator the parts of a state that it asks
/// for meanwhile.
/// @param settings  gets the files of the run as the coordinator has chosen them, because whoever
///                  takes its place writes them
/// @return it, and the ranks that are left
std::pair<JoinReply, std::vector<int>> receive_join_reply(transport::Endpoint& endpoint,
                                                          Settings& settings,
                                                          const StateCopies& states);

}  // namespace quorate
