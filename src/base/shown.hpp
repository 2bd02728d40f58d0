// SPDX-License-Identifier: BSD-2-Clause
// Pieces of files and of other foreign text, as messages may show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quorate {

/// A piece of a file for a message: what cannot be printed, or is no UTF-8, as question marks; only
/// so many characters of it, with "..." if there are more. Whatever a file holds, a message stays a
/// line.
std::string shown(std::string_view piece, std::size_t most = 40);

/// Lines of text as a terminal may have them: control characters, which it would obey, become
/// question marks.
std::string harmless(std::string_view lines);

/// "a, b, c": such pieces, up to ten of them; "..." if there are more.
std::string shown(const std::vector<std::string>& names);

/// The end of a message about a name that is not in a file: "; did you mean X?" or "; use one of a,
/// b, c".
std::string shown_near(std::string_view name, const std::vector<std::string>& names);

}  // namespace quorate
