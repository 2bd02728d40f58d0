// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/share.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"

namespace quorate {

namespace fs = std::filesystem;

namespace {

std::string& command_of_host()
{
    static std::string command;
    return command;
}

}  // namespace

void run_as(const std::string& command) { command_of_host() = command; }

std::string own_path()
{
    Dl_info library{};
    if (!command_of_host().empty() && dladdr(reinterpret_cast<void*>(&run_as), &library) != 0)
        return fs::canonical(library.dli_fname).string();
    return fs::read_symlink("/proc/self/exe").string();
}

std::string own_command()
{
    return command_of_host().empty() ? quoted(own_path()) : command_of_host();
}

std::string shared_folder(const std::string& name)
{
    const auto here = fs::path(own_path()).parent_path();
    for (auto above = here; above.has_relative_path(); above = above.parent_path())
        for (const auto& folder : {above / name, above / "share" / "quorate" / name})
            if (fs::is_directory(folder) &&
                (fs::exists(above / "Makefile") || folder.parent_path().filename() == "quorate"))
                return folder.string();
    throw Failure("there is no folder " + name + " with " + own_path() +
                  ": run the program where it was built or installed");
}

std::vector<std::string> shared_files(const std::string& folder, const std::string& extension)
{
    std::vector<std::string> all;
    for (const auto& file : fs::directory_iterator(shared_folder(folder)))
        if (file.path().extension() == extension) all.push_back(file.path().string());
    std::ranges::sort(all);
    return all;
}

std::string named_file(const std::string& folder, const std::string& option,
                       const std::string& word, const std::string& what)
{
    if (word.find('/') != std::string::npos || word.ends_with(".ini")) return word;
    std::vector<std::string> known;
    for (const auto& path : shared_files(folder, ".ini")) {
        known.push_back(fs::path(path).stem().string());
        if (known.back() == word) return path;
    }
    if (fs::is_regular_file(word)) return word;
    throw BadInput(fmt::format("--{} is {}, which is neither {} nor the path of one{}", option,
                               word, what, suggestion(word, known)));
}

}  // namespace quorate
