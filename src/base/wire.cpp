// SPDX-License-Identifier: BSD-2-Clause
#include "base/wire.hpp"

namespace quorate {

namespace {

constexpr const char *of_binary64 = "double", *of_binary32 = "float", *of_bfloat16 = "bfloat16";

}  // namespace

void round(Wire wire, Numbers numbers)
{
    if (as_in_memory(wire, numbers.precision())) return;
    with_number(wire, [&]<class Number>(Number) {
        numbers.visit([]<class T>(std::span<T> all) {
            for (auto& number : all)
                number = static_cast<T>(static_cast<double>(static_cast<Number>(number)));
        });
    });
}

Option wire_option()
{
    return {"wire", "double|float|bfloat16", of_binary64,
            "what the numbers of points and contributions are rounded to on their way: 8, 4 or 2 "
            "bytes each; sums stay as they are in memory"};
}

Wire wire_of(const Settings& settings)
{
    return wire_named(settings.one_of("wire", {of_binary64, of_binary32, of_bfloat16}));
}

Wire wire_named(const std::string& word)
{
    if (word == of_binary32) return Wire::binary32;
    return word == of_bfloat16 ? Wire::bfloat16 : Wire::binary64;
}

}  // namespace quorate
