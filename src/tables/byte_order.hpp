// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <boost/endian/conversion.hpp>

namespace quorate {

/// Reads a number that is stored with its most significant byte first.
/// @param bytes  sizeof(T) of them, in any alignment
template <class T>
T from_big_endian(const char* bytes)
{
    return boost::endian::endian_load<T, sizeof(T), boost::endian::order::big>(
        reinterpret_cast<const unsigned char*>(bytes));
}

}  // namespace quorate
