// SPDX-License-Identifier: BSD-2-Clause
#include "code/collect_decoder.hpp"
#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

// Decodes fractional repetition with groups of any size: takes one worker of each group that has
// answered.
Weigh one_a_group(Groups groups)
{
    return [groups = std::move(groups)](const std::vector<int>& received) {
        GroupDecoder decoder(groups, static_cast<int>(received.size()), true);
        const Decoding* decoding = nullptr;
        for (const int worker : received) decoding = decoder.receive(worker);
        return *decoding;
    };
}

GradientCode is_gc(const IsGcOptions& given, const Problem& problem)
{
    const int n = problem.workers, c = given.degree;
    const bool cyclic = given.placement == Placement::cyclic;
    const auto groups = repetition_groups(n, c);
    auto encoding = cyclic ? cyclic_windows(n, c) : repetition_encoding(groups);
    return collecting(std::move(encoding), quorum(given.deadline, given.collect, n),
                      cyclic ? disjoint_windows(n, c) : one_a_group(groups));
}

}  // namespace

SchemeEntry<IsGcOptions> IsGcOptions::entry()
{
    return {.name = "is-gc",
            .text =
                "ignore-straggler gradient coding: after M answers, the largest set of them with "
                "disjoint partitions, scaled; for any number of stragglers at small redundancy",
            .source = "Su, Sukhnandan, Li, ICDCS 2023",
            .options = options<IsGcOptions>(),
            .make = coded(is_gc),
            .properties = {.blocked = until_collected<IsGcOptions>}};
}

}  // namespace quorate
