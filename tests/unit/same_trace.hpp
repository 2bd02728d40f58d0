// SPDX-License-Identifier: BSD-2-Clause
// Whether tables of two traces agree, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "trace/table.hpp"

namespace quorate::test {

/// @param but  columns that may differ
template <class Row>
void expect_same_rows(const std::vector<Row>& a, const std::vector<Row>& b,
                      const std::set<std::string>& but = {})
{
    ASSERT_EQ(a.size(), b.size()) << Row::table;
    trace::for_columns<Row>([&](const auto& column) {
        if (but.contains(column.name)) return;
        for (std::size_t i = 0; i < a.size(); ++i) {
            const auto ours = a[i].*column.field, theirs = b[i].*column.field;
            ASSERT_TRUE(ours == theirs || (ours != ours && theirs != theirs))
                << Row::table << " " << i << " " << column.name << ": " << ours << ", " << theirs;
        }
    });
}

}  // namespace quorate::test
