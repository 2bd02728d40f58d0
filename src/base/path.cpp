// SPDX-License-Identifier: BSD-2-Clause
#include "base/path.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

// Waits until a file or folder is on disk. @return errno, or 0
int synced(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int why = file >= 0 && fsync(file) == 0 ? 0 : errno;
    if (file >= 0) close(file);
    return why;
}

[[noreturn]] void fail_to_write(const std::string& path, int why)
{
    throw Failure(fmt::format("cannot write {}: {}", path, std::strerror(why)));
}

}  // namespace

std::string cannot_open(const std::string& path)
{
    const int why = errno;
    const std::filesystem::path file(path);
    const auto stem = [](const std::string& name) { return name.substr(0, name.find('.')); };
    // The nearest name with the nearest stem: endings agree whatever the file is.
    std::vector<std::string> there, stems;
    std::error_code error;
    const auto folder = file.has_parent_path() ? file.parent_path() : ".";
    if (why == ENOENT)
        for (const auto& entry : std::filesystem::directory_iterator(folder, error))
            there.push_back(entry.path().filename().string());
    for (const auto& name : there) stems.push_back(stem(name));
    const auto near = nearest(stem(file.filename().string()), stems);
    std::erase_if(there, [&](const auto& name) { return stem(name) != near; });
    const auto meant = near.empty() ? "" : nearest(file.filename().string(), there);
    return fmt::format(
        "cannot open {}: {}; {}", path, std::strerror(why),
        meant.empty() ? "give a file that can be read"
                      : fmt::format("did you mean {}?", (file.parent_path() / meant).string()));
}

std::ifstream open_file(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw BadInput(path + " is a folder: give a file");
    // The first bytes are read twice, which a pipe does not allow, and a device may have no end.
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        throw BadInput(path + " is a device or a pipe: give a file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw BadInput(cannot_open(path));
    return file;
}

std::string target_of(const std::string& path)
{
    std::error_code error;
    const auto target = std::filesystem::canonical(path, error);
    return error ? path : target.string();
}

std::optional<std::string> contents_of(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return std::nullopt;
    std::string text;
    char some[4096];
    ssize_t size = 0;
    while ((size = read(file, some, sizeof some)) > 0 || (size < 0 && errno == EINTR))
        text.append(some, static_cast<std::size_t>(std::max<ssize_t>(0, size)));
    const int why = errno;
    close(file);
    if (size < 0 && why == EISDIR) return std::nullopt;
    if (size < 0) throw Failure(fmt::format("cannot read {}: {}", path, std::strerror(why)));
    return text;
}

void check_writable(const std::string& path, const std::string& option)
{
    const auto refuse = [&](const std::string& why) {
        throw BadInput(fmt::format("--{} is {}, which cannot be written: {}", option, path, why));
    };
    std::error_code error;
    if (path.empty()) throw BadInput(fmt::format("--{} is empty: give a file", option));
    if (std::filesystem::is_directory(path, error)) refuse("it is a folder; give a file");
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        refuse("it is no regular file; give a file");
    std::string beside = path + ".XXXXXX";
    const int file = mkstemp(beside.data());
    if (file < 0)
        refuse(std::string(std::strerror(errno)) + "; give a file in a folder that can be written");
    close(file);
    unlink(beside.c_str());
    if (std::filesystem::exists(path, error) && access(path.c_str(), W_OK) != 0)
        refuse(std::string(std::strerror(errno)));
}

std::filesystem::path temporary_folder()
{
    std::error_code error;
    auto folder = std::filesystem::temp_directory_path(error);
    if (!error && access(folder.c_str(), W_OK) == 0) return folder;
    std::string name = "TMPDIR";
    for (const auto* other :
         {"TMP", "TEMP", "TEMPDIR"})  // in the order in which they are looked at
        if (environment(name.c_str()).empty()) name = other;
    throw BadInput(fmt::format(
        "{} is {}, which is no folder that can be written: make it, or name another one", name,
        environment(name.c_str())));
}

std::string temporary_name(const std::string& path)
{
    std::random_device random;
    for (;;) {
        auto name = fmt::format("{}.{:08x}.part", path, random());
        const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno == EEXIST) continue;
        if (file < 0) fail_to_write(path, errno);
        close(file);
        return name;
    }
}

void sync_file(const std::string& path)
{
    if (const int why = synced(path); why != 0) fail_to_write(path, why);
}

void sync_folder_of(const std::string& path)
{
    const auto folder = std::filesystem::path(path).parent_path();
    // Some file systems cannot do it, as their folders need it not.
    if (const int why = synced(folder.empty() ? "." : folder.string()); why != 0 && why != EINVAL)
        fail_to_write(path, why);
}

void move_into_place(const std::string& temporary, const std::string& path)
{
    int why = synced(temporary);
    if (why == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) why = errno;
    if (why != 0) fail_to_write(path, why);
    sync_folder_of(path);
}

void write_whole(const std::string& path,
                 const std::function<void(const std::string& temporary)>& write)
{
    const auto temporary = temporary_name(path);
    try {
        write(temporary);
        move_into_place(temporary, path);
    } catch (...) {
        std::remove(temporary.c_str());
        throw;
    }
}

void write_file(const std::string& path, const std::string& text)
{
    write_whole(path, [&](const std::string& temporary) {
        OutputFile file(temporary, path);
        file.write(text.data(), text.size());
        file.close();
    });
}

}  // namespace quorate
