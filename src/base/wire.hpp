// SPDX-License-Identifier: BSD-2-Clause
// What the numbers of points and contributions are rounded to before they travel. The rounding
// depends on the number alone, so a rounded point or contribution has the same bits in a message,
// in shared memory, in a replay and in a simulation, and packing it loses nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "base/numbers.hpp"
#include "base/settings.hpp"

namespace quorate {

/// The number that travels: IEEE 754 binary64 or binary32, or bfloat16, the upper half of a
/// binary32.
enum class Wire : std::uint8_t { binary64, binary32, bfloat16 };

/// A float without the lower 16 bits of its significand: 8 are left, with the one that is implied.
class BFloat16 {
public:
    BFloat16() = default;
    /// Rounds to the nearest float, and that to the nearest bfloat16; ties go to the even one. What
    /// is too large becomes an infinity, and NaN stays NaN.
    explicit BFloat16(double value)
    {
        constexpr std::uint32_t below_half = 0x7fff, quiet = 0x0040;
        const auto single = static_cast<float>(value);
        const auto bits = std::bit_cast<std::uint32_t>(single);
        const auto nearest = (bits + below_half + (bits >> 16 & 1)) >> 16;
        // The carry of a NaN might run into its sign, and make it a zero.
        bits_ = static_cast<std::uint16_t>(single == single ? nearest : bits >> 16 | quiet);
    }
    explicit operator double() const
    {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
    }

private:
    std::uint16_t bits_ = 0;
};

/// Numbers as they came: a view.
using Packed =
    std::variant<std::span<const double>, std::span<const float>, std::span<const BFloat16>>;

/// Numbers in memory, as if they had come.
inline Packed packed(ConstNumbers numbers)
{
    return numbers.visit([](auto all) { return Packed(all); });
}

/// Copies numbers of one type to another.
/// @param to  numbers.size() elements
template <class From, class To>
void convert(std::span<const From> numbers, To* to)
{
    for (const auto number : numbers) *to++ = static_cast<To>(static_cast<double>(number));
}

/// Calls f with a number of the type that travels. @return what f returns
template <class F>
auto with_number(Wire wire, F&& f)
{
    switch (wire) {
        case Wire::binary32: return f(float{});
        case Wire::bfloat16: return f(BFloat16(0));
        case Wire::binary64: break;
    }
    return f(double{});
}

/// Bytes of a number that travels.
inline std::size_t bytes_of(Wire wire)
{
    return with_number(wire, [](auto number) { return sizeof number; });
}

/// Whether numbers travel as they stand in memory.
inline bool as_in_memory(Wire wire, Precision precision)
{
    return wire == (precision == Precision::binary64 ? Wire::binary64 : Wire::binary32);
}

/// Replaces each number by the nearest one that travels: for float the nearest float, ties to even;
/// for bfloat16 as BFloat16 does. O(numbers).
void round(Wire wire, Numbers numbers);

/// The option --wire.
Option wire_option();
/// Reads it. @throws BadInput if it is another word
Wire wire_of(const Settings& settings);
/// The numbers that a word of --wire names; `double` for any other, as in a trace that has none.
Wire wire_named(const std::string& word);

}  // namespace quorate
