// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/values.hpp"
#include "jobs/share.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

// What [prepare] says beside the command and its options.
constexpr const char* wants_optimum = "optimum";

void refuse_without_data(const IniValue& value, const std::string& data_folder)
{
    if (data_folder.empty() && value.text.find("{data}") != std::string::npos)
        throw BadInput(value.origin + value.name +
                       " is in the folder of raw data: give --data-folder, or set QUORATE_DATA");
}

// Combines each of these with each value of one more option. It replaces the value that they have
// of it.
std::vector<Choice> times(const std::vector<Choice>& some, const IniValue& value,
                          const std::vector<std::string>& values)
{
    std::vector<Choice> all;
    for (const auto& options : some)
        for (const auto& text : values) {
            auto more = options;
            const auto at = std::ranges::find(more, value.name, &Choice::value_type::first);
            if (at == more.end())
                more.emplace_back(value.name, text);
            else
                at->second = text;
            all.push_back(std::move(more));
        }
    return all;
}

constexpr const char* tune = "tune";

// Whether a value replaces what the runs have: those in which an option has some value, or all that
// tune.
bool is_special(const IniValue& value)
{
    return value.section == tune || value.section.find(' ') != std::string::npos;
}

// Whether a section is for a run: [scheme agc] is for the runs whose option scheme is agc.
bool belongs(const IniValue& value, const Choice& options)
{
    if (value.section == tune) return true;
    const auto blank = value.section.find(' ');
    const std::pair option(value.section.substr(0, blank),
                           trimmed(value.section.substr(blank + 1)));
    return std::ranges::find(options, option) != options.end();
}

std::string trace_name(const Choice& options, const std::set<std::string>& varying,
                       std::size_t number, std::size_t of)
{
    constexpr std::size_t longest = 60;
    std::string name;
    for (const auto& [option, value] : options)
        if (varying.contains(option)) {
            const bool says_all = !to_real(value);
            name += "-" + (says_all ? "" : option) + value;
        }
    if (!name.empty()) name = plain_name(name).substr(0, longest);
    return fmt::format("{:0{}}{}.h5", number, std::to_string(of).size(), name);
}

// Returns the words of the command of quorate-analysis that makes the figure.
std::vector<std::string> figure_words(const IniValue& value)
{
    auto words = split(value.text, ' ');
    std::erase(words, "");
    if (words.empty() || (words[0] != "compare" && words[0] != "sweep"))
        throw BadInput(fmt::format("{}figure is {}: write compare or sweep, and options of that",
                                   value.origin, value.text));
    return words;
}

// The runs that an experiment expands to, one option after the other.
class Expansion {
public:
    Expansion(const Experiment& experiment, const std::string& data_folder, std::int64_t most)
        : experiment_(experiment), data_folder_(data_folder), most_(most)
    {
    }

    Manifest made(RunKind kind)
    {
        for (const auto& value : experiment_.options)
            if (value.section.empty() || value.section == word_of(kind)) runs_ = add(value, runs_);
        for (auto value : experiment_.options) {
            if (!is_special(value)) continue;
            value.section = filled_in(std::move(value.section), experiment_, data_folder_);
            // As values are: [delay trace:{data}/times.csv]
            if (!replace(value))
                throw BadInput(fmt::format("{}section [{}] is of no run: no run has that value",
                                           value.origin, value.section));
        }
        // Both commands use what was tuned, though the runs of one may have fewer schemes.
        for (const auto& value : experiment_.tuned) replace(value);
        if (std::ssize(runs_) > most_) refuse();
        if (runs_[0].empty())
            throw BadInput(experiment_.path +
                           " expands to no runs: give it options, like scheme = uncoded");
        Manifest manifest;
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            const auto trace = trace_name(runs_[i], varying_, i + 1, runs_.size());
            manifest.add({static_cast<std::int64_t>(i) + 1, trace, std::move(runs_[i]),
                          fmt::format("{}: run {}: ", experiment_.path, i + 1)});
        }
        return manifest;
    }

