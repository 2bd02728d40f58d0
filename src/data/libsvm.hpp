// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <istream>
#include <string>

#include "data/examples.hpp"

namespace quorate {

/// Reads LIBSVM (LIBLINEAR) text: "label index:value index:value ...", indices from 1, ascending;
/// what follows a # is a comment. Zero values are dropped. O(bytes).
/// @param name     of the file, for messages
/// @param columns  number of columns; 0: as many as the largest index
/// @throws BadInput with file, line and column of what is wrong
Examples read_libsvm(std::istream& in, const std::string& name, std::int64_t columns);

}  // namespace quorate
