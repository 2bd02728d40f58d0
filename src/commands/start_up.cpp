// SPDX-License-Identifier: BSD-2-Clause
#include "commands/start_up.hpp"

#include <algorithm>

#include "base/host.hpp"
#include "parts/plugins.hpp"
#include "ranks/messages.hpp"
#include "transport/clock.hpp"

namespace quorate {

namespace {

constexpr const char* files[] = {"trace", "checkpoint"};  // options that name them

}  // namespace

Hellos receive_hellos(transport::Endpoint& endpoint, Seconds patience)
{
    Hellos hellos;
    hellos.left = {0};
    const auto end = clock_seconds() + patience;
    for (int rank = 1; rank < endpoint.size(); ++rank) {
        const auto message =
            patience == never ? endpoint.receive_from(rank) : endpoint.receive_from(rank, end);
        if (!message) continue;
        hellos.left.push_back(rank);
        MessageReader in(*message->bytes);
        hellos.contributions.push_back(in.get<SharedAddress>());
        hellos.channels.push_back(in.get<SharedAddress>());
        hellos.bells.push_back(in.get<SharedAddress>());
        hellos.free.push_back(in.get<std::int64_t>());
        hellos.hosts.push_back(in.get_list<std::string>());
        hellos.plugins.push_back(in.get_list<std::string>());
        auto& lines = hellos.alike.emplace_back(in.get_length(sizeof(std::int64_t)));
        for (auto& line : lines) line = in.get_list<std::string>();
        const auto parts = in.get_list<std::vector<StatePart>>();
        hellos.states.emplace_back(parts.begin(), parts.end());
    }
    return hellos;
}

void say_hello(transport::Endpoint& endpoint, const std::vector<std::string>& alike,
               const SharedAddress& contributions, const SharedAddress& channel,
               const SharedAddress& bells, const StateCopies& states)
{
    const auto free = free_memory();
    const auto plugins = loaded_plugins();
    auto bytes = make_message(endpoint.pool(), [&](MessageWriter& out) {
        out.put(contributions);
        out.put(channel);
        out.put(bells);
        out.put(free);
        out.put_list(endpoint.host());
        out.put_list(plugins);
        out.put(static_cast<std::int64_t>(alike.size()));
        for (const auto& line : alike) out.put_list(line);
        out.put_list(states.whole());
    });
    endpoint.send(0, transport::Tag::hello, std::move(bytes));
}

void send_join_replies(transport::Endpoint& endpoint, const JoinReply& common,
                       const Settings& chosen, const std::vector<int>& left,
                       const std::vector<int>& ranks,
                       const std::function<void(int rank, JoinReply&)>& own)
{
    for (const int rank : left) {
        if (rank == 0) continue;
        auto reply = common;
        const auto at = std::ranges::find(ranks, rank);
        reply.worker = at == ranks.end() ? -1 : static_cast<Worker>(at - ranks.begin());
        if (own) own(rank, reply);
        endpoint.send(rank, transport::Tag::join_reply,
                      make_message(endpoint.pool(), [&](MessageWriter& out) {
                          out.put(reply);
                          for (const auto* name : files) out.put_list(chosen.text(name));
                          out.put_list(left);
                      }));
    }
    endpoint.flush();
}

std::pair<JoinReply, std::vector<int>> receive_join_reply(transport::Endpoint& endpoint,
                                                          Settings& settings,
                                                          const StateCopies& states)
{
    auto message = endpoint.receive_from(0);
    for (; message.tag == transport::Tag::state_wanted; message = endpoint.receive_from(0))
        endpoint.send(0, transport::Tag::state_piece,
                      states.find(MessageReader(*message.bytes).get<StatePart>()));
    MessageReader in(*message.bytes);
    const auto reply = in.get<JoinReply>();
    for (const auto* name : files) settings.set(name, {in.get_list<std::string>(), "", true});
    return {reply, in.get_list<std::vector<int>>()};
}

}  // namespace quorate
