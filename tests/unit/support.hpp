// SPDX-License-Identifier: BSD-2-Clause
// What several tests need: a folder that goes away, the message of a refusal, settings from pairs.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace quorate::test {

/// A temporary folder, removed with what is in it.
class Folder {
public:
    Folder()
    {
        std::string name = std::filesystem::temp_directory_path() / "quorate-unit-XXXXXX";
        path_ = mkdtemp(name.data());
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }

    std::string file(const std::string& name) const { return path_ + "/" + name; }
    std::string write(const std::string& name, const std::string& bytes) const
    {
        std::ofstream(file(name), std::ios::binary) << bytes;
        return file(name);
    }
    std::size_t files() const
    {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_))
            ++count;
        return count;
    }

private:
    std::string path_;
};

/// The message of the BadInput that f throws.
template <class F>
std::string refusal(F f)
{
    try {
        f();
    } catch (const BadInput& wrong) {
        return wrong.what();
    }
    return "(nothing was refused)";
}

inline Settings settings(const std::vector<std::pair<std::string, std::string>>& values)
{
    Settings all;
    for (const auto& [name, text] : values) all.set(name, {text, "", true});
    return all;
}

/// Settings with the defaults of these options, and some values in their place.
inline Settings settings(const std::vector<Option>& options,
                         const std::map<std::string, std::string>& values)
{
    auto all = make_settings(options, {});
    for (const auto& [name, text] : values) all.set(name, {text, "", true});
    return all;
}

/// The entry of a registry with that name.
template <class Entries>
const auto& entry(const Entries& entries, const std::string& name)
{
    for (const auto& one : entries)
        if (one.name == name) return one;
    throw std::logic_error("no entry " + name);
}

/// The folder with real data sets, or nothing: as tests/conftest.py. Unit tests run in the
/// repository.
inline std::optional<std::string> real_data()
{
    const char* given = std::getenv("QUORATE_DATA");
    const std::string folder = given ? given : "../shared/data";
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) return std::nullopt;
    return folder;
}

inline bool same_bits(std::span<const double> a, std::span<const double> b)
{
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// 1 + 1/2 + ... + 1/n: the mean of the largest of n exponential times of mean 1.
inline double harmonic(int n)
{
    double sum = 0;
    for (int i = 1; i <= n; ++i) sum += 1.0 / i;
    return sum;
}

}  // namespace quorate::test
