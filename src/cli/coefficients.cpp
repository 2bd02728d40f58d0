// SPDX-License-Identifier: BSD-2-Clause
#include "cli/coefficients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/named_columns.hpp"
#include "cli/table.hpp"
#include "commands/options.hpp"
#include "run/initialiser.hpp"
#include "run/recorded.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

// What the scores of a row are of.
struct Scores {
    std::vector<std::string> names;  // of each score; empty: there is one
    std::string meaning;             // of one
};

Scores scores_of(const Recorded& run)
{
    const auto outputs = static_cast<std::size_t>(run.model->outputs());
    const auto classes = run.data.class_names();
    if (outputs > 1 && classes.size() == outputs) return {classes, ""};
    if (outputs > 1) {
        Scores numbered;
        for (std::size_t i = 0; i < outputs; ++i) numbered.names.push_back(std::to_string(i));
        return numbered;
    }
    return {{}, classes.size() == 2 ? "class " + classes[1] : "label"};
}

// The names of the columns; where the data set has none, their numbers.
std::vector<std::string> column_names_of(const DataSet& data)
{
    auto names = data.features();
    if (!names.empty()) return names;
    for (std::int64_t i = 0; i < data.columns(); ++i) names.push_back(fmt::format("column {}", i));
    return names;
}

bool is_scaled(const DataSet& data)
{
    const auto [factor, shift] = data.scaling();
    return std::ranges::any_of(factor, [](double one) { return one != 1; }) ||
           std::ranges::any_of(shift, [](double one) { return one != 0; });
}

std::string shown_number(const Json& value)
{
    return value.is_null() ? "not finite" : fmt::format("{:.6g}", value.get<double>());
}

}  // namespace

Json coefficients(const std::string& trace, const std::string& data, std::size_t most)
{
    const auto run = read_recorded(trace, options_of_runs(), data);
    const auto name = run.trace.text("model");
    if (!run.model->linear())
        throw BadInput(
            fmt::format("{} holds a model {}, which is not linear: it has no coefficient of a "
                        "column; quorate predict scores rows with it",
                        trace, name));
    const auto model = final_model(trace, run.width());
    const auto scores = scores_of(run);
    const auto columns = column_names_of(run.data);
    const auto outputs = static_cast<std::size_t>(run.model->outputs());
    Json found = {{"model", name},
                  {"data", run.data.path()},
                  {"score_of", scores.names.empty() ? Json(scores.meaning) : Json(scores.names)},
                  {"columns_named", !run.data.features().empty()},
                  {"scaled", is_scaled(run.data)},
                  {"parameters", model.size()}};
    const auto as_json = [&](std::size_t at) {
        Json one = {{"column", columns[at / outputs]}};
        if (outputs > 1) one["class"] = scores.names[at % outputs];
        one["value"] = json_number<Json>(model[at]);
        return one;
    };
    std::vector<std::size_t> order(model.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (const auto ones = intercept_of(run.data)) {
        const auto first = order.begin() + *ones * run.model->outputs();
        const auto end = first + run.model->outputs();
        found["intercept"] = Json::array();
        std::for_each(first, end, [&](auto at) { found["intercept"].push_back(as_json(at)); });
        order.erase(first, end);
    }
    // What is not finite comes first: it is what is wrong.
    const auto size = [&](std::size_t at) {
        return std::isnan(model[at]) ? std::numeric_limits<double>::infinity()
                                     : std::abs(model[at]);
    };
    std::ranges::stable_sort(order, std::greater{}, size);
    found["coefficients"] = Json::array();
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
        found["coefficients"].push_back(as_json(order[i]));
    found["left_out"] = order.size() - found["coefficients"].size();
    return found;
}

std::string coefficient_lines(const Json& found)
{
    const auto& score = found["score_of"];
    auto text = fmt::format(
        "coefficients of {}, the largest first{}\n", found["model"].get<std::string>(),
        score.is_string() ? fmt::format("; a larger score is for {}", score.get<std::string>())
                          : "; of each class");
    if (found["scaled"].get<bool>())
        text += fmt::format("of columns as the data set scales them: quorate inspect {}\n",
                            found["data"].get<std::string>());
    if (!found["columns_named"].get<bool>())
        text += fmt::format("{} has no names of columns: they are counted from 0\n",
                            found["data"].get<std::string>());
    std::vector<Cells> rows;
    for (const auto* part : {"intercept", "coefficients"})
        for (const auto& one : found.value(part, Json::array())) {
            auto name = "  " + one["column"].get<std::string>();
            if (one.contains("class"))
                name += fmt::format("  [{}]", one["class"].get<std::string>());
            rows.push_back({name, shown_number(one["value"])});
        }
    text += table(rows, "lr");
    if (const auto left = found["left_out"].get<std::size_t>(); left > 0)
        text += fmt::format("  ... and {} smaller ones: --coefficients all lists them\n", left);
    return text;
}

}  // namespace quorate
