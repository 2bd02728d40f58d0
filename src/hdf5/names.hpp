// SPDX-License-Identifier: BSD-2-Clause
// What a name in an HDF5 file of another program stands for, and whether it can be read.
#pragma once

#include <string>

#include "hdf5/hdf5.hpp"

namespace quorate::h5 {

enum class Elements { numbers, words };

/// Says why an array cannot be read: there is no such name, it is a link to what is not there, or a
/// group, its elements are neither numbers nor words, or a filter that packed it is missing.
/// @return ", but ..." for a message that begins with the name; empty: it can be read
std::string fault_of_array(const File& file, const std::string& path, const std::string& name);

/// What an array holds that can be read. @throws Failure if HDF5 fails
Elements elements_of(const File& file, const std::string& name);

}  // namespace quorate::h5
