// SPDX-License-Identifier: BSD-2-Clause
#include "run/defaults.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/wire.hpp"
#include "data/curvature.hpp"
#include "optimizer/optimizer.hpp"

namespace quorate {

namespace {

bool is_smooth(const Model& model)
{
    return model.linear() && std::isfinite(model.loss().curvature());
}

// Returns the step size of automatic_step() for a linear model. Infinite if nothing is curved.
double step_by_curvature(const DataSet& data, const Model& model, const Regularizer& regularizer,
                         const EstimateKind& estimates)
{
    const auto of_rows = curvature_of(data);
    const double stale = std::min(1.0, estimates.stable_step / 2);
    // For a loss with a kink: of steps from 1 to 16 over the eigenvalue, with the schedules
    // inverse-sqrt:1 and inverse-sqrt:10, large ones that fall late ended lowest on three data
    // sets.
    if (!is_smooth(model)) return 10 * stale / of_rows.eigenvalue;
    const auto curvature = [&](double of_x) {
        return model.loss().curvature() * of_x + 2 * regularizer.l2;
    };
    const double all = curvature(of_rows.eigenvalue);
    if (estimates.exact) return stale / all;
    const auto n = static_cast<double>(data.rows(Split::train));
    const auto b = static_cast<double>(estimates.samples);
    const double spread = n > 1 ? (n - b) / (b * (n - 1)) : 0;
    return stale / (2 * (all + (curvature(of_rows.row_square) - all) * spread));
}

// Refuses rows of zeros, and numbers whose squares do not fit.
[[noreturn]] void refuse_data_without_step(const Settings& settings, const DataSet& data)
{
    const auto largest = largest_number(data);
    if (largest.size == 0)
        settings.refuse("step",
                        fmt::format(", but no step follows from rows that are zero: the training "
                                    "rows of {} teach nothing; give other data, or --step",
                                    settings.text("data")));
    const auto names = data.features();
    const auto column = static_cast<std::size_t>(largest.column);
    settings.refuse(
        "step",
        fmt::format(", but no step follows from numbers so {}: {} has {:g} in column {}; "
                    "import it with --scale standardise or unit-rows, or give --step",
                    largest.size > 1 ? "large" : "small", settings.text("data"), largest.size,
                    names.empty() ? std::to_string(column + 1) : names.at(column)));
}

}  // namespace

EstimateKind kind_of(const Needs& needs, std::int64_t rows, std::int64_t batch)
{
    const auto workers = std::max<std::int64_t>(1, std::ssize(needs.shard));
    return {.exact = needs.exact && batch == 0 && needs.models == 1,
            .samples = batch > 0 ? batch : std::max<std::int64_t>(1, rows / workers),
            .stable_step = needs.stable_step};
}

Settings with_defaults(Settings settings, const EstimateKind& estimates, const Model* model,
                       const Regularizer& regularizer)
{
    const auto choose = [&](const char* name, const std::string& value) {
        if (settings.has(name) && !settings.on(name)) settings.set(name, {value, "", false});
    };
    const bool linear = model && model->linear();
    const bool exact = linear && estimates.exact, smooth = linear && is_smooth(*model);
    const bool rough = settings.has("wire") && wire_of(settings) == Wire::bfloat16;
    const bool certified =
        exact && smooth && regularizer.l2 > 0 && settings.real("clip", 0) == 0 && !rough;
    choose("optimizer", exact && smooth ? "agd" : "gd");
    choose("schedule", linear && !smooth ? "inverse-sqrt:10" : "constant");
    choose("stop-at", certified && !settings.on("rounds") ? "gap=0.01" : "none");
    choose("rounds", std::to_string(certified ? most_rounds : exact ? 1000 : 100));
    return settings;
}

void check_search(const Settings& settings, const EstimateKind& estimates, const Model* model)
{
    if (!chosen(optimizers(), settings, "optimizer").properties.searches) return;
    const auto by = fmt::format(", but --optimizer {} ", settings.text("optimizer"));
    if (settings.integer("batch", 0) > 0)
        settings.refuse("batch",
                        by + "compares losses of all rows: leave it out, or use --optimizer gd");
    if (!estimates.exact)
        settings.refuse(
            "optimizer",
            ", which compares exact losses of all rows, but this scheme's estimates are not exact: "
            "use "
            "--scheme frc, cyclic or uncoded and wait for all it needs, or --optimizer gd");
    if (model && model->linear() && !is_smooth(*model))
        settings.refuse("model", by + "needs a loss without a kink: use squared-hinge or logistic");
    if (settings.real("clip", 0) > 0)
        settings.refuse("clip", by + "needs gradients as they are: leave it out");
    if (settings.has("wire") && wire_of(settings) != Wire::binary64)
        settings.refuse("wire", by + "compares losses to more digits than that: use --wire double");
    if (settings.text("schedule") != "constant")
        settings.refuse("schedule", by + "finds its own steps: leave it out");
    if (settings.text("warmup") != "0")
        settings.refuse("warmup", by + "finds its own steps: leave it out");
}

Span span_of(const Settings& settings, std::int64_t rounds, std::int64_t rows)
{
    const auto batch = settings.integer("batch", 0);
    return {rounds, batch > 0 ? static_cast<double>(rows) / static_cast<double>(batch) : 1};
}

double curvature_of(const DataSet& data, const Model& model, const Regularizer& regularizer)
{
    if (!is_smooth(model)) return std::numeric_limits<double>::quiet_NaN();
    return model.loss().curvature() * curvature_of(data).eigenvalue + 2 * regularizer.l2;
}

double automatic_step(const Settings& settings, const DataSet& data, const Model& model,
                      const Regularizer& regularizer, const EstimateKind& estimates)
{
    const auto& rule = chosen(optimizers(), settings, "optimizer").properties;
    if (!model.linear() || !rule.by_curvature) return rule.step;
    const auto step = step_by_curvature(data, model, regularizer, estimates);
    if (!std::isfinite(step) || step == 0) refuse_data_without_step(settings, data);
    return step;
}

double careful_step(const Settings& settings, const DataSet& data, const Model& model,
                    const Regularizer& regularizer, const EstimateKind& estimates)
{
    const auto step = settings.real("step", 0);
    if (!model.linear()) return step / 2;
    auto better = step_by_curvature(data, model, regularizer, estimates);
    // The curvature of a mean of rows is at most that of the longest of them.
    if (better >= step && is_smooth(model))
        better =
            1 / (model.loss().curvature() * curvature_of(data).row_square + 2 * regularizer.l2);
    return better > 0 ? std::min(step / 2, better) : step / 2;
}

double step_of(const Settings& settings, const DataSet& data, const Model& model,
               const Regularizer& regularizer, const EstimateKind& estimates)
{
    return settings.text("step") == "auto"
               ? automatic_step(settings, data, model, regularizer, estimates)
               : settings.real("step", 0);
}

}  // namespace quorate
