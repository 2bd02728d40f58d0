// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quorate {

/// Reads an amount of memory, such as 755GiB, 4G, 500M or 4gb, in bytes. All units are binary.
/// Nothing if the text is not one.
/// @param unit  bytes that a number without a unit counts; 0: it is no amount
std::optional<double> to_bytes(std::string_view text, double unit = 0);

/// Reads a time as to_duration() does.
/// @param unit  seconds that a number without a unit counts; 0: it is no time
std::optional<double> to_time(std::string_view text, double unit = 0);

/// Writes seconds as schedulers do, rounded up to minutes: 12:05:00.
std::string clock_time(double seconds);

/// Writes seconds for people: 3 h, 40 min, 12 s.
std::string spoken_time(double seconds);

}  // namespace quorate
