// SPDX-License-Identifier: BSD-2-Clause
#include "cli/parse.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    const quorate::fuzz::File file(bytes, size);
    const quorate::Command command = {
        "run", "", "", {{"rounds", "N", "1", ""}, {"scheme", "NAME", "uncoded", ""}}, {}};
    return quorate::fuzz::answer([&] {
        const auto settings = quorate::parse(command, {"--config", file.path()});
        settings.integer("rounds", 0);
    });
}
