// SPDX-License-Identifier: BSD-2-Clause
#include "hdf5/data_sets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <new>
#include <stdexcept>

#include "base/error.hpp"

namespace quorate::h5 {

namespace {

// Returns HDF5's type for an element in memory.
template <class T>
hid_t native()
{
    if constexpr (std::same_as<T, double>) return H5T_NATIVE_DOUBLE;
    if constexpr (std::same_as<T, float>) return H5T_NATIVE_FLOAT;
    if constexpr (std::same_as<T, std::uint8_t>) return H5T_NATIVE_UINT8;
    if constexpr (std::same_as<T, std::int32_t>) return H5T_NATIVE_INT32;
    if constexpr (std::same_as<T, std::int64_t>) return H5T_NATIVE_INT64;
}

std::vector<hsize_t> extent(const DataSet& data_set, const std::string& name)
{
    const Space space(H5Dget_space(data_set.get()), "get the shape of " + name);
    const int rank = H5Sget_simple_extent_ndims(space.get());
    check(rank, "get the rank of " + name);
    std::vector<hsize_t> size(static_cast<std::size_t>(rank));
    check(H5Sget_simple_extent_dims(space.get(), size.data(), nullptr), "get the shape of " + name);
    return size;
}

// Returns room for as many elements as a file says that a data set has.
// @throws Failure if that is no size that memory has
template <class Container>
Container room_for(const std::string& name, const std::vector<hsize_t>& size, std::size_t width = 1)
{
    std::size_t count = width;
    bool fits = true;
    for (const auto one : size) fits &= !__builtin_mul_overflow(count, one, &count);
    try {
        if (fits) return Container(count, {});
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    throw Failure(fmt::format("HDF5: there is no memory for the {} elements of {}",
                              fmt::join(size, " x "), name));
}

// Selects `size` elements of a data set in each dimension, from row `first` on.
Space selected(const DataSet& data_set, const std::string& name, hsize_t first,
               const std::vector<hsize_t>& size)
{
    Space space(H5Dget_space(data_set.get()), "get the shape of " + name);
    std::vector<hsize_t> offset(size.size(), 0);
    offset[0] = first;
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, offset.data(), nullptr, size.data(),
                              nullptr),
          "select rows of " + name);
    return space;
}

void check_numbers(const DataSet& data_set, const std::string& name)
{
    const Type stored(H5Dget_type(data_set.get()), "get the type of " + name);
    const auto kind = H5Tget_class(stored.get());
    if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM)
        throw Failure("HDF5: " + name + " does not hold numbers");
}

// Returns the size of rows [first, first + count) of a data set of numbers.
std::vector<hsize_t> slab_of(const DataSet& data_set, const std::string& name, std::int64_t first,
                             std::int64_t count)
{
    auto size = extent(data_set, name);
    const auto rows = size.empty() ? 0 : static_cast<std::int64_t>(size[0]);
    if (size.empty() || first < 0 || count < 0 || first > rows || count > rows - first)
        throw Failure(
            fmt::format("HDF5: {} has {} rows, {} from {} asked for", name, rows, count, first));
    check_numbers(data_set, name);
    size[0] = static_cast<hsize_t>(count);
    return size;
}

// Reads rows of such a size, from row `first` on.
template <class T>
void read_slab(const DataSet& data_set, const std::string& name, std::int64_t first,
               const std::vector<hsize_t>& size, std::span<T> to)
{
    if (to.empty()) return;
    const auto file = selected(data_set, name, static_cast<hsize_t>(first), size);
    // Of the shape of the rows: HDF5 copies element by element between spaces of two shapes.
    const Space memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr),
                       "make a memory space");
    check(H5Dread(data_set.get(), native<T>(), memory.get(), file.get(), H5P_DEFAULT, to.data()),
          "read " + name);
}

// Reads rows [first, first + count) of a data set of any rank.
template <class T>
std::vector<T> read_slab(const DataSet& data_set, const std::string& name, std::size_t rank,
                         std::int64_t first, std::int64_t count)
{
    if (const auto dimensions = extent(data_set, name).size(); dimensions != rank)
        throw Failure(
            fmt::format("HDF5: {} has {} dimensions, {} expected", name, dimensions, rank));
    const auto size = slab_of(data_set, name, first, count);
    auto values = room_for<std::vector<T>>(name, size);
    read_slab<T>(data_set, name, first, size, values);
    return values;
}

