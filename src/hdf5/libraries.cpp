// SPDX-License-Identifier: BSD-2-Clause
#include "hdf5/libraries.hpp"

namespace quorate {

std::recursive_mutex& libraries()
{
    static std::recursive_mutex mutex;
    return mutex;
}

}  // namespace quorate
