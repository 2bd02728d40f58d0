// SPDX-License-Identifier: BSD-2-Clause
#include "fuzz.hpp"
#include "reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    const quorate::fuzz::File file(bytes, size);
    return quorate::fuzz::answer([&] {
        quorate::test::read_file("numpy", file.path(), {{"missing", "mean,drop"}},
                                 {.max_bytes = 1 << 20});
    });
}
