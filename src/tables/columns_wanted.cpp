// SPDX-License-Identifier: BSD-2-Clause
#include "tables/formats.hpp"

namespace quorate {

std::int64_t columns_wanted(const Settings& settings)
{
    const bool of_other = settings.has("like") && settings.on("like") && !settings.given("columns");
    return of_other || !settings.on("columns") ? 0 : settings.integer("columns", 1);
}

}  // namespace quorate
