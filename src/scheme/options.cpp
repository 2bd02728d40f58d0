// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/options.hpp"

namespace quorate {

Option stragglers_option()
{
    return {"stragglers", "S", "1", "stragglers tolerated: each partition is on S + 1 workers"};
}

int stragglers(const Settings& settings, int most)
{
    return static_cast<int>(settings.integer("stragglers", 0, most));
}

Option collect_option()
{
    return {"collect", "M", "", "answers after which a round ends; default: half of the workers"};
}

int collect(const Settings& settings, int workers)
{
    return settings.on("collect") ? static_cast<int>(settings.integer("collect", 1, workers))
                                  : (workers + 1) / 2;
}

Option degree_option(const std::string& fallback)
{
    return {"degree", "D", fallback, "partitions that a worker holds, on average for random codes"};
}

int degree(const Settings& settings, int most)
{
    return static_cast<int>(settings.integer("degree", 1, most));
}

Option deadline_option()
{
    return {"deadline", "SECONDS", "",
            "a round ends after so many seconds with what has come, at the first answer at the "
            "earliest; default: it waits for its quorum"};
}

Seconds deadline(const Settings& settings)
{
    return settings.on("deadline") ? settings.real("deadline", 0) : never;
}

}  // namespace quorate
