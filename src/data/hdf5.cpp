// SPDX-License-Identifier: BSD-2-Clause
#include "data/hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <type_traits>

#include "base/error.hpp"
#include "data/journal.hpp"

namespace quorate::h5 {

namespace {

// Stops HDF5 from printing its error stack to stderr. The messages of our exceptions replace it.
void be_quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string between(const std::string& text, const std::string& before, const std::string& after)
{
    const auto at = text.find(before);
    if (at == std::string::npos) return "";
    const auto first = at + before.size();
    return text.substr(first, text.find(after, first) - first);
}

// Returns the innermost error of HDF5's error stack. If a system call failed, this is its file and
// the system's reason.
std::string reason()
{
    std::string cause;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned depth, const H5E_error2_t* error, void* text) {
            if (depth == 0 && error->desc) *static_cast<std::string*>(text) = error->desc;
            return herr_t{0};
        },
        &cause);
    const auto file = between(cause, "filename = '", "'");
    const auto why = between(cause, "error message = '", "'");
    if (!file.empty() && !why.empty()) return fmt::format(": {}: {}", file, why);
    return cause.empty() ? "" : ": " + cause;
}

// Without locks: a trace that is being written has a writer, and a lock would refuse the reader.
Properties access_to(bool journaled)
{
    Properties access(H5Pcreate(H5P_FILE_ACCESS), "make access properties");
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
    check(H5Pset_file_locking(access.get(), false, true), "do without locks");
#else
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);  // read when a file is opened
#endif
    if (journaled) check(H5Pset_driver(access.get(), journal_driver(), nullptr), "set a driver");
    return access;
}

hid_t open_existing(const std::string& path, unsigned flags)
{
    const std::lock_guard lock(libraries());
    be_quiet();
    std::ifstream readable(path, std::ios::binary);
    if (!readable) throw BadInput(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    if (H5Fis_hdf5(path.c_str()) <= 0)
        throw BadInput(path +
                       " is not an HDF5 file (or it is truncated): give a data set made by "
                       "'quorate import' or a trace made by 'quorate run'");
    const bool writes = (flags & H5F_ACC_RDWR) != 0;
    const auto access = access_to(writes || std::filesystem::exists(journal_of(path)));
    const hid_t id = H5Fopen(path.c_str(), flags, access.get());
    if (id < 0) throw BadInput(path + " is damaged: HDF5 cannot open it; make it again");
    return id;
}

Type string_type(std::size_t size)
{
    Type type(H5Tcopy(H5T_C_S1), "make a string type");
    check(H5Tset_size(type.get(), size), "set the size of a string type");
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "set the encoding of a string type");
    return type;
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

template <class T>
T read_scalar(hid_t object, const std::string& name)
{
    const Attribute attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), "open attribute " + name);
    T value{};
    check(H5Aread(attribute.get(), native<T>(), &value), "read attribute " + name);
    return value;
}

DataSet open_data_set(hid_t parent, const std::string& name)
{
    return DataSet(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), "open data set " + name);
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

// Reads rows [first, first + count) of a data set of any rank.
template <class T>
std::vector<T> read_slab(const DataSet& data_set, const std::string& name, std::size_t rank,
                         std::int64_t first, std::int64_t count)
{
    auto size = extent(data_set, name);
    if (size.size() != rank)
        throw Failure(
            fmt::format("HDF5: {} has {} dimensions, {} expected", name, size.size(), rank));
    const auto rows = static_cast<std::int64_t>(size[0]);
    if (first < 0 || count < 0 || first + count > rows)
        throw Failure(
            fmt::format("HDF5: {} has {} rows, {} from {} asked for", name, rows, count, first));
    std::vector<hsize_t> offset(rank, 0);
    offset[0] = static_cast<hsize_t>(first);
    size[0] = static_cast<hsize_t>(count);
    hsize_t elements = 1;
    for (const auto extent : size) elements *= extent;
    std::vector<T> values(elements);
    if (elements == 0) return values;
    const Space file(H5Dget_space(data_set.get()), "get the shape of " + name);
    check(H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, offset.data(), nullptr, size.data(),
                              nullptr),
          "select rows of " + name);
    const Space memory(H5Screate_simple(1, &elements, nullptr), "make a memory space");
    check(
        H5Dread(data_set.get(), native<T>(), memory.get(), file.get(), H5P_DEFAULT, values.data()),
        "read " + name);
    return values;
}

}  // namespace

template <herr_t (*Close)(hid_t)>
Handle<Close>::Handle(hid_t id, const std::string& what) : id_(id)
{
    if (id_ < 0) throw Failure("HDF5: cannot " + what + reason());
}

template <herr_t (*Close)(hid_t)>
void Handle<Close>::close(const std::string& what)
{
    const std::lock_guard lock(libraries());
    check(Close(std::exchange(id_, -1)), what);
}

