// SPDX-License-Identifier: BSD-2-Clause
#include "trace/scales.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>

namespace quorate::trace {

void share_scale(const h5::DataSet& scale, const char* name, std::span<const h5::DataSet> others)
{
    h5::check(H5DSset_scale(scale.get(), name), fmt::format("make {} a scale", name));
    for (const auto& other : others)
        h5::check(H5DSattach_scale(other.get(), scale.get(), 0),
                  fmt::format("attach the scale {}", name));
}

void name_last_dimension(hid_t group, const h5::DataSet& data_set, const char* name)
{
    const h5::Space space(H5Dget_space(data_set.get()), "get a data space");
    hsize_t size[2] = {0, 0};
    const int rank = H5Sget_simple_extent_dims(space.get(), size, nullptr);
    h5::check(rank, "get the size of a data set");
    const auto last = static_cast<unsigned>(rank - 1);
    const h5::Space line(H5Screate_simple(1, &size[last], nullptr), "make a space");
    const h5::DataSet scale(
        H5Dcreate2(group, name, H5T_IEEE_F32BE, line.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        fmt::format("create {}", name));
    // netCDF-4 marks a dimension without values by these words.
    const auto words =
        fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", size[last]);
    h5::check(H5DSset_scale(scale.get(), words.c_str()), fmt::format("make {} a scale", name));
    h5::check(H5DSattach_scale(data_set.get(), scale.get(), last),
              fmt::format("attach the scale {}", name));
}

}  // namespace quorate::trace
