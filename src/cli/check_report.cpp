// SPDX-License-Identifier: BSD-2-Clause
#include "cli/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/json.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

std::string what_was_compared(const CheckedRound& one)
{
    if (!one.why.empty()) return one.why;
    return one.update ? "norm and update" : "norm";
}

}  // namespace

std::vector<Option> check_options()
{
    return {{"check", "DATA", "",
             "of a trace of --trace-weights: compute estimates of the run again, from the weights, "
             "the models and the rows of DATA, the run's data set, and compare"},
            {"check-rounds", "N|all", "10",
             "rounds that --check computes again, evenly spread over the run"}};
}

EstimateCheck check_as_asked(const Settings& settings, const trace::Trace& trace,
                             const std::string& path)
{
    auto most = std::numeric_limits<std::int64_t>::max();
    if (const auto& text = settings.text("check-rounds"); text != "all") {
        const auto number = to_integer(text);
        if (!number || *number < 1)
            settings.refuse("check-rounds", ": give how many, from 1 on, or all");
        most = *number;
    }
    return check_estimates(trace, path, settings.text("check"), most);
}

Json as_json(const EstimateCheck& check)
{
    Json json{{"rounds_checked", check.rounds.size()},
              {"rounds_possible", check.possible},
              {"agree", disagreements(check).empty()}};
    json["rounds"] = Json::array();
    for (const auto& one : check.rounds) {
        Json row{{"round", one.round},
                 {"terms", one.terms},
                 {"difference", json_number<Json>(one.difference)},
                 {"bound", json_number<Json>(one.bound)},
                 {"update", one.update}};
        if (!one.why.empty()) row["why"] = one.why;
        json["rounds"].push_back(std::move(row));
    }
    return json;
}

std::string lines_of(const EstimateCheck& check, const std::string& path)
{
    auto lines = fmt::format("{:>10} {:>10} {:>11} {:>9}  compared\n", "round", "terms",
                             "difference", "at most");
    for (const auto& one : check.rounds)
        lines += fmt::format("{:>10} {:>10} {:>11} {:>9.2g}  {}\n", one.round, one.terms,
                             one.why.empty() ? fmt::format("{:.2g}", one.difference) : "-",
                             one.bound, what_was_compared(one));
    const auto agree = std::ranges::count_if(check.rounds, &CheckedRound::agrees);
    return lines + fmt::format(
                       "{}: {} of {} estimates computed again agree; {} of {} rounds can "
                       "be checked\n",
                       path, agree, check.rounds.size(), check.possible, check.all);
}

std::vector<std::string> disagreements(const EstimateCheck& check)
{
    std::vector<std::string> lines;
    for (const auto& one : check.rounds)
        if (!one.why.empty())
            lines.push_back(fmt::format("round {}: {}", one.round, one.why));
        else if (!one.agrees())
            lines.push_back(
                fmt::format("round {}: its estimate differs by {:.2g} from what its "
                            "weights make of the contributions, {:.2g} is rounding",
                            one.round, one.difference, one.bound));
    return lines;
}

}  // namespace quorate
