// SPDX-License-Identifier: BSD-2-Clause
// What formats have in common.
#include "tables/formats.hpp"

#include <fmt/format.h>

namespace quorate {

Option label_option()
{
    return {"label", "COLUMN|ARRAY", "",
            "the column or array with the labels; of .npz y or y_train if it is left out"};
}

bool is_like(const Settings& settings) { return settings.has("like") && settings.on("like"); }

bool labels_are_optional(const Settings& settings)
{
    return is_like(settings) && !settings.given("label");
}

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
