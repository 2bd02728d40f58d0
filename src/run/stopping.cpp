// SPDX-License-Identifier: BSD-2-Clause
#include "run/stopping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/wire.hpp"

namespace quorate {

namespace {

using Of = StopRule::Of;

const std::pair<const char*, Of> words[] = {{"gap", Of::gap},
                                            {"gradient", Of::gradient},
                                            {"loss", Of::loss},
                                            {"train-loss", Of::train_loss},
                                            {"test-loss", Of::test_loss},
                                            {"accuracy", Of::accuracy}};

StopRule rule_of(const Settings& settings, const std::string& text)
{
    const auto equals = text.find('=');
    const auto word = trimmed(text.substr(0, equals));
    const auto at = std::ranges::find(words, word, [](const auto& one) { return one.first; });
    std::vector<std::string> known;
    for (const auto& one : words) known.emplace_back(one.first);
    if (at == std::end(words)) settings.refuse("stop-at", suggestion(word, known));
    const auto value =
        equals == std::string::npos ? std::nullopt : to_real(trimmed(text.substr(equals + 1)));
    if (!value || *value < 0 || (at->second == Of::accuracy && *value > 1))
        settings.refuse("stop-at", fmt::format(": write {}=X, a number of at least 0{}", word,
                                               at->second == Of::accuracy ? " and at most 1" : ""));
    return {at->second, *value};
}

bool measures_gradient(const StopRule& rule)
{
    return rule.of == Of::gap || rule.of == Of::gradient;
}

}  // namespace

std::vector<Option> stopping_options()
{
    return {
        {"stop-at", "NAME=X,...", "",
         "end the run as soon as one of these is reached: gap (how far the objective can be above "
         "its "
         "optimum at most, as a share of the optimum), gradient (norm of the objective's), loss "
         "(of training, as the round's answers have it), or, of "
         "models that are scored as the run goes on, train-loss, test-loss or accuracy; none: only "
         "--rounds. "
         "Default: gap=0.01 for smooth linear models "
         "with exact estimates, if --rounds is not given"},
        {"stop-for", "N", "1",
         "times in a row that a rule of --stop-at is to hold: loss in so many rounds, what is "
         "scored in so many scored models"},
        {"patience", "N", "0",
         "end the run when the last N models that were scored had no lower test loss; 0: never"},
        {"on-divergence", "stop|warn|ignore", "stop",
         "when the training loss has been 1.5 times the first one for thirty rounds: end the run, "
         "which has failed; or say so and go on; or just go on"}};
}

bool StopRules::scored() const
{
    return patience > 0 || std::ranges::any_of(rules, &StopRule::scored);
}

bool StopRules::may_be_met(double loss_estimate) const
{
    if (in_a_row > 1) return scored();
    return patience > 0 || std::ranges::any_of(rules, [&](const StopRule& rule) {
               return rule.scored() && (rule.of != Of::train_loss || loss_estimate <= rule.value);
           });
}

StopRules stop_rules(const Settings& settings, const Regularizer& regularizer, bool exact)
{
    StopRules all{{}, settings.integer("stop-for", 1), settings.integer("patience", 0)};
    const auto& text = settings.text("stop-at");
    if (all.in_a_row > 1 && (text.empty() || text == "none"))
        settings.refuse("stop-for", ", but there is no rule to hold: give --stop-at, as loss=0.5");
    if (text.empty() || text == "none") return all;
    for (const auto& one : split(text, ',')) all.rules.push_back(rule_of(settings, one));
    for (const auto& rule : all.rules) {
        if (rule.of == Of::gap && regularizer.l2 == 0)
            settings.refuse("stop-at",
                            ", but without --l2 nothing bounds the gap: use gradient=X or loss=X");
        if (rule.of == Of::gap && !exact)
            settings.refuse("stop-at",
                            ", but the gap follows from exact estimates of all rows only, and "
                            "these are not: use gradient=X or loss=X");
        if (rule.of == Of::gap && wire_of(settings) == Wire::bfloat16)
            settings.refuse("stop-at",
                            ", but --wire bfloat16 rounds the gradient that the gap follows from "
                            "to 3 digits: use gradient=X or loss=X, or --wire float");
        if (measures_gradient(rule) && all.in_a_row > 1)
            settings.refuse("stop-for",
                            ", but gap and gradient are no estimates, so once is enough: leave it "
                            "out, or use --stop-at loss=X");
        if (measures_gradient(rule) && settings.real("clip", 0) > 0)
            settings.refuse("stop-at",
                            ", but --clip changes the gradient that it looks at: use loss=X");
    }
    return all;
}

void check_reachable(const Settings& settings, const StopRules& rules, const Scores& scores)
{
    if (rules.scored() && scores.models == 0)
        settings.refuse(rules.patience > 0 ? "patience" : "stop-at",
                        ", but with these options no model is scored as the run goes on: give "
                        "--evaluate-every 1, or --stop-at loss=X");
    const auto needs_test_rows = [&](const char* option) {
        if (!scores.test_rows)
            settings.refuse(option, fmt::format(", but {} has no test rows: import it with "
                                                "--test-fraction or --test-input, or use "
                                                "--stop-at train-loss=X",
                                                settings.text("data")));
    };
    for (const auto& rule : rules.rules) {
        if (rule.of == Of::accuracy && !scores.classes)
            settings.refuse("stop-at",
                            ", but the labels are numbers, so no model has an accuracy: use "
                            "test-loss=X");
        if (rule.of == Of::accuracy || rule.of == Of::test_loss) needs_test_rows("stop-at");
    }
    if (rules.patience == 0) return;
    needs_test_rows("patience");
    // The first model has nothing to be compared with.
    if (rules.patience >= scores.models)
        settings.refuse(
            "patience",
            fmt::format(
                ", but {} models are scored, and it compares more: use {}more "
                "--rounds",
                scores.models,
                scores.models > 1 ? fmt::format("at most {}, or ", scores.models - 1) : ""));
}

bool Stopping::done(const Update& update)
{
    if (!why_.empty()) return true;
    if (update.exhausted) why_ = "an objective that rounding lets no step lower";
    if (update.step_size == 0) return !why_.empty();  // the model is none that was looked at
    look_at_loss(update.loss);
    if (update.round % rules_.every == 0 && std::ranges::any_of(rules_.rules, measures_gradient))
        look_at_gradient(update);
    return !why_.empty();
}

void Stopping::repeat(const trace::Round& row)
{
    if (row.step_size != 0) look_at_loss(row.loss_estimate);
}

void Stopping::look(const std::function<Found(const StopRule&)>& found_of)
{
    for (std::size_t i = 0; i < held_.size(); ++i) {
        const auto found = found_of(rules_.rules[i]);
        if (!found) continue;
        const auto& [holds, what] = *found;
        held_[i] = holds ? held_[i] + 1 : 0;
        if (held_[i] >= rules_.in_a_row)
            why_ = what + (rules_.in_a_row > 1 ? fmt::format(", {} times in a row", held_[i]) : "");
    }
}

void Stopping::look_at_loss(double loss)
{
    look([&](const StopRule& rule) -> Found {
        if (rule.of != Of::loss) return {};
        return {{loss <= rule.value, fmt::format("training loss about {:.4g}", loss)}};
    });
}

// If the objective F is mu-strongly convex, F(y) - min F <= |G|^2 / (2 mu), G being the gradient at
// y or, with an L1 term, the least subgradient. That one does not vanish while y nears zeros of the
// optimum, as the points of most rules do. So of these G = (y - w) / step, w being where a proximal
// step takes y, and with step <= 1/L F(w) - min F <= |G|^2 / (2 mu) - step |G|^2 / 2, F(w) <= F(y)
// - step |G|^2 / 2 (Nesterov 2013, "Gradient methods for minimizing composite functions").
void Stopping::look_at_gradient(const Update& update)
{
    const ConstNumbers at = *update.at;
    const auto step = update.step_size;
    std::vector<double> squares(blocks_of(at.size()));
    at.visit([&]<class T>(std::span<const T> y) {
        const auto estimate = update.estimate.of<T>();
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double g = estimate[i] + 2 * regularizer_.l2 * y[i];
            const double element = regularizer_.l1 == 0 || rules_.sparse
                                       ? regularizer_.least_subgradient(y[i], g)
                                       : (y[i] - regularizer_.shrunk(y[i] - step * g, step)) / step;
            squares[i / sum_block] += element * element;
        }
    });
    double square = 0;
    sums_(squares, {&square, 1});
    const double norm = std::sqrt(square);
    const double gap = square / (4 * regularizer_.l2);
    // What the optimum can be at least.
    const double least = update.loss + regularizer_.value(at, sums_) - gap;
    for (const auto& rule : rules_.rules) {
        if (rule.of == Of::gradient && norm <= rule.value)
            why_ = fmt::format("gradient {:.4g}", norm);
        if (rule.of == Of::gap && gap <= rule.value * least)
            why_ = fmt::format("gap at most {:.4g}", gap / least);
    }
}

