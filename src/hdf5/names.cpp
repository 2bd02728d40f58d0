// SPDX-License-Identifier: BSD-2-Clause
#include "hdf5/names.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/shown.hpp"
#include "hdf5/data_sets.hpp"

namespace quorate::h5 {

namespace {

Type type_of(const DataSet& data_set, const std::string& name)
{
    return {H5Dget_type(data_set.get()), "get the type of " + name};
}

// Where a soft or an external link points to.
std::string target_of(const File& file, const std::string& name, const H5L_info_t& link)
{
    std::string value(link.u.val_size, '\0');
    check(H5Lget_val(file.get(), name.c_str(), value.data(), value.size(),
                     within_file(H5P_LINK_ACCESS).get()),
          "read the link " + name);
    if (link.type != H5L_TYPE_EXTERNAL) return shown(value.c_str(), 100);
    const char *other = nullptr, *object = nullptr;
    check(H5Lunpack_elink_val(value.data(), value.size(), nullptr, &other, &object),
          "read the link " + name);
    return fmt::format("{} of {}", shown(object, 100), shown(other, 100));
}

std::string fault_of_type(hid_t type)
{
    switch (H5Tget_class(type)) {
        case H5T_INTEGER:
        case H5T_FLOAT:
        case H5T_ENUM:
        case H5T_STRING: return "";
        case H5T_COMPOUND: {
            std::vector<std::string> parts;
            for (int i = 0; i < H5Tget_nmembers(type); ++i) {
                char* part = H5Tget_member_name(type, static_cast<unsigned>(i));
                parts.emplace_back(part);
                H5free_memory(part);
            }
            if (parts == std::vector<std::string>{"r", "i"})
                return "holds complex numbers: give real ones";
            return fmt::format("has rows of several parts ({}): give a plain array of numbers",
                               shown(parts));
        }
        case H5T_REFERENCE: return "holds references to other arrays: name one of these";
        case H5T_VLEN: return "has rows of different lengths: give an array of rows x columns";
        default: return "has elements that are neither numbers nor words: give numbers";
    }
}

// The first filter that HDF5 would need and does not have.
std::string missing_filter(const DataSet& data_set)
{
    const Properties properties(H5Dget_create_plist(data_set.get()), "get properties");
    if (H5Pget_layout(properties.get()) != H5D_CHUNKED) return "";
    for (int i = 0; i < H5Pget_nfilters(properties.get()); ++i) {
        std::array<char, 64> name{};
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        const auto id = H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags, &values,
                                       nullptr, name.size() - 1, name.data(), &config);
        check(id, "get a filter");
        if (H5Zfilter_avail(id) <= 0)
            return fmt::format("{} (number {})", name[0] ? shown(name.data()) : "a filter",
                               static_cast<int>(id));
    }
    return "";
}

}  // namespace

std::string fault_of_array(const File& file, const std::string& path, const std::string& name)
{
    if (!has(file.get(), name))
        return fmt::format(", but {} has no array {}: h5ls lists them", path, shown(name));
    const auto access = within_file(H5P_LINK_ACCESS);
    if (H5Oexists_by_name(file.get(), name.c_str(), access.get()) <= 0) {
        H5L_info_t link;
        check(H5Lget_info(file.get(), name.c_str(), &link, access.get()), "look at " + name);
        return fmt::format(", but {} of {} is a link to {}, which {}", shown(name), path,
                           target_of(file, name, link),
                           link.type == H5L_TYPE_EXTERNAL
                               ? "is another file: give that file, and a name in it"
                               : "is not there");
    }
    const hid_t object = H5Oopen(file.get(), name.c_str(), access.get());
    check(object, "open " + name);
    const Handle<H5Oclose> owner(object, name);
    if (H5Iget_type(object) != H5I_DATASET)
        return fmt::format(
            ", but {} of {} is a group of arrays and none itself: name one in it, as {}/...",
            shown(name), path, shown(name));
    const auto data_set = open_data_set(file.get(), name);
    if (const auto fault = fault_of_type(type_of(data_set, name).get()); !fault.empty())
        return fmt::format(", but {} of {} {}", shown(name), path, fault);
    if (const auto filter = missing_filter(data_set); !filter.empty())
        return fmt::format(
            ", but {} of {} is packed with {}, which is not at hand: write it with gzip, as "
            "create_dataset(..., compression='gzip') of h5py does",
            shown(name), path, filter);
    return "";
}

Elements elements_of(const File& file, const std::string& name)
{
    const auto type = type_of(open_data_set(file.get(), name), name);
    return H5Tget_class(type.get()) == H5T_STRING ? Elements::words : Elements::numbers;
}

}  // namespace quorate::h5
