// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "base/error.hpp"
#include "tables/formats.hpp"

namespace quorate {

void begin_own_test_rows(const Settings& settings, const std::string& path, const std::string& what,
                         RawTable& table)
{
    for (const auto* option : {"test-input", "test-fraction"})
        if (settings.given(option))
            settings.refuse(option, fmt::format(", but {} has test rows of its own, {}: leave it "
                                                "out",
                                                path, what));
    table.begin_test();
}

}  // namespace quorate
