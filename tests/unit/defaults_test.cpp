// SPDX-License-Identifier: BSD-2-Clause
// What a run does where its user leaves it open, and when it is done.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "data/curvature.hpp"
#include "data/data_set_writer.hpp"
#include "optimizer/optimizer.hpp"
#include "run/defaults.hpp"
#include "run/stopping.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;

constexpr int rows = 40;

/// Rows (a, 0) and (0, b) in turn, so that X'X / rows has the eigenvalues a^2 / 2 and b^2 / 2.
void write(const std::string& path, double a, double b, bool dense)
{
    DataSetWriter writer(path, "d", {.columns = 2, .dense = dense}, false, false);
    for (const auto split : {Split::train, Split::test}) {
        writer.begin(split);
        for (std::int64_t i = 0; i < rows; ++i) {
            const double label = i % 4 < 2 ? 1 : -1;
            if (dense) {
                const std::vector<double> row = {i % 2 == 0 ? a : 0, i % 2 == 0 ? 0 : b};
                writer.add(row, label);
            } else {
                const std::vector<std::pair<std::int64_t, double>> row = {
                    {i % 2, i % 2 == 0 ? a : b}};
                writer.add(row, label);
            }
        }
    }
    writer.finish({}, {});
}

Settings run_with(const std::vector<std::string>& words)
{
    return parse(command_named("run"), words);
}

std::unique_ptr<Model> model_of(const Settings& settings, const DataSet& data)
{
    return chosen(models(), settings, "model").make(settings, data.shape());
}

TEST(Curvature, IsStoredWithTheDataSet)
{
    const Folder folder;
    for (const bool dense : {false, true}) {
        write(folder.file("d.h5"), 3, 1, dense);
        const DataSet data(folder.file("d.h5"));
        EXPECT_TRUE(data.attributes().contains("eigenvalue"));
        const auto stored = curvature_of(data), measured = measured_curvature(data);
        EXPECT_NEAR(stored.eigenvalue, 4.5, 1e-4);
        EXPECT_EQ(stored.row_square, 9);
        EXPECT_EQ(stored.eigenvalue, measured.eigenvalue);
        EXPECT_EQ(stored.row_square, measured.row_square);
    }
}

TEST(Curvature, OfRowsThatAreZeroIsZero)
{
    const Folder folder;
    write(folder.file("d.h5"), 0, 0, true);
    EXPECT_EQ(curvature_of(DataSet(folder.file("d.h5"))).eigenvalue, 0);
}

/// Dense rows of two columns.
void write_rows(const std::string& path, std::int64_t count,
                const std::function<std::vector<double>(std::int64_t)>& row)
{
    DataSetWriter writer(path, "d", {.columns = 2, .dense = true}, false, false);
    writer.begin(Split::train);
    for (std::int64_t i = 0; i < count; ++i) writer.add(row(i), i % 2 == 0 ? 1 : -1);
    writer.begin(Split::test);
    writer.finish({"a", "b"}, {});
}

