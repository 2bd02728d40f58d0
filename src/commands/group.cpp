// SPDX-License-Identifier: BSD-2-Clause
#include "commands/group.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"

namespace quorate {

void Group::shrink(std::vector<int> ranks)
{
    if (left_)
        for (auto& rank : ranks) rank = left_->behind(rank);
    left_.reset();
    left_.emplace(world_, std::move(ranks), ++losses_);
}

Settings Group::to_go_on(Settings settings, std::size_t ranks) const
{
    const int spare = settings.text("evaluate") == "live" ? 1 : 0;
    const auto most = static_cast<std::int64_t>(ranks) - 1 - spare;
    const auto standby = settings.integer("standby", 0);
    const auto set = [&](const char* name, const std::string& value) {
        settings.set(name, {value, "", true});
    };
    auto workers = std::max<std::int64_t>(1, most - standby);
    if (settings.on("workers")) {
        workers = std::clamp<std::int64_t>(settings.integer("workers", 1), 1,
                                           std::max<std::int64_t>(1, most));
        set("workers", std::to_string(workers));
    }
    set("standby", std::to_string(std::clamp<std::int64_t>(most - workers, 0, standby)));
    if (const auto walltime = to_duration(settings.text("walltime")))
        set("walltime", std::to_string(*walltime - (clock_seconds() - began_)));
    set("resume", "on");
    settings.set("overwrite", {"", "", false});
    return settings;
}

}  // namespace quorate
