// SPDX-License-Identifier: BSD-2-Clause
#include "commands/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/share_run.hpp"
#include "run/aggregation.hpp"
#include "run/memory_checkpoint.hpp"

namespace quorate {

bool scores_live(const Settings& settings)
{
    return settings.one_of("evaluate", {"after", "live"}) == "live";
}

bool shares_memory(const Settings& settings) { return settings.text("transport") == "shared"; }

Training training_of_ranks(const Settings& settings, int ranks,
                           const std::optional<int>& began_with)
{
    settings.one_of("transport", {"shared", "messages"});
    const int spare = scores_live(settings) ? 1 : 0;
    const auto standby = settings.integer("standby", 0, std::max(0, ranks - 2 - spare));
    auto training = build_training(
        settings, std::max(1, ranks - 1 - spare - static_cast<int>(standby)), {}, began_with);
    if (spare == 1 && training.here > ranks - 2)
        settings.refuse("evaluate", fmt::format(", but of {} ranks none is to spare beside a "
                                                "coordinator and {} workers: start {} ranks",
                                                ranks, training.here, training.here + 2));
    if (spare == 0 && training.stop_rules.scored())
        settings.refuse(
            training.stop_rules.patience > 0 ? "patience" : "stop-at",
            ", for which models are scored as the run goes on: add --evaluate live, and a "
            "rank for it");
    const auto needed = 1 + training.here + training.standby + spare;
    if (needed > ranks)
        settings.refuse(training.standby > 0 ? "standby" : "workers",
                        fmt::format(", but {} ranks make a coordinator and {} workers: start {} "
                                    "ranks{}",
                                    ranks, ranks - 1, needed,
                                    began_with ? ", or give fewer to go on with" : ""));
    check_aggregation(training);
    check_shares(training);
    memory_interval_of(settings);
    return training;
}

bool may_be_succeeded(const Settings& settings)
{
    return settings.on("resilient") && settings.on("checkpoint");
}

}  // namespace quorate
