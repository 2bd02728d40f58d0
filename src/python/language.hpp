// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "scheme/types.hpp"

namespace quorate::bindings {

/// Adds the classes of scheme/types.hpp and of a scheme's needs to the module.
void add_language(pybind11::module_& module);

/// Appends the actions that a Python scheme returned.
/// @param actions  None or a sequence of them
/// @throws pybind11::type_error if one of them is none
void append_actions(const pybind11::object& actions, std::vector<Action>& out);

}  // namespace quorate::bindings