private:
    [[noreturn]] void refuse() const
    {
        throw BadInput(
            fmt::format("{} expands to more than {} runs: shorten its lists, or raise --max-runs",
                        experiment_.path, most_));
    }

    // Returns these runs with each of an option's values.
    std::vector<Choice> add(const IniValue& value, const std::vector<Choice>& to)
    {
        auto values = values_of(value);
        refuse_without_data(value, data_folder_);
        if (values.empty())
            throw BadInput(fmt::format(
                "{}{} is empty, a list of nothing: give it a value, or leave the line out",
                value.origin, value.name));
        if (std::ssize(to) * std::ssize(values) > most_) refuse();
        if (values.size() > 1) varying_.insert(value.name);
        for (auto& text : values) text = filled_in(std::move(text), experiment_, data_folder_);
        return times(to, value, values);
    }

    // Gives the runs to which a section belongs an option of it. @return whether there are any
    bool replace(const IniValue& value)
    {
        std::vector<Choice> next;
        std::set<Choice> seen;  // a list may take the place of another: its runs are made once
        bool used = false;
        for (auto& options : runs_) {
            if (!belongs(value, options)) {
                next.push_back(std::move(options));
                continue;
            }
            used = true;
            for (auto& one : add(value, {options}))
                if (seen.insert(one).second) next.push_back(std::move(one));
            if (std::ssize(next) > most_) refuse();
        }
        runs_ = std::move(next);
        return used;
    }

    const Experiment& experiment_;
    const std::string& data_folder_;
    std::int64_t most_;
    std::vector<Choice> runs_ = {{}};
    std::set<std::string> varying_;  // options that have lists of values
};

}  // namespace

std::vector<std::string> values_of(const IniValue& value)
{
    std::vector<std::string> all;
    std::string rest = value.text;
    while (!rest.empty()) {
        const auto comma = rest.find(", ");
        const auto piece = trimmed(rest.substr(0, comma));
        if (piece.empty())
            throw BadInput(fmt::format(
                "{}{} is {}, a list with nothing between two commas: write a value there",
                value.origin, value.name, value.text));
        rest = comma == std::string::npos ? "" : rest.substr(comma + 2);
        if (auto range = values_of_range(piece, fmt::format("{}{} is ", value.origin, value.name)))
            std::ranges::move(*range, std::back_inserter(all));
        else
            all.push_back(piece);
    }
    return all;
}

std::string filled_in(std::string text, const Experiment& experiment, const std::string& data)
{
    boost::replace_all(text, "{data}", data);
    boost::replace_all(text, "{here}", fs::absolute(experiment.path).parent_path().string());
    return text;
}

std::string word_of(RunKind kind) { return kind == RunKind::run ? "run" : "simulate"; }

Experiment read_experiment(const std::string& path)
{
    Experiment experiment;
    experiment.path = path;
    experiment.name = plain_name(fs::path(path).stem().string());
    for (auto& value : read_ini(path)) {
        const bool top = value.section.empty();
        const bool known =
            top || value.section == "run" || value.section == "simulate" || is_special(value);
        if (top && value.name == "summary") {
            experiment.summary = value.text;
        } else if (top && value.name == "figure") {
            experiment.figure = figure_words(value);
        } else if (top && value.name == "commands") {
            const auto words = values_of(value);
            const auto has = [&](const char* word) {
                return std::ranges::find(words, word) != words.end();
            };
            experiment.runs = has("run");
            experiment.simulates = has("simulate");
            if (words.empty() || std::ssize(words) != experiment.runs + experiment.simulates)
                throw BadInput(fmt::format("{}commands is {}: write run, simulate or both",
                                           value.origin, value.text));
        } else if (value.section == "prepare") {
            experiment.prepare.push_back(std::move(value));
        } else if (value.section == "claim" || value.section.starts_with("claim ")) {
            experiment.claims.push_back(std::move(value));
        } else if (value.section == tune) {
            experiment.tune.push_back(std::move(value));
        } else if (known) {
            experiment.options.push_back(std::move(value));
        } else {
            throw BadInput(fmt::format(
                "{}there is no section [{}]: write [run], [simulate], [tune], [prepare], "
                "[claim NAME] or an option and its value, like [scheme agc]",
                value.origin, value.section));
        }
    }
    const auto tuned = fs::path(path).replace_extension(".tuned");
    if (fs::exists(tuned)) experiment.tuned = read_ini(tuned.string());
    return experiment;
}

