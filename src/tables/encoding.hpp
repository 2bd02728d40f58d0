// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <string_view>

namespace quorate {

/// The encoding that a byte order mark tells, as iconv calls it: UTF-16LE, UTF-16BE or UTF-32LE;
/// null if there is none, or that of UTF-8.
const char* encoding_of(std::string_view bytes);

/// Reads text in an encoding as UTF-8, without the byte order mark.
/// @param path  of the file, for messages
/// @throws BadInput  while reading, if there are bytes that the encoding does not allow
std::unique_ptr<std::istream> as_utf8(std::unique_ptr<std::istream> in, const char* encoding,
                                      const std::string& path);

}  // namespace quorate
