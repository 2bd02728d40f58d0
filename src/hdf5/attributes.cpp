// SPDX-License-Identifier: BSD-2-Clause
#include "hdf5/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace quorate::h5 {

namespace {

// HDF5 keeps strings of any length apart, and crashes where the place that the file names for one
// is damaged. So strings have a fixed length, unless an object's header, which has 64 KB for an
// attribute, cannot hold them.
constexpr std::size_t most_in_header = 60'000;

Attribute open_attribute(hid_t object, const std::string& name)
{
    return {H5Aopen(object, name.c_str(), H5P_DEFAULT), "open attribute " + name};
}

Type type_of(const Attribute& attribute, const std::string& name)
{
    return {H5Aget_type(attribute.get()), "get the type of attribute " + name};
}

void write_scalar(hid_t object, const std::string& name, hid_t type, const void* value)
{
    if (has_attribute(object, name)) check(H5Adelete(object, name.c_str()), "replace " + name);
    const Space space(H5Screate(H5S_SCALAR), "make a scalar space");
    const Attribute attribute(
        H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
        "create attribute " + name);
    check(H5Awrite(attribute.get(), type, value), "write attribute " + name);
}

hssize_t values_of(const Attribute& attribute, const std::string& name)
{
    const Space space(H5Aget_space(attribute.get()), "get the shape of attribute " + name);
    return H5Sget_simple_extent_npoints(space.get());
}

// Throws Failure unless an attribute is one value: HDF5 writes as many as the file has to where one
// is read to.
void check_scalar(const Attribute& attribute, const std::string& name)
{
    if (const auto values = values_of(attribute, name); values != 1)
        throw Failure(fmt::format("HDF5: attribute {} has {} values, one expected", name, values));
}

void read_number(hid_t object, const std::string& name, hid_t type, void* value)
{
    const auto attribute = open_attribute(object, name);
    check_scalar(attribute, name);
    const auto stored = H5Tget_class(type_of(attribute, name).get());
    if (stored != H5T_INTEGER && stored != H5T_FLOAT)
        throw Failure("HDF5: attribute " + name + " is not a number");
    check(H5Aread(attribute.get(), type, value), "read attribute " + name);
}

}  // namespace

void write_attribute(hid_t object, const std::string& name, const std::string& value)
{
    if (value.size() > most_in_header) {
        const Type type = string_type(H5T_VARIABLE);
        const char* text = value.c_str();
        write_scalar(object, name, type.get(), &text);
        return;
    }
    const Type type = string_type(std::max<std::size_t>(1, value.size()));
    write_scalar(object, name, type.get(), value.c_str());
}

void write_attribute(hid_t object, const std::string& name, double value)
{
    write_scalar(object, name, H5T_NATIVE_DOUBLE, &value);
}

void write_attribute(hid_t object, const std::string& name, std::int64_t value)
{
    write_scalar(object, name, H5T_NATIVE_INT64, &value);
}

bool has_attribute(hid_t object, const std::string& name)
{
    return H5Aexists(object, name.c_str()) > 0;
}

std::vector<std::string> attribute_names(hid_t object)
{
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
        static_cast<std::vector<std::string>*>(list)->emplace_back(name);
        return 0;
    };
    check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names), "list attributes");
    return names;
}

std::string read_string(hid_t object, const std::string& name)
{
    const auto attribute = open_attribute(object, name);
    check_scalar(attribute, name);
    const auto stored = type_of(attribute, name);
    if (H5Tis_variable_str(stored.get()) > 0) {
        const Type type = string_type(H5T_VARIABLE);
        char* text = nullptr;
        check(H5Aread(attribute.get(), type.get(), &text), "read attribute " + name);
        std::string value = text ? text : "";
        check(H5free_memory(text), "free attribute " + name);
        return value;
    }
    if (H5Tget_class(stored.get()) != H5T_STRING)
        throw Failure("HDF5: attribute " + name + " is not a string");
    std::string value(H5Tget_size(stored.get()), '\0');
    check(H5Aread(attribute.get(), stored.get(), value.data()), "read attribute " + name);
    value.resize(std::strlen(value.c_str()));
    return value;
}

std::string find_string(hid_t object, const std::string& name)
{
    return has_attribute(object, name) ? read_string(object, name) : "";
}

double read_double(hid_t object, const std::string& name)
{
    double value = 0;
    read_number(object, name, H5T_NATIVE_DOUBLE, &value);
    return value;
}

std::int64_t read_integer(hid_t object, const std::string& name)
{
    std::int64_t value = 0;
    read_number(object, name, H5T_NATIVE_INT64, &value);
    return value;
}

std::map<std::string, std::string> attributes_as_text(hid_t object)
{
    std::map<std::string, std::string> all;
    for (const auto& name : attribute_names(object)) {
        const auto attribute = open_attribute(object, name);
        if (values_of(attribute, name) != 1) continue;
        switch (H5Tget_class(type_of(attribute, name).get())) {
            case H5T_STRING: all[name] = read_string(object, name); break;
            case H5T_FLOAT: all[name] = fmt::format("{}", read_double(object, name)); break;
            case H5T_INTEGER: all[name] = fmt::format("{}", read_integer(object, name)); break;
            default: break;
        }
    }
    return all;
}

}  // namespace quorate::h5