void Stopping::scored(const trace::Evaluation& row)
{
    const auto found = [&](bool holds, const char* name, double value) -> Found {
        return {{holds, fmt::format("{} {:.4g} in round {}", name, value, row.round)}};
    };
    look([&](const StopRule& rule) -> Found {
        if (rule.of == Of::train_loss)
            return found(row.train_loss <= rule.value, "training loss", row.train_loss);
        if (rule.of == Of::test_loss)
            return found(row.test_loss <= rule.value, "test loss", row.test_loss);
        if (rule.of == Of::accuracy)
            return found(row.accuracy >= rule.value, "accuracy", row.accuracy);
        return {};
    });
    worse_ = best_ && row.test_loss >= *best_ ? worse_ + 1 : 0;
    if (worse_ == 0) best_ = row.test_loss;
    if (rules_.patience > 0 && worse_ >= rules_.patience)
        why_ = fmt::format("no lower test loss than {:.4g} in {} scored models", *best_, worse_);
}

bool Divergence::look(double loss)
{
    constexpr int patience = 30;
    constexpr double factor = 1.5;
    if (first_ == 0) first_ = loss;  // rounds without any answer have no loss
    const bool finite = std::isfinite(loss);
    grown_ = finite && loss <= factor * first_ ? 0 : grown_ + 1;
    return (!finite || grown_ >= patience) && !std::exchange(told_, true);
}

}  // namespace quorate