Experiment tuning_of(Experiment experiment)
{
    if (experiment.tune.empty())
        throw BadInput(experiment.path +
                       " has no section [tune]: write one with target, seed and a list of step");
    const auto is = [](const std::string& name) {
        return [name](const IniValue& value) { return value.name == name; };
    };
    auto& grid = experiment.tune;
    const auto target = std::ranges::find_if(grid, is("target"));
    const auto seeds = std::ranges::find_if(grid, is("seed"));
    const auto is_grid = [](const IniValue& value) {
        return value.name != "target" && value.name != "seed" && values_of(value).size() > 1;
    };
    if (target == grid.end() || seeds == grid.end() || std::ranges::count_if(grid, is_grid) != 1)
        throw BadInput(experiment.path +
                       ": section [tune] needs target, as test-loss=0.2, seed, and one option "
                       "with a list of values, as step = 0.1, 0.3, 1; others have one value");
    const auto own = values_of(*seeds);
    std::vector<std::string> others;
    for (const auto& value : experiment.options)
        if (value.name == "seed") std::ranges::copy(values_of(value), std::back_inserter(others));
    if (others.empty()) others = {"0"};
    for (const auto& seed : own)
        if (std::ranges::find(others, seed) != others.end())
            throw BadInput(
                fmt::format("{}seed {} is one of the experiment's too: tune on others, "
                            "as 1001..1003",
                            seeds->origin, seed));
    const auto option = std::ranges::find_if(grid, is_grid);
    experiment.figure = {tune, "--option", option->name, "--target", target->text};
    grid.erase(target);
    std::ranges::move(grid, std::back_inserter(experiment.options));
    grid.clear();
    // A value with which a run diverges is one that was tried, and no reason to end.
    if (std::ranges::none_of(experiment.options, is("on-divergence")))
        experiment.options.push_back({"", "on-divergence", "ignore", experiment.path + ": "});
    experiment.tuned.clear();
    experiment.claims.clear();
    return experiment;
}

void replace_seeds(Experiment& experiment, const std::string& seeds)
{
    bool found = false;
    for (auto& value : experiment.options) {
        if (value.name != "seed") continue;
        value.text = seeds;
        value.origin = "--seeds: ";
        found = true;
    }
    if (!found)
        throw BadInput(fmt::format(
            "--seeds is {}, but the runs of {} have no seeds: leave it out, or write seed = 1 "
            "there",
            seeds, experiment.path));
}

std::vector<Experiment> experiments()
{
    std::vector<Experiment> all;
    for (const auto& path : shared_files("jobs", ".ini")) all.push_back(read_experiment(path));
    return all;
}

Manifest expand(const Experiment& experiment, RunKind kind, const std::string& data_folder,
                std::int64_t most)
{
    if (!(kind == RunKind::run ? experiment.runs : experiment.simulates))
        throw BadInput(fmt::format("{} is not made for quorate {}: use --command {}",
                                   experiment.path, word_of(kind),
                                   kind == RunKind::run ? "simulate" : "run"));
    return Expansion(experiment, data_folder, most).made(kind);
}

std::vector<std::string> prepare_words(const Experiment& experiment, const std::string& data_folder,
                                       const std::string& output)
{
    if (experiment.prepare.empty()) return {};
    std::vector<std::string> words = {""};
    for (const auto& value : experiment.prepare) {
        if (value.name == wants_optimum) continue;
        refuse_without_data(value, data_folder);
        const auto text = filled_in(value.text, experiment, data_folder);
        if (value.name == "command") {
            if (text != "import" && text != "generate")
                throw BadInput(
                    fmt::format("{}command is {}: write import or generate", value.origin, text));
            words[0] = text;
        } else if (text == "on") {
            words.push_back("--" + value.name);
        } else if (text != "off") {
            words.push_back("--" + value.name);
            words.push_back(text);
        }
    }
    if (words[0].empty())
        throw BadInput(experiment.path +
                       ": section [prepare] says no command: write command = import or generate");
    words.insert(words.end(), {"--output", output});
    return words;
}

std::vector<std::string> optimum_words(const Experiment& experiment, const std::string& data)
{
    const auto wanted = std::ranges::find(experiment.prepare, wants_optimum, &IniValue::name);
    if (wanted == experiment.prepare.end() || wanted->text == "off") return {};
    if (wanted->text != "on")
        throw BadInput(fmt::format("{}{} is {}: write on or off", wanted->origin, wants_optimum,
                                   wanted->text));
    std::vector<std::string> words = {"optimum", "--data", data};
    for (const auto& value : experiment.options) {
        if (value.name != "model" && value.name != "l2" && value.name != "l1") continue;
        if (!value.section.empty() || values_of(value).size() > 1)
            throw BadInput(
                fmt::format("{}{} differs from run to run, so that they have several optima: "
                            "leave out {} of [prepare], or write one value above the sections",
                            value.origin, value.name, wants_optimum));
        words.insert(words.end(), {"--" + value.name, value.text});
    }
    return words;
}

}  // namespace quorate
