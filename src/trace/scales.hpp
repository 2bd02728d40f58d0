// SPDX-License-Identifier: BSD-2-Clause
// Dimension scales (HDF5 Dimension Scales Specification; netCDF-4 takes them for its dimensions): with
// them xarray and whatever reads netCDF knows which data sets of a group go along with each other. Local.
#pragma once

#include <span>

#include "data/hdf5.hpp"

namespace quorate::trace {

/// Makes a one-dimensional data set the scale `name`, and attaches it to the first dimension of others.
/// @throws Failure
void share_scale(const h5::DataSet& scale, const char* name, std::span<const h5::DataSet> others);

/// Attaches to the last dimension of a data set the new scale `name` of its group. It has a length and
/// holds no values. @throws Failure
void name_last_dimension(hid_t group, const h5::DataSet& data_set, const char* name);

}  // namespace quorate::trace
