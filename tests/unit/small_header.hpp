// SPDX-License-Identifier: BSD-2-Clause
// The attributes that each trace has, of a run of nothing much.
#pragma once

#include "trace/sink.hpp"

namespace quorate::test {

inline trace::Header small_header(std::int64_t workers, std::int64_t rounds)
{
    trace::Header header;
    for (const auto* name : {"config", "quorate_version", "data", "model", "optimizer", "delay"})
        header.text[name] = "";
    header.text["scheme"] = "uncoded";
    header.text["clock"] = "wall";
    header.real = {{"l2", 0.125}, {"l1", 0}};
    header.integer = {{"seed", 0},      {"workers", workers}, {"rows", 100},
                      {"test_rows", 0}, {"columns", 3},       {"rounds", rounds}};
    return header;
}

}  // namespace quorate::test
