// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "model/model.hpp"

namespace quorate::bindings {

/// Makes a model of a Python object. With the GIL.
/// @param model  an instance of quorate.Model
/// @throws BadInput if it lacks a method, or is not for such data
std::unique_ptr<Model> make_model(pybind11::object model, const DataShape& data);

}  // namespace quorate::bindings
