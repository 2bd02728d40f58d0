// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace quorate {

/// Refuses a file that seems to be text, but is of a kind that is known and not read here, or no
/// text; and says what it is and what to do.
/// @param path  of the file  @param bytes  its beginning, after decompression
/// @throws BadInput if it is one
void refuse_foreign(const std::string& path, const std::string& bytes);

}  // namespace quorate
