// SPDX-License-Identifier: BSD-2-Clause
#include "hdf5/hdf5.hpp"

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/path.hpp"
#include "hdf5/journal.hpp"

namespace quorate::h5 {

namespace {

// Stops HDF5 from printing its error stack to stderr. The messages of our exceptions replace it.
void be_quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

enum class Locks { none, best_effort, always };

// Without locks, as a rule: a trace that is being written has a writer, and a lock would refuse the
// reader.
Properties access_to(bool journaled, WriteAccess* write = nullptr,
                     [[maybe_unused]] Locks locks = Locks::none)
{
    Properties access(H5Pcreate(H5P_FILE_ACCESS), "make access properties");
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
    check(H5Pset_file_locking(access.get(), locks != Locks::none, locks != Locks::always),
          "say whether to lock");
#else
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);  // read when a file is opened
#endif
    const DriverInfo info{write};
    if (journaled) check(H5Pset_driver(access.get(), journal_driver(), &info), "set a driver");
    return access;
}

File open_existing(const std::string& name, unsigned flags, WriteAccess* write = nullptr)
{
    const std::lock_guard lock(libraries());
    be_quiet();
    const auto path = target_of(name);
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        throw BadInput(name + " is no regular file: give a file that Quorate wrote");
    std::ifstream readable(path, std::ios::binary);
    if (!readable) throw BadInput(cannot_open(path));
    if (H5Fis_hdf5(path.c_str()) <= 0)
        throw BadInput(path +
                       " is not an HDF5 file (or it is truncated): give a data set made by "
                       "'quorate import' or a trace made by 'quorate run'");
    const bool writes = (flags & H5F_ACC_RDWR) != 0;
    const bool journaled = writes || std::filesystem::exists(journal_of(path));
    hid_t id = -1;
    // Whoever else has the file open in this process may have it with locks, as a program in Python
    // may. HDF5 then opens it for us only if ours are the same.
    for (const auto locks : {Locks::none, Locks::best_effort, Locks::always})
        if (id < 0 && (locks == Locks::none || !writes))
            id = H5Fopen(path.c_str(), flags, access_to(journaled, write, locks).get());
    if (id < 0) throw BadInput(path + " is damaged: HDF5 cannot open it; make it again");
    return {id, "open " + path};
}

}  // namespace

File open(const std::string& path) { return open_existing(path, H5F_ACC_RDONLY); }

File open_to_append(const std::string& path, WriteAccess* access)
{
    return open_existing(path, H5F_ACC_RDWR, access);
}

void put_journal_in_place(const std::string& path, WriteAccess access)
{
    if (!std::filesystem::exists(path) || !std::filesystem::exists(journal_of(target_of(path))))
        return;
    const std::lock_guard lock(libraries());
    access.durable = true;
    flush(open_to_append(path, &access), path);
    if (!access.lost.empty()) throw Failure(access.lost);
}

File create(const std::string& path)
{
    const std::lock_guard lock(libraries());
    be_quiet();
    return File(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create " + path);
}

File create_with_journal(const std::string& path, WriteAccess* access)
{
    const std::lock_guard lock(libraries());
    be_quiet();
    const auto properties = access_to(true, access);
    return File(H5Fcreate(target_of(path).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, properties.get()),
                "create " + path);
}

bool has(hid_t parent, const std::string& name)
{
    const auto access = within_file(H5P_LINK_ACCESS);
    // H5Lexists fails if an inner step of the path is missing, so the steps are asked for one by
    // one.
    for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
        if (H5Lexists(parent, name.substr(0, end).c_str(), access.get()) <= 0) return false;
        if (end == std::string::npos) return true;
    }
}

Group create_group(hid_t parent, const std::string& name)
{
    return Group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                 "create group " + name);
}

Properties within_file(hid_t kind)
{
    Properties access(H5Pcreate(kind), "make properties");
    const auto refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t,
                           void*) -> herr_t { return -1; };
    check(H5Pset_elink_cb(access.get(), refuse, nullptr), "refuse external links");
    return access;
}

Group open_group(hid_t parent, const std::string& name)
{
    return {H5Gopen2(parent, name.c_str(), within_file(H5P_GROUP_ACCESS).get()), "open " + name};
}

std::string path_of(hid_t object)
{
    const auto size = H5Fget_name(object, nullptr, 0);
    check(size, "get the name of a file");
    std::string path(static_cast<std::size_t>(size), '\0');
    check(H5Fget_name(object, path.data(), path.size() + 1), "get the name of a file");
    return path;
}

void flush(const File& file, const std::string& path)
{
    check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "flush " + path);
}

Type string_type(std::size_t size)
{
    Type type(H5Tcopy(H5T_C_S1), "make a string type");
    check(H5Tset_size(type.get(), size), "set the size of a string type");
    // A string that fills its size has no room for a NUL.
    if (size != H5T_VARIABLE)
        check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "set the end of a string type");
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "set the encoding of a string type");
    return type;
}

}  // namespace quorate::h5
