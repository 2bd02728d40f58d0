// SPDX-License-Identifier: BSD-2-Clause
// Schemes, codes, models, delay models and optimisers that Python defines, in the registries beside
// those of C++.
#pragma once

#include <pybind11/pybind11.h>

namespace quorate::bindings {

/// Adds add_component() and what belongs to it to the module.
void add_components(pybind11::module_& module);

}  // namespace quorate::bindings
