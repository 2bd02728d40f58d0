// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "model/model.hpp"

namespace quorate::bindings {

/// Adds to the module what such models get.
void add_sample_models(pybind11::module_& module);

/// Makes a model whose rows are numbers of samples, which Python has. With the GIL.
/// @param model  an instance of quorate._samples.SampleModel
/// @param data   dense, with one column: the number of the sample
/// @throws BadInput if its data or its numbers are others
std::unique_ptr<Model> make_sample_model(pybind11::object model, const DataShape& data);

}  // namespace quorate::bindings
