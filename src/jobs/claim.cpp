// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/claim.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> line_names = {
    "paper",  "says",  "source", "there", "here",         "measure",       "of",
    "beside", "where", "pairs",  "best",  "best-of-pair", "not-comparable"};
const std::vector<std::string> measures = {"time",    "round-time", "decode-error",
                                           "time-to", "rounds-to",  "final",
                                           "work",    "received",   "goodput"};

// A section [claim NAME].
struct Claim {
    std::string name, origin;  // origin: of its first line
    std::map<std::string, IniValue> lines = {};

    std::string text(const std::string& line) const
    {
        const auto found = lines.find(line);
        return found == lines.end() ? "" : found->second.text;
    }
};

std::vector<Claim> claims_of(const Experiment& experiment)
{
    std::vector<Claim> all;
    for (const auto& value : experiment.claims) {
        const auto blank = value.section.find(' ');
        const auto name = blank == std::string::npos ? "" : trimmed(value.section.substr(blank));
        if (name.empty())
            throw BadInput(value.origin + "section [claim] has no name: write [claim NAME]");
        if (std::ranges::find(line_names, value.name) == line_names.end())
            throw BadInput(fmt::format("{}a claim has no line {}{}", value.origin, value.name,
                                       suggestion(value.name, line_names)));
        if (value.text.empty())
            throw BadInput(fmt::format("{}{} is empty: give it a value, or leave the line out",
                                       value.origin, value.name));
        auto at = std::ranges::find(all, name, &Claim::name);
        if (at == all.end()) at = all.insert(at, {name, value.origin});
        at->lines.emplace(value.name, value);
    }
    return all;
}

void refuse_incomplete(const Claim& claim)
{
    for (const auto* needed : {"measure", "of", "beside"})
        if (!claim.lines.contains(needed))
            throw BadInput(fmt::format(
                "{}claim {} does not say {}: write measure = METRIC, of = OPTION=VALUE and "
                "beside = OPTION=VALUE",
                claim.origin, claim.name, needed));
    if (claim.lines.contains("paper") && !claim.lines.contains("source"))
        throw BadInput(
            fmt::format("{}claim {} has a paper's number and no source: write source = WORK, PLACE",
                        claim.lines.at("paper").origin, claim.name));
    if (claim.lines.contains("best") && claim.lines.contains("best-of-pair"))
        throw BadInput(fmt::format("{}claim {} has best and best-of-pair: leave one out",
                                   claim.lines.at("best-of-pair").origin, claim.name));
    const auto& measure = claim.lines.at("measure");
    const auto word = measure.text.substr(0, measure.text.find(' '));
    if (std::ranges::find(measures, word) == measures.end())
        throw BadInput(fmt::format("{}measure is {}: write {}", measure.origin, measure.text,
                                   alternatives(measures)));
}

// The least and the greatest ratio that a paper's number stands for: "1.5", "2..5", "2.." (at
// least), or "30 % less".
Json paper_numbers(const Claim& claim)
{
    const auto found = claim.lines.find("paper");
    if (found == claim.lines.end()) return nullptr;
    const auto& text = found->second.text;
    const auto from_one = [](const std::string& word) {
        const auto number = to_real(trimmed(word));
        return number && *number >= 1 ? number : std::nullopt;
    };
    if (const auto percent = text.find("% less");
        percent != std::string::npos && percent + 6 == text.size()) {
        if (const auto less = to_real(trimmed(text.substr(0, percent)));
            less && *less > 0 && *less < 100) {
            const double ratio = 100 / (100 - *less);
            return {ratio, ratio};
        }
    } else if (const auto dots = text.find(".."); dots != std::string::npos) {
        const auto low = from_one(text.substr(0, dots)), high = from_one(text.substr(dots + 2));
        if (low && dots + 2 == text.size()) return {*low, nullptr};
        if (low && high && *low <= *high) return {*low, *high};
    } else if (const auto ratio = from_one(text)) {
        return {*ratio, *ratio};
    }
    throw BadInput(fmt::format(
        "{}paper is {}: write how many times faster or smaller, as 1.5, 2..5 or 2.. (at least), "
        "or 30 % less; of a number below 1 exchange of and beside",
        found->second.origin, text));
}

// Reads "scheme=agc, collect=15". An option without a value stands for runs that do not have it.
Choice options_of(const IniValue& line, const Experiment& experiment,
                  const std::string& data_folder)
{
    Choice all;
    for (const auto& word : values_of(line)) {
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw BadInput(fmt::format(
                "{}{} is {}: write OPTION=VALUE, with a comma and a blank between several",
                line.origin, line.name, line.text));
        all.emplace_back(trimmed(word.substr(0, equals)),
                         filled_in(trimmed(word.substr(equals + 1)), experiment, data_folder));
    }
    return all;
}

