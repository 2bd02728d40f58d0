// SPDX-License-Identifier: BSD-2-Clause
#include "cli/named_plugins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "commands/run_files.hpp"
#include "jobs/manifest.hpp"
#include "parts/plugins.hpp"

namespace quorate {

namespace {

// Loads the plugins that an INI file names, with its folder for {here}, as in experiments. This
// comes before its options are read, because plugins bring options. A file that cannot be read is
// left to whoever reads it next, and refuses it then.
void load_from_ini(const std::string& path)
{
    std::vector<IniValue> values;
    try {
        values = read_ini(path);
    } catch (const BadInput&) {
    }
    const auto here = std::filesystem::absolute(path).parent_path().string();
    for (const auto& value : values)
        if (value.name == "plugin")
            load_plugins(boost::replace_all_copy(value.text, "{here}", here));
}

// Loads the plugins that a manifest names, in all rows or in one. A manifest that is not there is
// left to whoever reads it next, and refuses it then; a malformed one is refused here.
void load_from_manifest(const std::string& path, std::optional<std::int64_t> number)
{
    if (!std::filesystem::is_regular_file(path)) return;
    const auto manifest = Manifest::read(path);
    for (const auto& row : manifest.rows())
        if (!number || row.number == *number)
            load_plugins(row.value("plugin"), std::filesystem::path(path).parent_path());
}

}  // namespace

void load_named_plugins(const std::vector<std::string>& words)
{
    const auto value = [&](const std::string& option) -> std::string {
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i] == option && i + 1 < words.size()) return words[i + 1];
            if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
        }
        return "";
    };
    const auto given = value("--plugin");
    load_plugins(given);
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

}  // namespace quorate
