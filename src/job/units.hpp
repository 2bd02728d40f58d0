// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quorate {

/// An amount of memory, as 755GiB, 4G or 500M (binary units all); nothing if the text is not one.
std::optional<double> to_bytes(std::string_view text);

/// Seconds as schedulers write them, rounded up to minutes: 12:05:00.
std::string clock_time(double seconds);

/// A time for people: 3 h, 40 min, 12 s.
std::string spoken_time(double seconds);

}  // namespace quorate
