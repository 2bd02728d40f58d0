// SPDX-License-Identifier: BSD-2-Clause
// quorate help: the list of commands, the manual page and shell completion. All are made from the
// option tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "driver/components.hpp"

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

std::string manual_page()
{
    std::string page =
        fmt::format(".TH QUORATE 1 \"\" \"quorate {}\" \"User commands\"\n", version);
    page +=
        ".SH NAME\nquorate \\- distributed first-order optimisation that does not wait for "
        "stragglers\n";
    page += ".SH SYNOPSIS\n.B quorate\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
    for (const auto& command : commands()) {
        page += fmt::format(".SS {} {}\n{}\n", roff(command.name), roff(command.operand),
                            roff(command.text));
        for (const auto& option : all_options(command))
            page += fmt::format(".TP\n\\fB\\-\\-{}\\fR {}\n{}{}\n", roff(option.name),
                                roff(option.argument), roff(option.text),
                                option.fallback.empty() ? "" : roff(" [" + option.fallback + "]"));
    }
    for (const auto& kind : run_components()) {
        page += fmt::format(".SH {}\n", roff(kind.plural));
        for (const auto& component : kind.all)
            page +=
                fmt::format(".TP\n\\fB{}\\fR\n{}{}\n", roff(component.form), roff(component.text),
                            component.source.empty() ? "" : roff(" [" + component.source + "]"));
    }
    page +=
        ".SH EXIT STATUS\n0 done; 1 failed; 2 bad input, nothing written; 75 stopped in time, run "
        "me again.\n";
    return page;
}

std::string completion()
{
    const auto words = fmt::format("{}", fmt::join(names(commands()), " "));
    std::string cases, values;
    for (const auto& command : commands())
        cases += fmt::format("    {}) words=\"--{}\" ;;\n", command.name,
                             fmt::join(names(all_options(command)), " --"));
    for (const auto& kind : run_components())
        values += fmt::format(
            "    --{}) mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$2\"); return ;;\n",
            kind.option, fmt::join(names(kind.all), " "));
    return fmt::format(
        "# bash completion for quorate\n_quorate() {{\n  local words=\"{}\"\n  case \"$3\" in\n{}  "
        "esac\n"
        "  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n  [ \"$COMP_CWORD\" -eq 1 ] && words=\"{}\"\n"
        "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$2\")\n}}\n"
        "complete -o default -F _quorate quorate\n",
        words, values, cases, words);
}

int help(const Settings& settings)
{
    if (settings.on("man")) {
        fmt::print("{}", manual_page());
    } else if (settings.on("completion")) {
        settings.one_of("completion", {"bash"});
        fmt::print("{}", completion());
    } else {
        fmt::print(
            "quorate {}: distributed first-order optimisation that does not wait for "
            "stragglers\n\n",
            version);
        for (const auto& command : commands())
            fmt::print("  quorate {:<10} {}\n", command.name, command.text);
        fmt::print(
            "\nquorate COMMAND --help tells its options; quorate --version tells the version\n");
    }
    return exit_done;
}

}  // namespace

Command help_command()
{
    return {"help",
            "the commands; or the manual page, or shell completion",
            "",
            {{"man", "", "", "print the manual page (roff)"},
             {"completion", "bash", "", "print the completion script of a shell"}},
            help};
}

}  // namespace quorate
