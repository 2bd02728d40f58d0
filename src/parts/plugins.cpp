// SPDX-License-Identifier: BSD-2-Clause
#include "parts/plugins.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace quorate {

namespace {

struct Plugin {
    std::string path, hash;
};

// Returns the plugins of this process, in the order in which they were loaded.
std::vector<Plugin>& loaded()
{
    static std::vector<Plugin> all;
    return all;
}

std::function<void(const std::string&)>& python_loader()
{
    static std::function<void(const std::string&)> load;
    return load;
}

// Adds the components of a shared object.
void load_object(const std::string& path)
{
    // The path is absolute, because dlopen() looks for a name without a slash in the library path.
    // RTLD_LAZY binds functions at their first call: a plugin of another version may miss some of
    // them, but must load so that the comparison of versions below can refuse it.
    void* const object = dlopen(std::filesystem::absolute(path).c_str(), RTLD_LAZY);
    if (object == nullptr)
        throw BadInput(fmt::format("the plugin {} cannot be loaded: {}", path, dlerror()));
    const auto* built = static_cast<const char*>(dlsym(object, "quorate_plugin_built_with"));
    auto* const add = reinterpret_cast<void (*)()>(dlsym(object, "quorate_plugin_add"));
    if (built == nullptr || add == nullptr)
        throw BadInput(path + " is no plugin of Quorate: it lacks QUORATE_PLUGIN(...)");
    if (std::string(built) != built_with)
        throw BadInput(fmt::format("the plugin {} was built with {}, this is {}: build it again",
                                   path, built, built_with));
    add();
}

// Returns the hashes of recorded plugins without their paths, because a plugin may have moved.
std::set<std::string> hashes(const std::string& recorded)
{
    std::set<std::string> all;
    for (const auto& one : split(recorded, ';'))
        if (const auto text = trimmed(one); !text.empty())
            all.insert(text.substr(text.rfind(' ') + 1));
    return all;
}

}  // namespace

Option plugin_option()
{
    return {"plugin", "FILE,...", "", "shared objects with components to add; see docs/library.md"};
}

void python_plugins(std::function<void(const std::string&)> load)
{
    python_loader() = std::move(load);
}

void load_plugin(const std::string& path)
{
    const auto hash = sha256(path);
    if (std::ranges::find(loaded(), hash, &Plugin::hash) != loaded().end()) return;
    if (path.ends_with(".py")) {
        if (!python_loader())
            throw BadInput(fmt::format(
                "the plugin {} is written in Python: start the command as 'python3 -m quorate ...'",
                path));
        python_loader()(path);
    } else {
        load_object(path);
    }
    loaded().push_back({std::filesystem::absolute(path).lexically_normal().string(), hash});
}

void load_plugins(const std::string& paths, const std::filesystem::path& folder)
{
    for (const auto& path : split(paths, ','))
        if (!trimmed(path).empty()) load_plugin((folder / trimmed(path)).string());
}

std::string loaded_plugins()
{
    std::string all;
    for (const auto& plugin : loaded())
        all += fmt::format("{}{} {}", all.empty() ? "" : "; ", plugin.path, plugin.hash);
    return all;
}

std::string paths_of_plugins()
{
    std::vector<std::string> paths;
    for (const auto& plugin : loaded()) paths.push_back(plugin.path);
    return fmt::format("{}", fmt::join(paths, ","));
}

void check_same_plugins(const std::string& path, const std::string& recorded)
{
    if (hashes(recorded) == hashes(loaded_plugins())) return;
    const auto told = [](const std::string& text) { return text.empty() ? "none" : text; };
    throw BadInput(fmt::format("{} has the plugins {}, this process has {}: give the same --plugin",
                               path, told(recorded), told(loaded_plugins())));
}

}  // namespace quorate