DataSet create(hid_t parent, const std::string& name, hid_t type, const Space& space,
               hid_t properties)
{
    return {
        H5Dcreate2(parent, name.c_str(), type, space.get(), H5P_DEFAULT, properties, H5P_DEFAULT),
        "create " + name};
}

// Elements of a chunk of vectors of so many elements. HDF5 writes a chunk that is larger than its
// cache, of 1 MiB, without a copy. So much of it as a commit has left unwritten goes through the
// journal (hdf5/journal.hpp), so chunks are not much larger. All of a vector are about equal, so
// that the last one is not mostly empty.
hsize_t elements_of_chunk(std::int64_t elements)
{
    constexpr hsize_t most = 1 << 18;
    const auto all = std::max(hsize_t{1}, static_cast<hsize_t>(elements));
    const auto chunks = (all + most - 1) / most;
    return (all + chunks - 1) / chunks;
}

// Properties of a data set with chunks.
Properties in_chunks(const std::string& name, int rank, const hsize_t* chunks, bool compress)
{
    Properties properties(H5Pcreate(H5P_DATASET_CREATE), "make properties");
    check(H5Pset_chunk(properties.get(), rank, chunks), "set the chunk of " + name);
    if (compress) {
        check(H5Pset_shuffle(properties.get()), "shuffle " + name);
        check(H5Pset_deflate(properties.get(), 1), "compress " + name);
    } else {
        // Chunks are not filled with zeros first, because all that is read of them is written.
        check(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER),
              "set the fill time of " + name);
    }
    return properties;
}

// Writes a new one-dimensional data set.
void write_all(hid_t parent, const std::string& name, hid_t type, hsize_t count, hid_t properties,
               const void* values)
{
    const Space space(H5Screate_simple(1, &count, nullptr), "make a space for " + name);
    const auto data_set = create(parent, name, type, space, properties);
    if (count > 0)
        check(H5Dwrite(data_set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
              "write " + name);
}

}  // namespace

DataSet open_data_set(hid_t parent, const std::string& name)
{
    const auto access = within_file(H5P_DATASET_ACCESS);
    DataSet data_set(H5Dopen2(parent, name.c_str(), access.get()), "open data set " + name);
    const Properties made(H5Dget_create_plist(data_set.get()), "get the properties of " + name);
    if (H5Pget_layout(made.get()) == H5D_VIRTUAL || H5Pget_external_count(made.get()) != 0)
        throw BadInput(
            fmt::format("{} names other files for the values of {}, and these are not "
                        "read: give a file that holds its values",
                        path_of(data_set.get()), name));
    return data_set;
}

std::vector<std::int64_t> shape(hid_t parent, const std::string& name)
{
    const auto size = extent(open_data_set(parent, name), name);
    return {size.begin(), size.end()};
}

std::int64_t rows_of(hid_t parent, const std::string& name)
{
    const auto size = shape(parent, name);
    if (size.empty()) throw Failure("HDF5: " + name + " is one value, rows expected");
    return size[0];
}

template <class T>
std::vector<T> read(hid_t parent, const std::string& name, std::int64_t first, std::int64_t count)
{
    return read_slab<T>(open_data_set(parent, name), name, 1, first, count);
}

template <class T>
std::vector<T> read(hid_t parent, const std::string& name)
{
    return read<T>(parent, name, 0, rows_of(parent, name));
}

template <class T>
std::vector<T> read_rows(hid_t parent, const std::string& name, std::int64_t first,
                         std::int64_t count)
{
    const auto data_set = open_data_set(parent, name);
    const auto rank = std::max<std::size_t>(2, extent(data_set, name).size());
    return read_slab<T>(data_set, name, rank, first, count);
}

