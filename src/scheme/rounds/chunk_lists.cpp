// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/rounds/chunk_lists.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace quorate {

ChunkLists lists_of(const Encoding& code, int pieces, bool rotate)
{
    ChunkLists lists{code.partitions * pieces, {}};
    for (int i = 0; i < code.workers(); ++i) {
        auto row = code.rows[i][0];
        if (rotate) std::ranges::rotate(row, std::ranges::find(row, i, &Coefficient::partition));
        auto& list = lists.chunks_of.emplace_back();
        bool from_the_end = false;
        for (const auto& [partition, one] : row) {
            for (int piece = 0; piece < pieces; ++piece)
                list.push_back(partition * pieces + (from_the_end ? pieces - 1 - piece : piece));
            from_the_end = rotate && !from_the_end;
        }
    }
    return lists;
}

Row first_chunks(const ChunkList& list, std::int64_t count)
{
    Row row;
    for (const int chunk : std::span(list).first(static_cast<std::size_t>(count)))
        row.push_back({chunk, 1});
    std::ranges::sort(row);
    return row;
}

Plans plans_of(const ChunkLists& lists, const MakePlan& make)
{
    std::map<ChunkList, std::shared_ptr<const Plan>> shared;
    Plans plans;
    for (const auto& list : lists.chunks_of) {
        auto& plan = shared[list];
        if (!plan) plan = std::make_shared<const Plan>(make(list));
        plans.push_back(plan);
    }
    return plans;
}

Layout layout_of(const ChunkLists& lists, const Problem& problem, const MakePlan& make)
{
    Encoding sums{lists.chunks, {}};
    for (const auto& list : lists.chunks_of)
        sums.rows.push_back({first_chunks(list, std::ssize(list))});
    Layout layout(sums, problem);
    layout.plans = plans_of(lists, make);
    return layout;
}

Plan in_parts(const ChunkList& list, bool held)
{
    Plan plan{.parts = {}, .each_when_ready = true};
    for (const int chunk : list)
        plan.parts.push_back({.items = {Item{.block = chunk}}, .held = held});
    return plan;
}

}  // namespace quorate
