// SPDX-License-Identifier: BSD-2-Clause
#include "driver/plugins.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "data/source.hpp"
#include "driver/run_files.hpp"
#include "job/manifest.hpp"

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

// Loads the plugins of a list. @param paths  separated by commas
// @param folder  where relative paths start; empty: the current folder
void load_all(const std::string& paths, const std::filesystem::path& folder = {})
{
    for (const auto& path : split(paths, ','))
        if (!trimmed(path).empty()) load_plugin((folder / trimmed(path)).string());
}

// Loads the plugins that an INI file names, with its folder for {here}, as in experiments. This comes before its options
// are read, because plugins bring options. A file that cannot be read is left to whoever reads it next, and refuses it
// then.
void load_from_ini(const std::string& path)
{
    std::vector<IniValue> values;
    try {
        values = read_ini(path);
    } catch (const BadInput&) {
    }
    const auto here = std::filesystem::absolute(path).parent_path().string();
    for (const auto& value : values)
        if (value.name == "plugin") load_all(boost::replace_all_copy(value.text, "{here}", here));
}

// Loads the plugins that a manifest names, in all rows or in one. A manifest that is not there is
// left to whoever reads it next, and refuses it then; a malformed one is refused here.
void load_from_manifest(const std::string& path, std::optional<std::int64_t> number)
{
    if (!std::filesystem::is_regular_file(path)) return;
    const auto manifest = Manifest::read(path);
    for (const auto& row : manifest.rows())
        if (!number || row.number == *number)
            load_all(row.value("plugin"), std::filesystem::path(path).parent_path());
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

void load_plugins(const std::vector<std::string>& words)
{
    const auto value = [&](const std::string& option) -> std::string {
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i] == option && i + 1 < words.size()) return words[i + 1];
            if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
        }
        return "";
    };
    const auto given = value("--plugin");
    load_all(given);
    // Those of a run that goes on may have moved; then they are given.
    const auto folder = value("--folder");
    if (given.empty() && std::ranges::find(words, "--resume") != words.end() && !folder.empty())
        try {
            load_from_ini((std::filesystem::path(folder) / run_file::options).string());
        } catch (const BadInput& wrong) {
            throw BadInput(fmt::format(
                "{} (a plugin of the run: --plugin FILE says where it is now)", wrong.what()));
        }
    for (const auto* option : {"--config", "--experiment"})
        if (const auto path = value(option); !path.empty()) load_from_ini(path);
    if (const auto path = value("--manifest"); !path.empty())
        load_from_manifest(path, to_integer(value("--row")));
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
