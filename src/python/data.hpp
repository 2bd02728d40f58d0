// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pybind11/pybind11.h>

namespace quorate::bindings {

/// Adds write_dense(), write_sparse() and the class DataSet to the module.
void add_data(pybind11::module_& module);

}  // namespace quorate::bindings
