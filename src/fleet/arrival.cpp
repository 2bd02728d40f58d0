// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/arrival.hpp"

namespace quorate {

trace::Arrival row_of(const Arrival& arrival, std::int64_t event, std::int64_t round,
                      const Use& use)
{
    return {.event = event,
            .round = round,
            .worker = arrival.worker,
            .task = arrival.task,
            .part = arrival.part,
            .draw = arrival.draw,
            .version = arrival.newest,
            .version_oldest = arrival.oldest,
            .sent = arrival.sent,
            .arrived = arrival.arrived,
            .compute = arrival.compute,
            .delay = arrival.delay,
            .idle = arrival.idle,
            .send = arrival.send,
            .samples = arrival.samples,
            .bytes = arrival.bytes,
            .used = use.first,
            .uses = use.times};
}

Arrival arrival_of(const trace::Arrival& row)
{
    return {{.worker = static_cast<Worker>(row.worker),
             .part = static_cast<int>(row.part),
             .task = row.task,
             .draw = row.draw,
             .samples = row.samples,
             .oldest = row.version_oldest,
             .newest = row.version,
             .compute = row.compute,
             .delay = row.delay,
             .idle = row.idle,
             .send = row.send},
            {},
            row.sent,
            row.arrived,
            row.bytes,
            0};
}

}  // namespace quorate
