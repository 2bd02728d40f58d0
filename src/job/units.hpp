// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quorate {

/// Reads an amount of memory, such as 755GiB, 4G or 500M, in bytes. All units are binary. Nothing
/// if the text is not one.
std::optional<double> to_bytes(std::string_view text);

/// Writes seconds as schedulers do, rounded up to minutes: 12:05:00.
std::string clock_time(double seconds);

/// Writes seconds for people: 3 h, 40 min, 12 s.
std::string spoken_time(double seconds);

}  // namespace quorate