TEST(Curvature, IsThatOfAllRowsWhetherMemoryHoldsThemOrNot)
{
    constexpr std::int64_t count = 20'000, at = 11'111;
    const Folder folder;
    const auto found = [&](const std::function<std::vector<double>(std::int64_t)>& row) {
        write_rows(folder.file("d.h5"), count, row);
        const DataSet data(folder.file("d.h5"));
        const auto read_again = measured_curvature(data, 0);
        EXPECT_EQ(curvature_of(data).row_square, read_again.row_square);
        EXPECT_EQ(curvature_of(data).eigenvalue, read_again.eigenvalue);
        return read_again.eigenvalue;
    };
    // X'X / rows is nearly (1/2, 1/2; 1/2, 1), and one row adds 45,000 to its corner.
    const auto of_one = found([](std::int64_t i) {
        return std::vector{i % 2 == 0 ? 1.0 : 0.0, i == at ? 3e4 : 1.0};
    });
    EXPECT_NEAR(of_one, 45'001, 1);
    // Most rows have one direction, and those that a sample of some runs and of the longest rows
    // sees have two.
    const auto of_many = found([](std::int64_t i) {
        if (i % 312 >= 100) return std::vector{0.99, 0.0};
        return std::vector{i % 2 == 0 ? 1.0 : 0.0, i % 2 == 0 ? 0.0 : 1.0};
    });
    EXPECT_NEAR(of_many, (212 * 0.99 * 0.99 + 50) / 312, 1e-3);
}

TEST(Curvature, SquaresOfNumbersMayNotFit)
{
    const Folder folder;
    for (const double size : {1e150, 1e-150}) {
        write(folder.file("d.h5"), 3 * size, size, true);
        const auto found = curvature_of(DataSet(folder.file("d.h5")));
        EXPECT_NEAR(found.eigenvalue / size / size, 4.5, 1e-4);
        EXPECT_NEAR(found.row_square / size / size, 9, 1e-12);
    }
    write(folder.file("d.h5"), 1e200, 1, true);
    EXPECT_EQ(curvature_of(DataSet(folder.file("d.h5"))).eigenvalue,
              std::numeric_limits<double>::infinity());
}

TEST(Defaults, TrainLinearModelsToNearTheirOptimum)
{
    const Folder folder;
    write(folder.file("d.h5"), 3, 1, true);
    const DataSet data(folder.file("d.h5"));
    struct Case {
        std::vector<std::string> words;
        bool exact;
        double l2;
        const char *optimizer, *schedule, *stop, *rounds;
    };
    const std::vector<Case> cases = {
        {{}, true, 1e-3, "agd", "constant", "gap=0.01", "5000"},
        {{}, true, 0, "agd", "constant", "none", "1000"},
        {{}, false, 1e-3, "gd", "constant", "none", "100"},
        {{"--clip", "1"}, true, 1e-3, "agd", "constant", "none", "1000"},
        {{"--rounds", "7"}, true, 1e-3, "agd", "constant", "none", "7"},
        {{"--optimizer", "gd", "--stop-at", "loss=1"},
         true,
         1e-3,
         "gd",
         "constant",
         "loss=1",
         "5000"},
        {{"--model", "hinge"}, true, 1e-3, "gd", "inverse-sqrt:10", "none", "1000"},
        {{"--model", "mlp"}, true, 1e-3, "gd", "constant", "none", "100"},
    };
    for (const auto& one : cases) {
        const auto given = run_with(one.words);
        const auto model = model_of(given, data);
        const auto all =
            with_defaults(given, {.exact = one.exact, .samples = 10}, model.get(), {.l2 = one.l2});
        const auto words = fmt::format("{} {} {}", fmt::join(one.words, " "), one.exact, one.l2);
        EXPECT_EQ(all.text("optimizer"), one.optimizer) << words;
        EXPECT_EQ(all.text("schedule"), one.schedule) << words;
        EXPECT_EQ(all.text("stop-at"), one.stop) << words;
        EXPECT_EQ(all.text("rounds"), one.rounds) << words;
    }
    EXPECT_EQ(with_defaults(run_with({}), {.exact = true}, nullptr, {}).text("rounds"), "100");
}

TEST(Defaults, TheStepFollowsFromTheCurvature)
{
    const Folder folder;
    write(folder.file("d.h5"), 3, 1, true);
    const DataSet data(folder.file("d.h5"));
    const auto step = [&](const std::vector<std::string>& words, const EstimateKind& estimates) {
        const auto given = run_with(words);
        const auto model = model_of(given, data);
        const auto all = with_defaults(given, estimates, model.get(), {.l2 = 0.1});
        return automatic_step(all, data, *model, {.l2 = 0.1}, estimates);
    };
    const double of_logistic = 0.25 * 4.5 + 0.2, of_longest = 0.25 * 9 + 0.2;
    EXPECT_NEAR(step({}, {.exact = true}), 1 / of_logistic, 1e-4);
    EXPECT_NEAR(step({"--model", "ridge"}, {.exact = true}), 1 / (2 * 4.5 + 0.2), 1e-4);
    // One sample is as rough as its row, all of them are as smooth as their sum.
    EXPECT_NEAR(step({}, {.samples = 1}), 1 / (2 * of_longest), 1e-4);
    EXPECT_NEAR(step({}, {.samples = rows}), 1 / (2 * of_logistic), 1e-4);
    EXPECT_NEAR(step({}, {.exact = true, .stable_step = 0.5}), 0.25 / of_logistic, 1e-4);
    EXPECT_NEAR(step({"--model", "hinge"}, {.exact = true}), 10 / 4.5, 1e-3);
    EXPECT_EQ(step({"--model", "mlp", "--optimizer", "adam"}, {.exact = true}), 0.001);
    EXPECT_EQ(step({"--optimizer", "adam"}, {.exact = true}), 0.001);
    EXPECT_TRUE(
        std::isnan(curvature_of(data, *model_of(run_with({"--model", "hinge"}), data), {})));
}

TEST(Defaults, NoStepFollowsFromRowsThatAreZero)
{
    const Folder folder;
    write(folder.file("d.h5"), 0, 0, true);
    const DataSet data(folder.file("d.h5"));
    const auto step = [&](const std::string& name, double l2, const EstimateKind& estimates) {
        const auto given = run_with({"--data", "d.h5", "--model", name});
        const auto model = model_of(given, data);
        const auto all = with_defaults(given, estimates, model.get(), {.l2 = l2});
        return automatic_step(all, data, *model, {.l2 = l2}, estimates);
    };
    const std::string message =
        "--step is auto, but no step follows from rows that are zero: the training rows of d.h5 "
        "teach nothing; give other data, or --step";
    for (const auto* name : {"logistic", "hinge", "ridge"})
        for (const bool exact : {false, true})
            EXPECT_EQ(refusal([&] { step(name, 0, {.exact = exact, .samples = 1}); }), message);
    // An objective with an L2 term is curved even so, unless its loss has a kink.
    EXPECT_EQ(step("logistic", 0.1, {.exact = true}), 5);
    EXPECT_EQ(refusal([&] { step("hinge", 0.1, {.exact = true}); }), message);
}

TEST(Defaults, NumbersThatAreTooLargeOrSmallForAStepAreNamedWithTheirColumn)
{
    const Folder folder;
    const auto said = [&](double size) {
        write_rows(folder.file("d.h5"), 9, [&](std::int64_t) { return std::vector{1e-200, size}; });
        const DataSet data(folder.file("d.h5"));
        const auto given = run_with({"--data", "d.h5"});
        const auto model = model_of(given, data);
        const auto all = with_defaults(given, {.exact = true}, model.get(), {});
        return refusal([&] { automatic_step(all, data, *model, {}, {.exact = true}); });
    };
    EXPECT_EQ(said(1e200),
              "--step is auto, but no step follows from numbers so large: d.h5 has 1e+200 in "
              "column b; import it with --scale standardise or unit-rows, or give --step");
    EXPECT_EQ(said(0),
              "--step is auto, but no step follows from numbers so small: d.h5 has 1e-200 in "
              "column a; import it with --scale standardise or unit-rows, or give --step");
}

TEST(Defaults, TheRemedyOfAStepThatDivergedFollowsFromTheCurvature)
{
    const Folder folder;
    write(folder.file("d.h5"), 3, 1, true);
    const DataSet data(folder.file("d.h5"));
    const auto step = [&](const std::vector<std::string>& words) {
        const auto given = run_with(words);
        const auto model = model_of(given, data);
        const EstimateKind estimates{.exact = true};
        const auto all = with_defaults(given, estimates, model.get(), {});
        return careful_step(all, data, *model, {}, estimates);
    };
    EXPECT_NEAR(step({"--step", "100"}), 1 / (0.25 * 4.5), 1e-4);
    EXPECT_NEAR(step({"--step", "0.8"}), 0.4, 1e-9) << "less than 1/L_max";
    EXPECT_NEAR(step({"--step", "0.1"}), 0.05, 1e-9);
    EXPECT_NEAR(step({"--model", "mlp", "--step", "0.1"}), 0.05, 1e-9);
}

/// Looks at an update of the objective |w|^2 / 2 + l2 |w|^2 + l1 |w|_1 at w, whose step is 1/4.
bool done_at(Stopping& stopping, std::int64_t round, double w)
{
    const std::vector<double> gradient = {w};
    const auto at = std::make_shared<NumberVector>(std::vector{w});
    return stopping.done({round, w * w / 2, 0.25, gradient, at});
}

StopRules rules(const std::string& text, const Regularizer& regularizer = {.l2 = 0.5},
                bool exact = true)
{
    return stop_rules(run_with({"--stop-at", text}), regularizer, exact);
}

TEST(Stopping, LooksAtTheGradientInEveryTenthRound)
{
    Stopping stopping(rules("gradient=0.2"), {.l2 = 0.5});
    EXPECT_FALSE(done_at(stopping, 9, 0.05));
    EXPECT_FALSE(done_at(stopping, 10, 0.11));  // its gradient is 2 w
    EXPECT_TRUE(done_at(stopping, 20, 0.1));
    EXPECT_EQ(stopping.why(), "gradient 0.2");
    EXPECT_TRUE(done_at(stopping, 21, 9)) << "it stays done";
}

TEST(Stopping, TheGradientKnowsTheKinkOfL1)
{
    const Regularizer regularizer{.l2 = 0.5, .l1 = 1};
    Stopping stopping(rules("gradient=1e-9", regularizer), regularizer);
    EXPECT_FALSE(done_at(stopping, 10, 1));
    EXPECT_TRUE(done_at(stopping, 20, 0)) << "0 is the optimum";
}

TEST(Stopping, TheGapIsNeverBelowTheTrueOne)
{
    // The optimum of (w^2 / 2 + c) + w^2 / 2 is c; its curvature 2 is more than the 1 of the L2
    // term.
    constexpr double c = 3;
    for (const double share : {0.5, 0.1, 0.01}) {
        Stopping stopping(rules(fmt::format("gap={}", share)), {.l2 = 0.5});
        double w = 10;
        for (std::int64_t round = 10;; round += 10, w *= 0.9) {
            const std::vector<double> gradient = {w};
            const auto at = std::make_shared<NumberVector>(std::vector{w});
            if (stopping.done({round, w * w / 2 + c, 0.25, gradient, at})) break;
        }
        EXPECT_LE(w * w, share * c);
        EXPECT_GT(w * w, share * c / 10);
    }
}

trace::Evaluation scores(std::int64_t round, double test_loss, double accuracy)
{
    trace::Evaluation row{};
    row.round = round;
    row.test_loss = test_loss;
    row.accuracy = accuracy;
    return row;
}

TEST(Stopping, LooksAtLossesAndScores)
{
    Stopping stopping(rules("loss=0.5,accuracy=0.9"), {.l2 = 0.5});
    EXPECT_FALSE(done_at(stopping, 1, 1.1));
    EXPECT_TRUE(done_at(stopping, 2, 1));
    EXPECT_EQ(stopping.why(), "training loss about 0.5");
    Stopping other(rules("accuracy=0.9,test-loss=0.1"), {.l2 = 0.5});
    other.scored(scores(3, 0.2, 0.89));
    EXPECT_EQ(other.why(), "");
    other.scored(scores(4, 0.2, 0.9));
    EXPECT_EQ(other.why(), "accuracy 0.9 in round 4");
    EXPECT_TRUE(rules("accuracy=0.9").scored());
    EXPECT_FALSE(rules("loss=0.9,gap=1").scored());
}

TEST(Stopping, PatienceEndsWithTheLossThatFallsNoMore)
{
    Stopping stopping({.patience = 3}, {});
    for (const double loss : {5.0, 4.0, 4.1, 4.2, 3.9, 3.9, 4.0}) {
        stopping.scored(scores(1, loss, 0));
        EXPECT_EQ(stopping.why(), "");
    }
    stopping.scored(scores(1, 3.95, 0));
    EXPECT_EQ(stopping.why(), "no lower test loss than 3.9 in 3 scored models");
}

TEST(Stopping, RefusesRulesThatNoModelCanMeet)
{
    const std::string nothing = "(nothing was refused)";
    const auto wrong = [](std::vector<std::string> words, const Scores& scores) {
        words.insert(words.end(), {"--data", "d.h5"});
        const auto settings = run_with(words);
        return refusal([&] { check_reachable(settings, stop_rules(settings, {}, true), scores); });
    };
    const Scores all{.models = 10, .test_rows = true, .classes = true};
    const Scores unseen{.models = 0, .test_rows = true, .classes = true};
    const Scores untested{.models = 10, .test_rows = false, .classes = true};
    const Scores numbers{.models = 10, .test_rows = true, .classes = false};
    for (const std::string rule : {"train-loss=1", "test-loss=1", "accuracy=0.5"}) {
        EXPECT_EQ(wrong({"--stop-at", rule}, all), nothing);
        EXPECT_NE(wrong({"--stop-at", rule}, unseen).find("no model is scored as the run goes on"),
                  std::string::npos);
    }
    for (const std::string rule : {"test-loss=1", "accuracy=0.5", "loss=1,accuracy=0.5"})
        EXPECT_EQ(wrong({"--stop-at", rule}, untested),
                  "--stop-at is " + rule +
                      ", but d.h5 has no test rows: import it with --test-fraction or "
                      "--test-input, or use --stop-at train-loss=X");
    EXPECT_EQ(wrong({"--stop-at", "accuracy=0.5"}, numbers),
              "--stop-at is accuracy=0.5, but the labels are numbers, so no model has an accuracy: "
              "use test-loss=X");
    EXPECT_EQ(wrong({"--patience", "9"}, all), nothing);
    EXPECT_EQ(wrong({"--patience", "9"}, numbers), nothing);
    EXPECT_EQ(wrong({"--patience", "10"}, all),
              "--patience is 10, but 10 models are scored, and it compares more: use at most 9, or "
              "more --rounds");
    EXPECT_NE(wrong({"--patience", "3"}, untested).find("has no test rows"), std::string::npos);
    EXPECT_NE(wrong({"--patience", "3"}, unseen).find("no model is scored"), std::string::npos);
    EXPECT_EQ(wrong({"--stop-at", "loss=1"}, {}), nothing);
}

TEST(Stopping, RefusesWhatCannotBeMeasured)
{
    EXPECT_EQ(refusal([] { rules("los=1"); }), "--stop-at is los=1; did you mean loss?");
    EXPECT_EQ(refusal([] { rules("loss"); }),
              "--stop-at is loss: write loss=X, a number of at least 0");
    EXPECT_EQ(refusal([] { rules("loss=-1"); }),
              "--stop-at is loss=-1: write loss=X, a number of at least 0");
    EXPECT_EQ(refusal([] { rules("accuracy=1.1"); }),
              "--stop-at is accuracy=1.1: write accuracy=X, a number of at least 0 and at most 1");
    EXPECT_EQ(
        refusal([] { rules("gap=0.1", {}); }),
        "--stop-at is gap=0.1, but without --l2 nothing bounds the gap: use gradient=X or loss=X");
    EXPECT_NE(refusal([] { rules("gap=0.1", {.l2 = 1}, false); }), "");
    EXPECT_NE(refusal([] {
                  stop_rules(run_with({"--stop-at", "gradient=1", "--clip", "3"}), {}, true);
              }),
              "");
    EXPECT_TRUE(rules("none").rules.empty());
}

TEST(Divergence, IsALossThatStaysAboveTheFirst)
{
    Divergence grows;
    EXPECT_FALSE(grows.look(0));  // no answer came
    EXPECT_FALSE(grows.look(1));
    for (int i = 0; i < 29; ++i) EXPECT_FALSE(grows.look(2));
    EXPECT_FALSE(grows.look(1.4));
    for (int i = 0; i < 29; ++i) EXPECT_FALSE(grows.look(2));
    EXPECT_TRUE(grows.look(2));
    EXPECT_FALSE(grows.look(2)) << "it is said once";
    Divergence infinite;
    EXPECT_FALSE(infinite.look(1));
    EXPECT_TRUE(infinite.look(std::nan("")));
}

StopRules rules_for(const std::string& text, const std::string& times)
{
    return stop_rules(run_with({"--stop-at", text, "--stop-for", times}), {.l2 = 0.5}, true);
}

TEST(Stopping, ARuleMayHaveToHoldSeveralTimesInARow)
{
    Stopping stopping(rules_for("loss=0.5", "3"), {.l2 = 0.5});
    for (const double w : {1.0, 1.0, 1.1, 1.0, 1.0}) EXPECT_FALSE(done_at(stopping, 1, w));
    EXPECT_TRUE(done_at(stopping, 6, 1));
    EXPECT_EQ(stopping.why(), "training loss about 0.5, 3 times in a row");
    // A run that goes on remembers the rounds that it has made.
    Stopping resumed(rules_for("loss=0.5", "3"), {.l2 = 0.5});
    trace::Round row{};
    row.step_size = 0.25;
    row.loss_estimate = 0.5;
    for (int i = 0; i < 2; ++i) resumed.repeat(row);
    EXPECT_TRUE(done_at(resumed, 3, 1));

    Stopping other(rules_for("accuracy=0.9", "2"), {.l2 = 0.5});
    for (const double accuracy : {0.9, 0.8, 0.9}) other.scored(scores(1, 0.2, accuracy));
    EXPECT_EQ(other.why(), "");
    other.scored(scores(4, 0.2, 0.95));
    EXPECT_EQ(other.why(), "accuracy 0.95 in round 4, 2 times in a row");
    // Every model counts, also one whose estimate is too high.
    EXPECT_TRUE(rules_for("train-loss=0.1", "2").may_be_met(7));
    EXPECT_FALSE(rules("train-loss=0.1").may_be_met(7));
    EXPECT_THROW(rules_for("gap=0.1", "2"), BadInput);
    EXPECT_THROW(rules_for("none", "2"), BadInput);
    EXPECT_THROW(rules_for("loss=1", "0"), BadInput);
}

}  // namespace
}  // namespace quorate
