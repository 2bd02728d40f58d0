// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mutex>

namespace quorate {

/// HDF5 and PETSc are not thread-safe: a thread holds this mutex while it calls them, unless no
/// other thread of the process can. Calls from different threads may come between each other, but
/// those of one object do not: an object belongs to one thread.
std::recursive_mutex& libraries();

}  // namespace quorate
