// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "code/gradient_code.hpp"
#include "scheme/scheme.hpp"

namespace quorate::bindings {

/// Makes a scheme of a Python object. With the GIL.
/// @param object  an instance of quorate.Scheme or quorate.SynchronousScheme
/// @throws BadInput if it is neither, or if its needs do not fit the problem
std::unique_ptr<Scheme> make_scheme(const pybind11::object& object, const Problem& problem);

/// Makes a gradient code of a Python object. With the GIL.
/// @param code  with the attributes matrix (a list of rows), collect (an int or None) and decode
///              (a function or None)
/// @throws BadInput if it is not for so many workers
GradientCode make_code(const pybind11::object& code, const Problem& problem);

}  // namespace quorate::bindings