// The values that a run has of the options of which the best one counts: "0.1, 27".
std::string candidate(const Claim& claim, const ManifestRow& row)
{
    std::vector<std::string> all;
    for (const auto* line : {"best", "best-of-pair"})
        if (const auto found = claim.lines.find(line); found != claim.lines.end())
            for (const auto& option : values_of(found->second)) all.push_back(row.value(option));
    return fmt::format("{}", fmt::join(all, ", "));
}

// One side of a claim: its runs, at most one for each value of the option `pairs` and each
// candidate.
struct Side {
    std::vector<Json> runs = {};
    std::set<std::string> pairs = {};
};

Side side_of(const Claim& claim, const char* name, const Experiment& experiment,
             const Manifest& manifest, const std::string& data_folder, const std::string& pairs)
{
    const auto& line = claim.lines.at(name);
    auto wanted = options_of(line, experiment, data_folder);
    if (const auto where = claim.lines.find("where"); where != claim.lines.end())
        for (auto& option : options_of(where->second, experiment, data_folder))
            wanted.push_back(std::move(option));
    const auto known = manifest.options();
    for (const auto& [option, value] : wanted)
        if (std::ranges::find(known, option) == known.end())
            throw BadInput(fmt::format("{}claim {} is about the option {}, which no run has{}",
                                       line.origin, claim.name, option, suggestion(option, known)));
    Side side;
    std::map<std::pair<std::string, std::string>, std::int64_t> seen;
    for (const auto& row : manifest.rows()) {
        const auto has = [&](const auto& option) {
            return row.value(option.first) == option.second;
        };
        if (!std::ranges::all_of(wanted, has)) continue;
        const auto pair = row.value(pairs), best = candidate(claim, row);
        const auto [at, fresh] = seen.emplace(std::pair(pair, best), row.number);
        if (!fresh)
            throw BadInput(fmt::format(
                "{}{} = {} of claim {} has the runs {} and {}, both of {} {}: narrow it down by "
                "more options",
                line.origin, name, line.text, claim.name, at->second, row.number, pairs, pair));
        side.pairs.insert(pair);
        side.runs.push_back(
            {{"pair", pair}, {"best", best}, {"run", row.number}, {"trace", row.trace}});
    }
    return side;
}

bool share_a_pair(const Side& one, const Side& other)
{
    return std::ranges::any_of(one.pairs,
                               [&](const auto& pair) { return other.pairs.contains(pair); });
}

}  // namespace

std::string claims_text(const Experiment& experiment, const Manifest& manifest, RunKind kind,
                        const std::string& data_folder)
{
    // A claim is settled under the virtual clock, where that makes sense; over MPI options may have
    // other values.
    const bool settles = kind == RunKind::simulate || !experiment.simulates;
    Json all = Json::array();
    for (const auto& claim : claims_of(experiment)) {
        refuse_incomplete(claim);
        const auto pairs = claim.lines.contains("pairs") ? claim.text("pairs") : "seed";
        const auto side = [&](const char* name) {
            return side_of(claim, name, experiment, manifest, data_folder, pairs);
        };
        const auto of = side("of"), beside = side("beside");
        if (!share_a_pair(of, beside)) {
            if (!settles) continue;
            const auto* empty = of.runs.empty() ? "of" : "beside";
            throw BadInput(
                fmt::format("{}claim {} has {}: see the manifest for the options of runs",
                            claim.lines.at(empty).origin, claim.name,
                            of.runs.empty() || beside.runs.empty()
                                ? fmt::format("no runs for {} = {}", empty, claim.text(empty))
                                : "no two runs with the same " + pairs));
        }
        const auto described = [&](const char* name, const Side& runs) {
            return Json{{"options", claim.text(name)}, {"runs", runs.runs}};
        };
        Json one = {
            {"name", claim.name}, {"origin", claim.origin}, {"paper", paper_numbers(claim)}};
        one["says"] = claim.text(claim.lines.contains("says") ? "says" : "paper");
        for (const auto* line : {"source", "there", "here", "measure", "where", "best"})
            one[line] = claim.text(line);
        one["best_of_pair"] = claim.text("best-of-pair");
        one["pairs"] = pairs;
        one["not_comparable"] = claim.text("not-comparable");
        one["of"] = described("of", of);
        one["beside"] = described("beside", beside);
        all.push_back(std::move(one));
    }
    if (all.empty()) return "";
    const Json whole = {
        {"experiment", experiment.name}, {"summary", experiment.summary}, {"claims", all}};
    return json_text(whole) + "\n";
}

}  // namespace quorate