template <class T>
void read_into(hid_t parent, const std::string& name, std::int64_t first, std::int64_t count,
               std::span<T> to)
{
    const auto data_set = open_data_set(parent, name);
    const auto size = slab_of(data_set, name, first, count);
    std::size_t elements = 1;
    bool fits = true;
    for (const auto one : size) fits &= !__builtin_mul_overflow(elements, one, &elements);
    if (!fits || elements != to.size())
        throw Failure(fmt::format("HDF5: {} has {} elements, {} expected", name,
                                  fmt::join(size, " x "), to.size()));
    read_slab(data_set, name, first, size, to);
}

std::vector<std::string> read_strings(hid_t parent, const std::string& name)
{
    const auto data_set = open_data_set(parent, name);
    const Type stored(H5Dget_type(data_set.get()), "get the type of " + name);
    if (H5Tget_class(stored.get()) != H5T_STRING)
        throw Failure("HDF5: " + name + " does not hold strings");
    const auto size = extent(data_set, name);
    std::vector<std::string> values;
    const auto read_into = [&](void* to) {
        check(H5Dread(data_set.get(), stored.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, to),
              "read " + name);
    };
    if (H5Tis_variable_str(stored.get()) > 0) {
        auto texts = room_for<std::vector<char*>>(name, size);
        if (texts.empty()) return values;
        read_into(static_cast<void*>(texts.data()));
        for (const char* text : texts) values.emplace_back(text ? text : "");
        for (char* text : texts) H5free_memory(text);
        return values;
    }
    const auto width = H5Tget_size(stored.get());
    const bool padded = H5Tget_strpad(stored.get()) == H5T_STR_SPACEPAD;
    auto all = room_for<std::string>(name, size, width);
    if (all.empty()) return values;
    read_into(all.data());
    for (std::size_t i = 0; i < all.size(); i += width) {
        auto one = all.substr(i, width);
        one.resize(std::min(one.find('\0'), one.size()));
        if (padded) one.resize(one.find_last_not_of(' ') + 1);
        values.push_back(std::move(one));
    }
    return values;
}

template <class T>
void write(hid_t parent, const std::string& name, std::span<const T> values)
{
    write_all(parent, name, native<T>(), values.size(), H5P_DEFAULT, values.data());
}

void write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values)
{
    std::size_t width = 1;
    for (const auto& value : values) width = std::max(width, value.size());
    std::string all(width * values.size(), '\0');
    for (std::size_t i = 0; i < values.size(); ++i) values[i].copy(all.data() + i * width, width);
    const Type type = string_type(width);
    const hsize_t count = values.size();
    const Properties properties(H5Pcreate(H5P_DATASET_CREATE), "make properties");
    if (count > 0) {
        const hsize_t chunk = std::min<hsize_t>(count, std::max<hsize_t>(1, (1 << 20) / width));
        check(H5Pset_chunk(properties.get(), 1, &chunk), "set the chunk of " + name);
        check(H5Pset_deflate(properties.get(), 1), "compress " + name);
    }
    write_all(parent, name, type.get(), count, properties.get(), all.data());
}

template <class T>
DataSet create_extendable(hid_t parent, const std::string& name, std::int64_t chunk,
                          std::int64_t width, bool compress)
{
    const int rank = width > 0 ? 2 : 1;
    const hsize_t columns = static_cast<hsize_t>(width);
    const hsize_t size[2] = {0, columns};
    const hsize_t most[2] = {H5S_UNLIMITED, columns};
    const hsize_t chunks[2] = {static_cast<hsize_t>(chunk), elements_of_chunk(width)};
    const Space space(H5Screate_simple(rank, size, most), "make a space for " + name);
    const auto properties = in_chunks(name, rank, chunks, compress);
    return create(parent, name, native<T>(), space, properties.get());
}

