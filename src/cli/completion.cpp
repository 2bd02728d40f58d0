// SPDX-License-Identifier: BSD-2-Clause
#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/list.hpp"
#include "cli/parse.hpp"

namespace quorate {

namespace {

std::string joined(const std::vector<std::string>& words, const char* by = " ")
{
    return fmt::format("{}", fmt::join(words, by));
}

// Returns what there is of schemes, models, ...; nothing of files that do not come with this
// program.
ComponentKind there_is(const std::string& what)
{
    try {
        return listed(what);
    } catch (const Failure&) {
        return {};
    }
}

// Returns the names that an option chooses from, as --scheme and --cluster do; none if it does not.
std::vector<std::string> names_for(const std::string& option)
{
    for (const auto& what : what_is_listed())
        if (const auto kind = there_is(what);
            kind.option == (option == "slowdown" ? "delay" : option))
            return names(kind.all);
    return {};
}

// Returns the words that the value of an option may be, of "auto|NAME" auto and the names; none
// where it is a file or a number.
std::vector<std::string> values_of(const Option& option)
{
    std::vector<std::string> values;
    for (const auto& form : split(option.argument, '|')) {
        const bool word = !form.empty() && std::ranges::all_of(form, [](char c) {
            return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        });
        if (word) values.push_back(form);
        if (form != "NAME" && form != "MODEL") continue;
        for (auto& name : names_for(option.name)) values.push_back(std::move(name));
    }
    return values;
}

// Returns the case of a command: behind an option its values, or files where there are none; else
// options.
std::string case_of(const Command& command)
{
    std::string cases;
    std::vector<std::string> free, all;
    for (const auto& option : all_options(command)) {
        all.push_back("--" + option.name);
        const auto values = values_of(option);
        if (!values.empty())
            cases += fmt::format("      --{}) words=\"{}\" ;;\n", option.name, joined(values));
        else if (!option.argument.empty())
            free.push_back("--" + option.name);
    }
    if (!free.empty()) cases += fmt::format("      {}) return ;;\n", joined(free, " | "));
    return fmt::format("  {}) case \"$3\" in\n{}      *) words=\"{}\" ;;\n      esac ;;\n",
                       command.name, cases, joined(all));
}

// Returns what may stand behind `quorate list`.
std::string cases_of_list()
{
    std::string cases = fmt::format("  list:2) words=\"{}\" ;;\n  list:3) case \"$3\" in\n",
                                    joined(what_is_listed()));
    for (const auto& what : what_is_listed())
        cases +=
            fmt::format("      {}) words=\"{}\" ;;\n", what, joined(names(there_is(what).all)));
    return cases + "      esac ;;\n";
}

// The commands of `quorate analysis` and their options, which Python knows too: tests/cli compares.
constexpr std::pair<const char*, const char*> analyses[] = {
    {"report", "--any-data --base --out"},
    {"compare",
     "--any-data --base --axes --panel --out --name --target --quiet --by --mark --final"},
    {"sweep", "--any-data --base --over --what --target --best --out --name --markdown"},
    {"claims", "--again --markdown --overview --json"},
    {"tune", "--any-data --base --option --target --out --name"},
    {"workers", "--out --rounds --last --per-node"},
    {"diagnose", "--out --last --per-node"},
    {"rounds", "--any-data --base --out --against"},
    {"cost", "--any-data --base --out --per-node --price --target"},
    {"export", "--to --out"},
    {"watch", "--every --once --panel"},
};

// Returns what may stand behind `quorate analysis`: a command, and then its options, or files.
std::string cases_of_analysis()
{
    std::string cases, all;
    for (const auto& [name, options] : analyses) {
        all += fmt::format("{} ", name);
        cases += fmt::format("  analysis:{}) words=\"{} --help\" ;;\n", name, options);
    }
    return cases + fmt::format("  analysis:) words=\"{}--help\" ;;\n", all);
}

}  // namespace

std::string bash_completion()
{
    // Words are counted from quorate: `at` is its place, behind a launcher and its options.
    std::string text =
        R"(# bash completion for quorate, also behind a launcher: mpiexec -n 9 quorate ...
_quorate() {
  local at words
  COMPREPLY=()
  for ((at = 0; at < COMP_CWORD; at++)); do
    case "${COMP_WORDS[at]}" in quorate | */quorate) break ;; esac
  done
  local command="${COMP_WORDS[at + 1]}" place=$((COMP_CWORD - at))
  case "$place:$command:${2:0:1}" in
  0:*) return ;;
  1:*) command="" words=")";
    text += joined(names(commands())) + R"( --help --version" ;;
  2:list: | 2:list:[!-] | 3:list: | 3:list:[!-]) command="list:$place" ;;
  2:analysis:*) command="analysis:" ;;
  *:analysis:-) command="analysis:${COMP_WORDS[at + 2]}" ;;
  esac
  case "$command" in
)";
    text += cases_of_list() + cases_of_analysis();
    for (const auto& command : commands())
        if (!command.run_words) text += case_of(command);
    text += R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}
complete -o default -F _quorate quorate
# Unless they have a completion of their own.
for launcher in mpiexec mpiexec.mpich mpiexec.hydra mpiexec.openmpi mpirun mpirun.mpich \
  mpirun.openmpi srun; do
  complete -p "$launcher" > /dev/null 2>&1 || complete -o default -F _quorate "$launcher"
done
unset launcher
)";
    return text;
}

}  // namespace quorate
