// SPDX-License-Identifier: BSD-2-Clause
#include "cli/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "driver/plugins.hpp"
#include "job/manifest.hpp"

namespace quorate {

namespace {

namespace po = boost::program_options;

po::options_description describe(const std::vector<Option>& options)
{
    po::options_description description;
    for (const auto& option : options) {
        auto* value = po::value<std::string>();
        if (option.argument.empty())
            value->zero_tokens();  // else a switch would take the operand behind it as its value
        else
            value->value_name(option.argument);
        description.add_options()(option.name.c_str(), value, option.text.c_str());
    }
    return description;
}

// @param where  where the option stands, for the message; empty: on the command line
[[noreturn]] void refuse_unknown(const std::string& where, const std::string& name,
                                 const std::vector<Option>& options, const Command& command)
{
    if (const auto now = current_option(name, "").name; now != name)
        throw BadInput(fmt::format("{}quorate {} has no option --{} any more: it is --{} now",
                                   where, command.name, name, now));
    const auto meant = nearest(name, names(options));
    throw BadInput(fmt::format("{}quorate {} has no option --{}{}", where, command.name, name,
                               meant.empty() ? "; see quorate " + command.name + " --help"
                                             : "; did you mean --" + meant + "?"));
}

std::string without_dashes(const std::string& name)
{
    const auto first = name.find_first_not_of('-');
    return first == std::string::npos ? name : name.substr(first, name.find('=') - first);
}

void read_config(const std::string& path, const std::vector<Option>& options,
                 const Command& command, Settings& settings)
{
    for (const auto& value : read_ini(path)) {
        const auto name = value.section.empty() ? value.name : value.section + "." + value.name;
        const auto known = std::ranges::find(options, name, &Option::name);
        if (known == options.end() || name == "config")
            refuse_unknown(value.origin, name, options, command);
        settings.set(name, {stored_value(*known, value.text, value.origin), value.origin, true});
    }
}

// Whether the value of an option is a path, which a manifest gives relative to its own folder.
bool is_path(const std::string& option)
{
    return option == "data" || option == "trace" || option == "checkpoint" || option == "plugin";
}

// Sets the options of the run that --manifest and --row name, except for those that the command
// line or --config gives.
void read_row(const Command& command, Settings& settings)
{
    if (!settings.on("manifest") && !settings.on("row")) return;
    if (!settings.on("manifest"))
        settings.refuse("row", ", but of which --manifest? Give that too");
    if (!settings.on("row"))
        settings.refuse("manifest", ", but which of its runs? Give --row, or run quorate script");
    const auto path = settings.text("manifest");
    const auto manifest = Manifest::read(path);
    const auto& row = manifest.row(settings.integer("row", 1));
    auto options = row.options;
    options.emplace_back("trace", row.trace);
    const auto known = all_options(command);
    for (const auto& [name, text] : options) {
        const auto option = std::ranges::find(known, name, &Option::name);
        if (option == known.end() || name == "manifest" || name == "row" || name == "config")
            refuse_unknown(row.origin, name, known, command);
        if (settings.given(name)) continue;
        const auto folder = std::filesystem::path(path).parent_path();
        settings.set(name, {is_path(name) ? (folder / text).string()
                                          : stored_value(*option, text, row.origin),
                            row.origin, true});
    }
    settings.set("manifest", {"", "", false});
    settings.set("row", {"", "", false});
}

}  // namespace

std::vector<Option> all_options(const Command& command)
{
    auto all = command.options;
    all.insert(all.end(), {{"config", "FILE", "",
                            "INI file with values for these options; the command line goes first"},
                           plugin_option(),
                           {"quiet", "", "", "print errors and warnings only"},
                           {"verbose", "", "", "print what else happens, and on which rank"},
                           {"help", "", "", "print this and stop"}});
    return all;
}

Settings parse(const Command& command, const std::vector<std::string>& arguments)
{
    const auto options = all_options(command);
    auto description = describe(options);
    const std::string operand_key = "operand";
    description.add_options()(operand_key.c_str(), po::value<std::vector<std::string>>());
    po::positional_options_description positions;
    positions.add(operand_key.c_str(), -1);
    using style = po::command_line_style::style_t;
    const int exact = style::unix_style & ~style::allow_guessing & ~style::allow_sticky;

    auto settings = make_settings(options, {});
    std::vector<std::string> operands;
    Choice given;
    try {
        const auto parsed = po::command_line_parser(arguments)
                                .options(description)
                                .positional(positions)
                                .style(exact)
                                .run();
        for (const auto& option : parsed.options) {
            if (option.string_key == operand_key)
                operands.insert(operands.end(), option.value.begin(), option.value.end());
            else
                given.emplace_back(option.string_key,
                                   option.value.empty() ? "on" : option.value[0]);
        }
    } catch (const po::unknown_option& unknown) {
        refuse_unknown("", without_dashes(unknown.get_option_name()), options, command);
    } catch (const po::error& wrong) {
        throw BadInput(fmt::format("quorate {}: {}", command.name, wrong.what()));
    }
    for (const auto& [name, value] : given)
        if (name == "config") read_config(value, options, command, settings);
    std::set<std::string> seen;
    for (const auto& [name, value] : given) {
        if (!seen.insert(name).second)
            throw BadInput(
                fmt::format("quorate {}: --{} is given twice: give it once", command.name, name));
        settings.set(name, {value, "", true});
    }
    if (settings.on("help")) return settings;
    if (settings.has("row") && settings.has("trace")) read_row(command, settings);

    const std::size_t wanted = command.operand.empty() ? 0 : 1;
    if (operands.size() > wanted)
        throw BadInput(fmt::format("quorate {}: {} is one word too many: options begin with --",
                                   command.name, operands[wanted]));
    if (operands.size() < wanted)
        throw BadInput(fmt::format("quorate {} needs {}: quorate {} {}", command.name,
                                   command.operand, command.name, command.operand));
    if (wanted) settings.set(command.operand, {operands[0], "", true});
    return settings;
}

std::string usage(const Command& command)
{
    constexpr std::size_t text_at = 29;
    std::string text =
        fmt::format("quorate {}{}{} [OPTIONS]\n{}\n\n", command.name,
                    command.operand.empty() ? "" : " ", command.operand, command.text);
    for (const auto& option : all_options(command)) {
        const auto head = option.argument.empty() ? "--" + option.name
                                                  : "--" + option.name + " " + option.argument;
        const auto fallback = option.fallback.empty() ? "" : " [" + option.fallback + "]";
        text += fmt::format("  {:<{}}", head, text_at - 2);
        if (head.size() + 3 > text_at) text.append(1, '\n').append(text_at, ' ');
        text += wrapped(option.text + fallback, 100 - text_at, text_at) + "\n";
    }
    return text;
}

}  // namespace quorate
