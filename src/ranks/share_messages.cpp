// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/share_messages.hpp"

#include <algorithm>

namespace quorate {

namespace {

// Workers with equal supports share them, as replicas do.
std::shared_ptr<const Support> shared_with(const std::vector<ShareWorker>& workers,
                                           std::shared_ptr<const Support> ShareWorker::*which,
                                           Support support)
{
    for (const auto& worker : workers)
        if (const auto& known = worker.*which; known && *known == support) return known;
    return std::make_shared<const Support>(std::move(support));
}

// A worker as it travels, before its supports.
struct WorkerHead {
    std::int64_t rank, group, rows, columns, shard, whole;
};

}  // namespace

std::shared_ptr<transport::Bytes> encode(const Ownership& ownership, transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) {
        out.put(ownership.share);
        out.put_list(ownership.shares.bounds);
        out.put_list(ownership.shares.ranks);
        out.put_list(ownership.shares.groups);
        out.put(static_cast<std::int64_t>(ownership.workers.size()));
        for (const auto& [info, shard, part, whole] : ownership.workers) {
            out.put(WorkerHead{info.rank, info.group, info.rows, info.columns, shard,
                               whole != nullptr});
            out.put_support(*part);
            if (whole) out.put_support(*whole);
        }
        out.put_list(ownership.peers);
        out.put_list(ownership.step);
    });
}

Ownership decode_ownership(const transport::Bytes& bytes)
{
    MessageReader in(bytes);
    Ownership own;
    own.share = in.get<std::int64_t>();
    own.shares.bounds = in.get_list<std::vector<std::int64_t>>();
    own.shares.ranks = in.get_list<std::vector<int>>();
    own.shares.groups = in.get_list<std::vector<int>>();
    const auto size = own.shares.size(static_cast<std::size_t>(own.share));
    const auto count = in.get_length(sizeof(WorkerHead));
    for (std::size_t i = 0; i < count; ++i) {
        const auto head = in.get<WorkerHead>();
        auto part = shared_with(own.workers, &ShareWorker::part,
                                in.get_support(static_cast<std::int64_t>(size)));
        auto& worker = own.workers.emplace_back();
        worker.info.rank = static_cast<int>(head.rank);
        worker.info.group = static_cast<int>(head.group);
        worker.info.rows = head.rows;
        worker.info.columns = head.columns;
        worker.info.shared = true;
        worker.shard = static_cast<ShardNumber>(head.shard);
        worker.part = std::move(part);
        if (head.whole != 0)
            worker.whole = shared_with(own.workers, &ShareWorker::whole,
                                       in.get_support(own.shares.bounds.back()));
    }
    own.peers = in.get_list<std::vector<Peer>>();
    own.step = in.get_list<std::string>();
    return own;
}

namespace {

// A contribution as it travels, before the versions of its items.
struct CameHead {
    ContributionInfo info;
    Seconds sent, arrived;
    std::int64_t bytes;
    Losses losses;
    KeptBlock at;
    std::int64_t first, length;
};

}  // namespace

std::shared_ptr<transport::Bytes> encode(const EngineEvent& event, transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) {
        out.put(event.kind);
        out.put(event.time);
        out.put(event.timer);
        out.put(event.kept);
        out.put_list(event.changes);
        out.put(static_cast<std::int64_t>(event.arrivals.size()));
        for (const auto& [arrival, losses, at, first, length] : event.arrivals) {
            out.put(CameHead{arrival, arrival.sent, arrival.arrived, arrival.bytes, losses, at,
                             first, length});
            out.put_list(arrival.versions);
        }
    });
}

EngineEvent decode_event(const transport::Bytes& bytes)
{
    MessageReader in(bytes);
    EngineEvent event{in.get<EngineEvent::Kind>()};
    event.time = in.get<Seconds>();
    event.timer = in.get<std::int64_t>();
    event.kept = in.get<std::int64_t>();
    event.changes = in.get_list<std::vector<Change>>();
    const auto count = in.get_length(sizeof(CameHead));
    for (std::size_t i = 0; i < count; ++i) {
        const auto head = in.get<CameHead>();
        event.arrivals.push_back({{head.info, in.get_list<std::vector<Version>>(), head.sent,
                                   head.arrived, head.bytes, 0},
                                  head.losses,
                                  head.at,
                                  head.first,
                                  head.length});
    }
    return event;
}

std::shared_ptr<transport::Bytes> encode(const Adopted& contribution, transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) {
        out.put(static_cast<std::int64_t>(contribution.worker));
        out.put(contribution.losses);
        out.put(static_cast<std::int64_t>(contribution.support != nullptr));
        if (!contribution.support) return;
        out.put_support(*contribution.support);
        out.put_list(contribution.values);
    });
}

Adopted decode_adopted(const transport::Bytes& bytes, std::int64_t parameters)
{
    MessageReader in(bytes);
    Adopted contribution{static_cast<Worker>(in.get<std::int64_t>()), in.get<Losses>()};
    if (in.get<std::int64_t>() == 0) return contribution;
    contribution.support = std::make_shared<const Support>(in.get_support(parameters));
    contribution.values = in.get_list<std::vector<double>>();
    return contribution;
}

}  // namespace quorate
