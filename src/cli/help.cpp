// SPDX-License-Identifier: BSD-2-Clause
// quorate help: the list of commands, and the manual page. Both are made from the option tables.
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/option_groups.hpp"
#include "cli/parse.hpp"
#include "cli/usage.hpp"

namespace quorate {

namespace {

// Escapes text for roff, to which a backslash is a command, and so is a dot or quote that begins a
// line; a plain hyphen would be a dash.
std::string roff(const std::string& text)
{
    std::string safe = text.empty() || (text[0] != '.' && text[0] != '\'') ? "" : "\\&";
    for (const char letter : text)
        safe += letter == '\\' ? "\\e" : letter == '-' ? "\\-" : std::string(1, letter);
    return safe;
}

// Returns a tagged paragraph.
std::string paragraph(const std::string& head, const std::string& argument, const std::string& text)
{
    return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(head), roff(argument), roff(text));
}

std::string option_paragraphs(const std::vector<Option>& options)
{
    std::string text;
    for (const auto& option : options)
        text += paragraph("--" + option.name, " " + option.argument,
                          with_brackets(option.text, option.fallback));
    return text;
}

// Returns a command with its options in groups. Those of components stand with these.
std::string command_section(const Command& command)
{
    auto text = fmt::format(".SS {} {}\n{}\n", roff(command.name), roff(command.operand),
                            roff(command.text));
    for (const auto& group : option_groups(command)) {
        if (group.of_components || group.title == common_options) continue;
        if (group.title != "options") text += fmt::format(".PP\n\\fI{}\\fR\n", roff(group.title));
        text += option_paragraphs(group.options);
    }
    return text;
}

std::string components_section(const ComponentKind& kind)
{
    auto text = fmt::format(".SH {}\n", roff(kind.plural));
    for (const auto& component : kind.all) {
        text += paragraph(component.form, "", with_brackets(component.text, component.source));
        if (!component.options.empty())
            text += fmt::format(".RS\n{}.RE\n", option_paragraphs(component.options));
    }
    return text;
}

constexpr const char* description =
    "distributed first-order optimisation that does not wait for stragglers";

std::string manual_page()
{
    std::string page =
        fmt::format(".TH QUORATE 1 \"\" \"quorate {}\" \"User commands\"\n", version);
    page += fmt::format(".SH NAME\nquorate \\- {}\n", description);
    page += ".SH SYNOPSIS\n.B quorate\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
    for (const auto& command : commands()) page += command_section(command);
    page += ".SH OPTIONS OF EVERY COMMAND\n";
    page += option_paragraphs(option_groups(help_command()).back().options);
    page += fmt::format(".SH TIMES\n{}\n", roff(times_are_written(all_options(run_command()))));
    page += ".SH EXAMPLES\n";
    for (const auto& command : commands())
        for (const auto& example : command.examples)
            page += fmt::format(".PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(example));
    for (const auto& kind : run_components()) page += components_section(kind);
    page +=
        ".SH EXIT STATUS\n0 done; 1 failed; 2 bad input, nothing written; 75 stopped in time, run "
        "me again.\n";
    return page;
}

int help(const Settings& settings)
{
    if (settings.on("man")) {
        fmt::print("{}", manual_page());
    } else {
        const auto is = fmt::format("quorate {}: {}", version, description);
        fmt::print("{}\n\n", wrapped(is, help_width, 0));
        for (const auto& command : commands())
            fmt::print("  quorate {:<9} {}\n", command.name,
                       wrapped(command.text, help_width - 20, 20));
        fmt::print(
            "\nquorate COMMAND --help tells its options; quorate --version tells the version\n");
    }
    return exit_done;
}

}  // namespace

Command help_command()
{
    return {"help",
            "the commands; or the manual page",
            "",
            {{"man", "", "", "print the manual page (roff)"}},
            help};
}

}  // namespace quorate
