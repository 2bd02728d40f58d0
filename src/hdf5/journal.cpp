// SPDX-License-Identifier: BSD-2-Clause
#include "hdf5/journal.hpp"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/path.hpp"
#include "hdf5/error.hpp"

namespace quorate::h5 {

namespace {

constexpr haddr_t page_size = 4096;
using Page = std::array<char, page_size>;
using Pages = std::map<haddr_t, Page>;  // by their number in the file

struct JournaledFile : H5FD_t {
    H5FD_t* below = nullptr;  // the file of the default driver
    std::string path;
    haddr_t committed = 0;  // the end of the last commit
    Pages pages;            // pages of the last commit as the next one will have them
    bool changed = false;   // by this process, since the last commit
    bool shorten = false;   // whether the next commit cuts the file off
    std::string
        opened;  // the name that HDF5 has opened, which a new file has until its first commit
    bool unnamed = false;  // whether it still has that name
    WriteAccess own;       // of who gives none, and is told by HDF5 what fails
    WriteAccess* access = &own;
};

JournaledFile& ours(H5FD_t* file) { return static_cast<JournaledFile&>(*file); }
H5FD_t* below(const H5FD_t* file) { return static_cast<const JournaledFile&>(*file).below; }

// A failure of the driver below, which has already told HDF5 the reason.
struct FailedBelow {};

void check_below(herr_t status)
{
    if (status < 0) throw FailedBelow();
}

// Turns exceptions into error codes, because no exception may pass through HDF5.
template <class F>
herr_t guarded(F f)
{
    try {
        f();
        return 0;
    } catch (const FailedBelow&) {
    } catch (const std::exception& wrong) {
        H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_WRITEERROR,
                 "%s", wrong.what());
    }
    return -1;
}

// Changes a file, unless something was lost before.
template <class F>
herr_t changed(JournaledFile& file, F f)
{
    auto& lost = file.access->lost;
    if (lost.empty() && guarded(f) < 0) {
        lost = reason();
        boost::replace_all(lost, file.opened, file.path);
        if (lost.empty()) lost = "it cannot be written";
    }
    return lost.empty() || file.access != &file.own ? 0 : -1;
}

// To be called before each write, so that who has lost the file in the middle of a commit leaves it
// as it is.
void may_write(const JournaledFile& file)
{
    if (file.access->owner) file.access->owner->check_again();
}

// Calls f(page, first byte in it, byte of the range, bytes) for each page that a range of the file
// touches.
template <class F>
void for_pages(haddr_t begin, std::size_t size, F f)
{
    for (std::size_t at = 0; at < size;) {
        const auto page = (begin + at) / page_size;
        const auto first = (begin + at) % page_size;
        const auto count = std::min<std::size_t>(page_size - first, size - at);
        f(page, first, at, count);
        at += count;
    }
}

// Bytes of a page that the file has.
std::size_t size_of(haddr_t page, H5FD_t* file)
{
    const auto end = H5FDget_eoa(file, H5FD_MEM_DEFAULT);
    const auto begin = page * page_size;
    return end <= begin ? 0 : std::min(page_size, end - begin);
}

// What a journal begins with: the lengths of its file while and after the pages are put in place. A
// file of another length is another one, which has come in its place.
struct Lengths {
    std::uint64_t during, after;
};

Pages read_journal(const std::string& path)
{
    Pages pages;
    std::ifstream file(journal_of(path), std::ios::binary);
    Lengths lengths{};
    if (!file.read(reinterpret_cast<char*>(&lengths), sizeof lengths)) return pages;
    const auto length = std::filesystem::file_size(path);
    if (length != lengths.during && length != lengths.after) return pages;
    for (std::uint64_t number = 0; file.read(reinterpret_cast<char*>(&number), sizeof number);)
        if (!file.read(pages[number].data(), page_size))
            throw Failure(journal_of(path) + " is cut off");
    return pages;
}

void write_journal(const JournaledFile& file)
{
    const auto name = journal_of(file.path), temporary = temporary_name(name);
    const Lengths lengths{std::filesystem::file_size(file.path),
                          H5FDget_eoa(file.below, H5FD_MEM_DEFAULT)};
    try {
        OutputFile out(temporary, name);
        out.write(&lengths, sizeof lengths);
        for (const auto& [number, page] : file.pages) {
            const std::uint64_t wide = number;
            out.write(&wide, sizeof wide);
            out.write(page.data(), page_size);
        }
        out.close();
        if (file.access->durable) sync_file(temporary);
        // Whoever has taken the file meanwhile must not find this journal beside it.
        if (file.access->owner) file.access->owner->check();
        std::filesystem::rename(temporary, name);
        if (file.access->durable) sync_folder_of(name);
    } catch (...) {
        std::error_code error;
        std::filesystem::remove(temporary, error);
        throw;
    }
}

void commit(JournaledFile& file)
{
    if (file.access->owner) file.access->owner->check();
    const auto sync = [&] {
        if (file.access->durable) sync_file(file.unnamed ? file.opened : file.path);
    };
    if (file.changed) sync();
    if (file.unnamed) {
        std::filesystem::remove(journal_of(file.path));
        std::filesystem::rename(file.opened, file.path);
        file.unnamed = false;
        if (file.access->durable) sync_folder_of(file.path);
    }
    if (!file.pages.empty()) {
        write_journal(file);
        for (const auto& [number, page] : file.pages)
            if (const auto size = size_of(number, file.below); size > 0) {
                may_write(file);
                check_below(H5FDwrite(file.below, H5FD_MEM_DEFAULT, H5P_DEFAULT, number * page_size,
                                      size, page.data()));
            }
        file.pages.clear();
        sync();
    }
    may_write(file);
    if (std::exchange(file.shorten, false))
        check_below(H5FDtruncate(file.below, H5P_DEFAULT, false));
    std::filesystem::remove(journal_of(file.path));
    file.committed = H5FDget_eoa(file.below, H5FD_MEM_DEFAULT);
    file.changed = false;
}

H5FD_t* open_file(const char* path, unsigned flags, hid_t properties, haddr_t most)
{
    auto file = std::make_unique<JournaledFile>();
    const auto status = guarded([&] {
        file->path = path;
        const auto* given = static_cast<const DriverInfo*>(H5Pget_driver_info(properties));
        if (given != nullptr && given->access != nullptr) file->access = given->access;
        file->unnamed = (flags & H5F_ACC_TRUNC) != 0;
        file->opened = file->unnamed ? temporary_name(path) : path;
        if (!file->unnamed) file->pages = read_journal(path);
        file->below = H5FDopen(file->opened.c_str(), flags, H5P_FILE_ACCESS_DEFAULT, most);
        if (file->below == nullptr) throw FailedBelow();
        file->committed = H5FDget_eof(file->below, H5FD_MEM_DEFAULT);
    });
    return status < 0 ? nullptr : file.release();
}

bool is_writable(const JournaledFile& file) { return (file.access_flags & H5F_ACC_RDWR) != 0; }

herr_t close_file(H5FD_t* closed)
{
    const std::unique_ptr<JournaledFile> file(&ours(closed));
    herr_t status = 0;
    // HDF5 also closes files that it has opened just to look at.
    if (is_writable(*file) && file->changed) status = changed(*file, [&] { commit(*file); });
    // That the journal is gone is to be on disk, too: nobody looks for one beside a file that is
    // complete.
    if (is_writable(*file) && file->access->durable && status >= 0)
        status = changed(*file, [&] { sync_folder_of(file->path); });
    if (H5FDclose(file->below) < 0) status = -1;
    std::error_code error;
    if (file->unnamed) std::filesystem::remove(file->opened, error);
    return status;
}

herr_t read_file(H5FD_t* read, H5FD_mem_t type, hid_t, haddr_t begin, std::size_t size, void* to)
{
    const auto& file = ours(read);
    return guarded([&] {
        check_below(H5FDread(file.below, type, H5P_DEFAULT, begin, size, to));
        if (file.pages.empty()) return;
        for_pages(begin, size, [&](haddr_t page, haddr_t first, std::size_t at, std::size_t count) {
            if (const auto held = file.pages.find(page); held != file.pages.end())
                std::memcpy(static_cast<char*>(to) + at, held->second.data() + first, count);
        });
    });
}

herr_t write_file(H5FD_t* written, H5FD_mem_t type, hid_t, haddr_t begin, std::size_t size,
                  const void* from)
{
    auto& file = ours(written);
    return changed(file, [&] {
        may_write(file);
        file.changed = true;
        const auto* bytes = static_cast<const char*>(from);
        const auto pages = (file.committed + page_size - 1) / page_size;
        const auto inside =
            pages * page_size <= begin ? 0 : std::min<std::size_t>(size, pages * page_size - begin);
        for_pages(begin, inside,
                  [&](haddr_t number, haddr_t first, std::size_t at, std::size_t count) {
                      auto held = file.pages.find(number);
                      if (held == file.pages.end()) {
                          Page page{};
                          if (const auto there = size_of(number, file.below); there > 0)
                              check_below(H5FDread(file.below, type, H5P_DEFAULT,
                                                   number * page_size, there, page.data()));
                          held = file.pages.emplace(number, page).first;
                      }
                      std::memcpy(held->second.data() + first, bytes + at, count);
                  });
        if (inside < size)
            check_below(H5FDwrite(file.below, type, H5P_DEFAULT, begin + inside, size - inside,
                                  bytes + inside));
    });
}

herr_t flush_file(H5FD_t* file, hid_t, hbool_t)
{
    return changed(ours(file), [&] {
        if (is_writable(ours(file))) commit(ours(file));
    });
}

herr_t truncate_file(H5FD_t* file, hid_t, hbool_t closing)
{
    return changed(ours(file), [&] {
        if (H5FDget_eoa(below(file), H5FD_MEM_DEFAULT) < ours(file).committed)
            ours(file).shorten = ours(file).changed = true;
        else
            check_below(H5FDtruncate(below(file), H5P_DEFAULT, closing));
    });
}

H5FD_class_t make_driver()
{
    H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
    driver.version = H5FD_CLASS_VERSION;
    driver.value = H5FD_class_value_t{600};  // any number that HDF5 leaves to applications
#endif
    driver.name = "quorate journal";
    driver.maxaddr = HADDR_MAX / 2;  // the largest file offset
    driver.fc_degree = H5F_CLOSE_WEAK;
    driver.fapl_size = sizeof(DriverInfo);
    driver.open = open_file;
    driver.close = close_file;
    driver.cmp = [](const H5FD_t* a, const H5FD_t* b) { return H5FDcmp(below(a), below(b)); };
    driver.query = [](const H5FD_t* file, unsigned long* flags) -> herr_t {
        *flags = 0;
        if (file == nullptr) return 0;
        if (H5FDquery(below(file), flags) < 0) return -1;
        // With it, HDF5 looks at the file of that name, which a new file does not have yet.
        *flags &= ~static_cast<unsigned long>(H5FD_FEAT_POSIX_COMPAT_HANDLE);
        return 0;
    };
    driver.get_eoa = [](const H5FD_t* file, H5FD_mem_t type) {
        return H5FDget_eoa(below(file), type);
    };
    driver.set_eoa = [](H5FD_t* file, H5FD_mem_t type, haddr_t end) {
        return H5FDset_eoa(below(file), type, end);
    };
    driver.get_eof = [](const H5FD_t* file, H5FD_mem_t type) {
        return H5FDget_eof(below(file), type);
    };
    driver.read = read_file;
    driver.write = write_file;
    driver.flush = flush_file;
    driver.truncate = truncate_file;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::ranges::copy(map, driver.fl_map);
    return driver;
}

}  // namespace

std::string journal_of(const std::string& path) { return path + ".journal"; }

hid_t journal_driver()
{
    static const H5FD_class_t driver = make_driver();
    static const hid_t id = H5FDregister(&driver);
    if (id < 0) throw Failure("HDF5: cannot register the driver that keeps a journal");
    return id;
}

}  // namespace quorate::h5
