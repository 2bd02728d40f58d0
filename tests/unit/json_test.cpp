// SPDX-License-Identifier: BSD-2-Clause
#include "base/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace quorate {
namespace {

TEST(Json, BytesThatAreNoUtf8AreReplaced)
{
    const nlohmann::ordered_json json = {{"m\xe4nnlich",
                                          "gr\xf6\xdf"
                                          "er \xc3\xa4"}};
    const std::string text =
        "{\"m\xef\xbf\xbdnnlich\":\"gr\xef\xbf\xbd\xef\xbf\xbd"
        "er \xc3\xa4\"}";
    EXPECT_EQ(json_text(json, -1), text);
    EXPECT_EQ(nlohmann::ordered_json::parse(json_text(json)).size(), 1U);
}

}  // namespace
}  // namespace quorate
