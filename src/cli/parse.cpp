// SPDX-License-Identifier: BSD-2-Clause
#include "cli/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "commands/run_folder.hpp"
#include "jobs/manifest.hpp"
#include "parts/plugins.hpp"

namespace quorate {

namespace {

// @param where  where the option stands, for the message; empty: on the command line
[[noreturn]] void refuse_unknown(const std::string& where, const std::string& name,
                                 const std::vector<Option>& options, const Command& command)
{
    const auto meant = option_meant(name, names(options));
    throw BadInput(fmt::format("{}quorate {} has no option --{}{}", where, command.name, name,
                               meant.empty() ? "; see quorate " + command.name + " --help"
                                             : "; did you mean --" + meant + "?"));
}

// Sets what a file says of options, but for those that are given.
// @param refused  options that it may not name
void set_from_file(const std::vector<IniValue>& values, const std::vector<std::string>& refused,
                   const Command& command, Settings& settings)
{
    const auto options = all_options(command);
    for (const auto& value : values) {
        const auto name = value.section.empty() ? value.name : value.section + "." + value.name;
        const auto known = std::ranges::find(options, name, &Option::name);
        if (known == options.end() || std::ranges::find(refused, name) != refused.end())
            refuse_unknown(value.origin, name, options, command);
        const auto text = stored_value(*known, value.text, value.origin);
        if (!settings.given(name)) settings.set(name, {text, value.origin, true});
    }
}

// Whether the value of an option is a path, which a manifest gives relative to its own folder.
bool is_path(const std::string& option)
{
    return option == "data" || option == "trace" || option == "checkpoint" || option == "plugin";
}

// Sets the options of the run that --manifest and --row name.
void read_row(const Command& command, Settings& settings)
{
    if (!settings.on("manifest") && !settings.on("row")) return;
    if (!settings.on("manifest"))
        settings.refuse("row", ", but of which --manifest? Give that too");
    if (!settings.on("row"))
        settings.refuse("manifest", ", but which of its runs? Give --row, or run quorate script");
    const auto path = settings.text("manifest");
    const auto folder = std::filesystem::path(path).parent_path();
    const auto manifest = Manifest::read(path);
    const auto& row = manifest.row(settings.integer("row", 1));
    std::vector<IniValue> values = {{"", "trace", (folder / row.trace).string(), row.origin}};
    for (const auto& [name, text] : row.options)
        values.push_back({"", name, is_path(name) ? (folder / text).string() : text, row.origin});
    set_from_file(values, {"manifest", "row", "config"}, command, settings);
    settings.set("manifest", {"", "", false});
    settings.set("row", {"", "", false});
}

// The words of a command line: options with their values, in their order, and operands.
struct Words {
    Choice options;
    std::vector<std::string> operands;
};

Words read_words(const std::vector<std::string>& arguments, const Command& command)
{
    Words words;
    const auto options = all_options(command);
    const auto end = arguments.end();
    for (auto word = arguments.begin(); word != end; ++word) {
        const auto text = *word == "-h" ? "--help" : *word;
        if (text == "--") {
            words.operands.insert(words.operands.end(), word + 1, end);
            break;
        }
        if (!text.starts_with('-') || text == "-") {
            words.operands.push_back(text);
            continue;
        }
        const auto equals = std::min(text.find('='), text.size());
        const auto dashes = std::min(text.find_first_not_of('-'), equals);
        const auto name = text.substr(dashes, equals - dashes);
        const auto option = std::ranges::find(options, name, &Option::name);
        if (option == options.end() || dashes != 2) refuse_unknown("", name, options, command);
        const bool joined = equals < text.size();
        const bool followed = !joined && word + 1 != end && !word[1].starts_with("--");
        auto value = joined ? text.substr(equals + 1) : followed ? word[1] : "";
        const bool all = name == "help" && value == "all";
        const bool is_switch = option->argument.empty() && !all;
        if (is_switch && joined)
            throw BadInput(fmt::format("quorate {}: --{} takes no argument: leave out ={}",
                                       command.name, name, value));
        if (is_switch)
            value = "on";
        else if (followed)
            ++word;
        else if (value.empty())
            throw BadInput(fmt::format("quorate {}: --{} is without its argument: give --{} {}",
                                       command.name, name, name, option->argument));
        words.options.emplace_back(name, value);
    }
    return words;
}

// Gives the operands the names that the command has for them.
void set_operands(const std::vector<std::string>& operands, const Command& command,
                  Settings& settings)
{
    std::size_t taken = 0;
    for (const auto& operand : split(command.operand, ' ')) {
        if (operand.empty()) continue;
        const bool optional = operand.front() == '[';
        const auto name = optional ? operand.substr(1, operand.size() - 2) : operand;
        if (taken < operands.size())
            settings.set(name, {trace_in(operands[taken++]), "", true});
        else if (optional)
            settings.set(name, {});
        else
            throw BadInput(fmt::format("quorate {} needs {}: quorate {} {}", command.name, name,
                                       command.name, command.operand));
    }
    if (operands.size() > taken)
        throw BadInput(fmt::format("quorate {}: unexpected argument {}: options begin with --",
                                   command.name, operands[taken]));
}

}  // namespace

std::vector<Option> all_options(const Command& command)
{
    if (command.run_words) return {};
    auto all = command.options;
    all.insert(all.end(), {{"config", "FILE", "",
                            "INI file with values for these options; the command line goes first"},
                           plugin_option(),
                           {"quiet", "", "", "print errors and warnings only"},
                           {"verbose", "", "", "print what else happens, and on which rank"},
                           {"help", "", "", "print this and stop; --help=all: with all options"}});
    return all;
}

Settings parse(const Command& command, const std::vector<std::string>& arguments)
{
    const auto [given, operands] = read_words(arguments, command);
    auto settings = make_settings(all_options(command), {});
    std::set<std::string> seen;
    for (const auto& [name, value] : given) {
        if (!seen.insert(name).second)
            throw BadInput(
                fmt::format("quorate {}: --{} is given twice: give it once", command.name, name));
        settings.set(name, {value, "", true});
    }
    if (settings.on("config"))
        set_from_file(read_ini(settings.text("config")), {"config"}, command, settings);
    if (settings.on("help")) return settings;
    if (settings.has("row") && settings.has("trace")) read_row(command, settings);
    if (settings.has("folder"))
        if (const auto path = options_to_resume(settings); !path.empty())
            set_from_file(read_ini(path), {}, command, settings);
    set_operands(operands, command, settings);
    return settings;
}

}  // namespace quorate