template class Handle<H5Fclose>;
template class Handle<H5Gclose>;
template class Handle<H5Dclose>;
template class Handle<H5Sclose>;
template class Handle<H5Tclose>;
template class Handle<H5Aclose>;
template class Handle<H5Pclose>;

void check(herr_t status, const std::string& what)
{
    if (status < 0) throw Failure("HDF5: cannot " + what + reason());
}

template <>
hid_t native<double>()
{
    return H5T_NATIVE_DOUBLE;
}
template <>
hid_t native<float>()
{
    return H5T_NATIVE_FLOAT;
}
template <>
hid_t native<std::int32_t>()
{
    return H5T_NATIVE_INT32;
}
template <>
hid_t native<std::int64_t>()
{
    return H5T_NATIVE_INT64;
}
template <>
hid_t native<std::uint8_t>()
{
    return H5T_NATIVE_UINT8;
}

File open(const std::string& path)
{
    return File(open_existing(path, H5F_ACC_RDONLY), "open " + path);
}

File open_to_append(const std::string& path)
{
    return File(open_existing(path, H5F_ACC_RDWR), "open " + path);
}

File create(const std::string& path)
{
    const std::lock_guard lock(libraries());
    be_quiet();
    return File(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create " + path);
}

File create_with_journal(const std::string& path)
{
    const std::lock_guard lock(libraries());
    be_quiet();
    std::filesystem::remove(journal_of(path));
    const auto access = access_to(true);
    return File(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()),
                "create " + path);
}

bool has(hid_t parent, const std::string& name)
{
    // H5Lexists fails if an inner step of the path is missing, so the steps are asked for one by
    // one.
    for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
        if (H5Lexists(parent, name.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
        if (end == std::string::npos) return true;
    }
}

Group create_group(hid_t parent, const std::string& name)
{
    return Group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                 "create group " + name);
}

void write_attribute(hid_t object, const std::string& name, const std::string& value)
{
    const Type type = string_type(H5T_VARIABLE);
    const char* text = value.c_str();
    write_scalar(object, name, type.get(), &text);
}

void write_attribute(hid_t object, const std::string& name, double value)
{
    write_scalar(object, name, native<double>(), &value);
}

void write_attribute(hid_t object, const std::string& name, std::int64_t value)
{
    write_scalar(object, name, native<std::int64_t>(), &value);
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
    const Attribute attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), "open attribute " + name);
    const Type stored(H5Aget_type(attribute.get()), "get the type of attribute " + name);
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

double read_double(hid_t object, const std::string& name)
{
    return read_scalar<double>(object, name);
}

std::int64_t read_integer(hid_t object, const std::string& name)
{
    return read_scalar<std::int64_t>(object, name);
}

std::vector<std::int64_t> shape(hid_t parent, const std::string& name)
{
    const auto size = extent(open_data_set(parent, name), name);
    return {size.begin(), size.end()};
}

template <class T>
std::vector<T> read(hid_t parent, const std::string& name, std::int64_t first, std::int64_t count)
{
    return read_slab<T>(open_data_set(parent, name), name, 1, first, count);
}

template <class T>
std::vector<T> read(hid_t parent, const std::string& name)
{
    const auto size = shape(parent, name);
    return read<T>(parent, name, 0, size.empty() ? 0 : size[0]);
}

template <class T>
std::vector<T> read_rows(hid_t parent, const std::string& name, std::int64_t first,
                         std::int64_t count)
{
    return read_slab<T>(open_data_set(parent, name), name, 2, first, count);
}

std::vector<std::string> read_strings(hid_t parent, const std::string& name)
{
    const auto data_set = open_data_set(parent, name);
    const Type stored(H5Dget_type(data_set.get()), "get the type of " + name);
    if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) != 0)
        throw Failure("HDF5: " + name + " does not hold fixed-length strings");
    const auto width = H5Tget_size(stored.get());
    const auto size = extent(data_set, name);
    const auto count = size.empty() ? 0 : size[0];
    std::string all(width * count, '\0');
    check(H5Dread(data_set.get(), stored.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()),
          "read " + name);
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count; ++i) {
        const auto one = all.substr(i * width, width);
        values.push_back(one.substr(0, one.find('\0')));
    }
    return values;
}

