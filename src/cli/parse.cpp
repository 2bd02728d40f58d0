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
#include "commands/run_folder.hpp"
#include "jobs/manifest.hpp"
#include "parts/plugins.hpp"

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
    const auto meant = option_meant(name, names(options));
    throw BadInput(fmt::format("{}quorate {} has no option --{}{}", where, command.name, name,
                               meant.empty() ? "; see quorate " + command.name + " --help"
                                             : "; did you mean --" + meant + "?"));
}

std::string without_dashes(const std::string& name)
{
    const auto first = name.find_first_not_of('-');
    return first == std::string::npos ? name : name.substr(first, name.find('=') - first);
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

// Makes --help=all, or --help all, a plain --help. @return whether it was there
bool take_help_for_all(std::vector<std::string>& words)
{
    const auto joined = std::ranges::find(words, "--help=all");
    if (joined != words.end()) {
        *joined = "--help";
        return true;
    }
    const auto help = std::ranges::find(words, "--help");
    if (help == words.end() || help + 1 == words.end() || help[1] != "all") return false;
    words.erase(help + 1);
    return true;
}

// Refuses an option without its argument. Boost would take the option behind it for that.
void check_arguments(const std::vector<std::string>& words, const std::vector<Option>& options,
                     const Command& command)
{
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto option = std::ranges::find_if(
            options, [&](const Option& one) { return words[i] == "--" + one.name; });
        if (option == options.end() || option->argument.empty()) continue;
        ++i;
        if (i == words.size() || words[i].starts_with("--"))
            throw BadInput(fmt::format("quorate {}: --{} is without its argument: give --{} {}",
                                       command.name, option->name, option->name, option->argument));
    }
}

// The words of a command line: options with their values, in their order, and operands.
struct Words {
    Choice options;
    std::vector<std::string> operands;
};

Words read_words(const std::vector<std::string>& arguments, const std::vector<Option>& options,
                 const Command& command)
{
    auto description = describe(options);
    const std::string operand_key = "operand";
    description.add_options()(operand_key.c_str(), po::value<std::vector<std::string>>());
    po::positional_options_description positions;
    positions.add(operand_key.c_str(), -1);
    using style = po::command_line_style::style_t;
    const int exact = style::unix_style & ~style::allow_guessing & ~style::allow_sticky;
    Words words;
    try {
        const auto parsed = po::command_line_parser(arguments)
                                .options(description)
                                .positional(positions)
                                .style(exact)
                                .run();
        for (const auto& option : parsed.options)
            if (option.string_key == operand_key)
                words.operands.insert(words.operands.end(), option.value.begin(),
                                      option.value.end());
            else
                words.options.emplace_back(option.string_key,
                                           option.value.empty() ? "on" : option.value[0]);
    } catch (const po::unknown_option& unknown) {
        refuse_unknown("", without_dashes(unknown.get_option_name()), options, command);
    } catch (const po::error& wrong) {
        throw BadInput(fmt::format("quorate {}: {}", command.name, wrong.what()));
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

Settings parse(const Command& command, const std::vector<std::string>& given_words)
{
    auto arguments = given_words;
    // Only where it is no option's argument is it a word that begins with a dash.
    std::ranges::replace(arguments, "-h", "--help");
    const bool all = take_help_for_all(arguments);
    const auto options = all_options(command);
    check_arguments(arguments, options, command);
    const auto [given, operands] = read_words(arguments, options, command);

    auto settings = make_settings(options, {});
    std::set<std::string> seen;
    for (const auto& [name, value] : given) {
        if (!seen.insert(name).second)
            throw BadInput(
                fmt::format("quorate {}: --{} is given twice: give it once", command.name, name));
        settings.set(name, {value, "", true});
    }
    if (settings.on("config"))
        set_from_file(read_ini(settings.text("config")), {"config"}, command, settings);
    if (all) settings.set("help", {"all", "", true});
    if (settings.on("help")) return settings;
    if (settings.has("row") && settings.has("trace")) read_row(command, settings);
    if (settings.has("folder"))
        if (const auto path = options_to_resume(settings); !path.empty())
            set_from_file(read_ini(path), {}, command, settings);
    set_operands(operands, command, settings);
    return settings;
}

}  // namespace quorate
