// SPDX-License-Identifier: BSD-2-Clause
// Attributes of HDF5 objects: scalars of type string (UTF-8), double or int64.
#pragma once

#include <map>
#include <vector>

#include "hdf5/hdf5.hpp"

namespace quorate::h5 {

// Writing an attribute replaces one of the same name.
void write_attribute(hid_t object, const std::string& name, const std::string& value);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
std::vector<std::string> attribute_names(hid_t object);
bool has_attribute(hid_t object, const std::string& name);
/// @throws Failure if there is no attribute of that name, or it is not one string
std::string read_string(hid_t object, const std::string& name);
/// Reads an attribute that is a string; empty if there is none of that name.
/// @throws Failure if it is not a string
std::string find_string(hid_t object, const std::string& name);
/// @throws Failure if there is no attribute of that name, or it is not one number
double read_double(hid_t object, const std::string& name);
std::int64_t read_integer(hid_t object, const std::string& name);
/// Reads the attributes of an object that are one string or number, as text, by name.
std::map<std::string, std::string> attributes_as_text(hid_t object);

}  // namespace quorate::h5