template <class T>
void append(const DataSet& data_set, std::span<const T> values)
{
    if (values.empty()) return;
    auto size = extent(data_set, "a data set");
    const hsize_t width = size.size() == 2 ? size[1] : 1;
    const hsize_t before = size[0];
    std::vector<hsize_t> added = size;
    added[0] = values.size() / width;
    size[0] += added[0];
    check(H5Dset_extent(data_set.get(), size.data()), "extend a data set");
    const auto file = selected(data_set, "a data set", before, added);
    // The memory space has the same shape as the selection. Between different shapes HDF5 copies
    // element by element.
    const Space memory(H5Screate_simple(static_cast<int>(added.size()), added.data(), nullptr),
                       "make a memory space");
    check(
        H5Dwrite(data_set.get(), native<T>(), memory.get(), file.get(), H5P_DEFAULT, values.data()),
        "append to a data set");
}

template <class T>
DataSet create_vector(hid_t parent, const std::string& name, std::int64_t elements)
{
    const auto size = static_cast<hsize_t>(elements), chunk = elements_of_chunk(elements);
    const Space space(H5Screate_simple(1, &size, nullptr), "make a space for " + name);
    const auto properties = in_chunks(name, 1, &chunk, false);
    return create(parent, name, native<T>(), space, properties.get());
}

template <class T>
void write_part(const DataSet& data_set, std::int64_t first, std::span<const T> values)
{
    if (values.empty()) return;
    auto size = extent(data_set, "a data set");
    std::vector<hsize_t> offset(size.size(), 0);
    if (size.size() > 1) offset[0] = size[0] - 1;
    offset.back() = static_cast<hsize_t>(first);
    size[0] = 1;
    size.back() = values.size();
    const Space file(H5Dget_space(data_set.get()), "get the shape of a data set");
    check(H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, offset.data(), nullptr, size.data(),
                              nullptr),
          "select a part of a data set");
    const Space memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr),
                       "make a memory space");
    check(
        H5Dwrite(data_set.get(), native<T>(), memory.get(), file.get(), H5P_DEFAULT, values.data()),
        "write to a data set");
}

#define QUORATE_H5_ELEMENT(T)                                                                    \
    template std::vector<T> read<T>(hid_t, const std::string&, std::int64_t, std::int64_t);      \
    template std::vector<T> read<T>(hid_t, const std::string&);                                  \
    template std::vector<T> read_rows<T>(hid_t, const std::string&, std::int64_t, std::int64_t); \
    template void read_into<T>(hid_t, const std::string&, std::int64_t, std::int64_t,            \
                               std::span<T>);                                                    \
    template void write<T>(hid_t, const std::string&, std::span<const T>);                       \
    template DataSet create_extendable<T>(hid_t, const std::string&, std::int64_t, std::int64_t, \
                                          bool);                                                 \
    template DataSet create_vector<T>(hid_t, const std::string&, std::int64_t);                  \
    template void write_part<T>(const DataSet&, std::int64_t, std::span<const T>);               \
    template void append<T>(const DataSet&, std::span<const T>);
QUORATE_H5_ELEMENT(double)
QUORATE_H5_ELEMENT(float)
QUORATE_H5_ELEMENT(std::uint8_t)
QUORATE_H5_ELEMENT(std::int32_t)
QUORATE_H5_ELEMENT(std::int64_t)
#undef QUORATE_H5_ELEMENT

DataSet open_extendable(hid_t parent, const std::string& name, std::int64_t width)
{
    auto data_set = open_data_set(parent, name);
    const auto size = extent(data_set, name);
    if (size.size() != (width > 0 ? 2 : 1) || (width > 0 && size[1] != static_cast<hsize_t>(width)))
        throw Failure(fmt::format("HDF5: {} has the shape {}, rows of {} expected", name,
                                  fmt::join(size, " x "), std::max<std::int64_t>(1, width)));
    check_numbers(data_set, name);
    return data_set;
}

void cut(const DataSet& data_set, std::int64_t rows)
{
    auto size = extent(data_set, "a data set");
    if (size[0] < static_cast<hsize_t>(rows)) throw Failure("a data set is shorter than it was");
    size[0] = static_cast<hsize_t>(rows);
    check(H5Dset_extent(data_set.get(), size.data()), "cut a data set");
}

void add_row(const DataSet& data_set)
{
    auto size = extent(data_set, "a data set");
    ++size[0];
    check(H5Dset_extent(data_set.get(), size.data()), "extend a data set");
}

}  // namespace quorate::h5
