// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pybind11/pybind11.h>

namespace quorate::bindings {

/// Adds the class Trace to the module: tables as dictionaries of arrays that look into it.
void add_trace(pybind11::module_& module);

}  // namespace quorate::bindings
