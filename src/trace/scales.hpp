// SPDX-License-Identifier: BSD-2-Clause
// Dimension scales (HDF5 Dimension Scales Specification; netCDF-4 takes them for its dimensions).
// They tell xarray, and all that reads netCDF, which data sets of a group share a dimension. Local.
#pragma once

#include <span>

#include "hdf5/hdf5.hpp"

namespace quorate::trace {

/// Makes a one-dimensional data set the scale `name`, and attaches it to the first dimension of the
/// others. @throws Failure if HDF5 fails
void share_scale(const h5::DataSet& scale, const char* name, std::span<const h5::DataSet> others);

/// Creates the scale `name` in a group, and attaches it to the last dimension of a data set. The
/// scale has the length of that dimension and holds no values.
/// @param data_set  of one or two dimensions
/// @throws Failure if HDF5 fails
void name_last_dimension(hid_t group, const h5::DataSet& data_set, const char* name);

}  // namespace quorate::trace