template <class T>
void write(hid_t parent, const std::string& name, std::span<const T> values)
{
    const hsize_t count = values.size();
    const Space space(H5Screate_simple(1, &count, nullptr), "make a space for " + name);
    const DataSet data_set(H5Dcreate2(parent, name.c_str(), native<T>(), space.get(), H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT),
                           "create " + name);
    if (count > 0)
        check(H5Dwrite(data_set.get(), native<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
              "write " + name);
}

void write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values)
{
    std::size_t width = 1;
    for (const auto& value : values) width = std::max(width, value.size());
    std::string all(width * values.size(), '\0');
    for (std::size_t i = 0; i < values.size(); ++i) values[i].copy(all.data() + i * width, width);
    const Type type = string_type(width);
    const hsize_t count = values.size();
    const Space space(H5Screate_simple(1, &count, nullptr), "make a space for " + name);
    const Properties properties(H5Pcreate(H5P_DATASET_CREATE), "make properties");
    if (count > 0) {
        const hsize_t chunk = std::min<hsize_t>(count, std::max<hsize_t>(1, (1 << 20) / width));
        check(H5Pset_chunk(properties.get(), 1, &chunk), "set the chunk of " + name);
        check(H5Pset_deflate(properties.get(), 1), "compress " + name);
    }
    const DataSet data_set(H5Dcreate2(parent, name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                                      properties.get(), H5P_DEFAULT),
                           "create " + name);
    if (count > 0)
        check(H5Dwrite(data_set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()),
              "write " + name);
}

template <class T>
DataSet create_extendable(hid_t parent, const std::string& name, std::int64_t chunk,
                          std::int64_t width, bool compress)
{
    const int rank = width > 0 ? 2 : 1;
    const hsize_t columns = static_cast<hsize_t>(width);
    const hsize_t size[2] = {0, columns};
    const hsize_t most[2] = {H5S_UNLIMITED, columns};
    const hsize_t chunks[2] = {static_cast<hsize_t>(chunk), columns};
    const Space space(H5Screate_simple(rank, size, most), "make a space for " + name);
    const Properties properties(H5Pcreate(H5P_DATASET_CREATE), "make properties");
    check(H5Pset_chunk(properties.get(), rank, chunks), "set the chunk of " + name);
    if (compress) {
        check(H5Pset_shuffle(properties.get()), "shuffle " + name);
        check(H5Pset_deflate(properties.get(), 1), "compress " + name);
    } else {
        // Chunks are not filled with zeros first, because all of their elements are written anyway.
        check(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER),
              "set the fill time of " + name);
    }
    return DataSet(H5Dcreate2(parent, name.c_str(), native<T>(), space.get(), H5P_DEFAULT,
                              properties.get(), H5P_DEFAULT),
                   "create " + name);
}

template <class T>
void append(const DataSet& data_set, std::span<const T> values)
{
    if (values.empty()) return;
    auto size = extent(data_set, "a data set");
    const hsize_t width = size.size() == 2 ? size[1] : 1;
    std::vector<hsize_t> offset(size.size(), 0);
    offset[0] = size[0];
    std::vector<hsize_t> added = size;
    added[0] = values.size() / width;
    size[0] += added[0];
    check(H5Dset_extent(data_set.get(), size.data()), "extend a data set");
    const Space file(H5Dget_space(data_set.get()), "get the shape of a data set");
    check(H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, offset.data(), nullptr, added.data(),
                              nullptr),
          "select new rows");
    // The memory space has the same shape as the selection. Between different shapes HDF5 copies
    // element by element.
    const Space memory(H5Screate_simple(static_cast<int>(added.size()), added.data(), nullptr),
                       "make a memory space");
    check(
        H5Dwrite(data_set.get(), native<T>(), memory.get(), file.get(), H5P_DEFAULT, values.data()),
        "append to a data set");
}

#define QUORATE_H5_ELEMENT(T)                                                                    \
    template std::vector<T> read<T>(hid_t, const std::string&, std::int64_t, std::int64_t);      \
    template std::vector<T> read<T>(hid_t, const std::string&);                                  \
    template std::vector<T> read_rows<T>(hid_t, const std::string&, std::int64_t, std::int64_t); \
    template void write<T>(hid_t, const std::string&, std::span<const T>);                       \
    template DataSet create_extendable<T>(hid_t, const std::string&, std::int64_t, std::int64_t, \
                                          bool);                                                 \
    template void append<T>(const DataSet&, std::span<const T>);
QUORATE_H5_ELEMENT(double)
QUORATE_H5_ELEMENT(float)
QUORATE_H5_ELEMENT(std::int32_t)
QUORATE_H5_ELEMENT(std::int64_t)
#undef QUORATE_H5_ELEMENT

void cut(const DataSet& data_set, std::int64_t rows)
{
    const Space space(H5Dget_space(data_set.get()), "get a data space");
    hsize_t size[2] = {0, 0};
    check(H5Sget_simple_extent_dims(space.get(), size, nullptr), "get the size of a data set");
    if (size[0] < static_cast<hsize_t>(rows)) throw Failure("a data set is shorter than it was");
    size[0] = static_cast<hsize_t>(rows);
    check(H5Dset_extent(data_set.get(), size), "cut a data set");
}

}  // namespace quorate::h5
