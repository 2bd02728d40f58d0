// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <optional>
#include <string>

namespace quorate {

/// Returns JSON as text, whatever bytes its texts hold: names and words of files need not be UTF-8,
/// which JSON is. Bytes that are none are replaced by U+FFFD. All JSON is written by it.
/// @param indent  spaces of each level; -1: all in one line
template <class Json>
std::string json_text(const Json& json, int indent = 2)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Returns null for what is not known, NaN and infinity, which JSON does not have.
template <class Json>
Json json_number(const std::optional<double>& value)
{
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

}  // namespace quorate
