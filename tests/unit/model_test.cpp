// SPDX-License-Identifier: BSD-2-Clause
// The logistic model and the metrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "model/metrics.hpp"
#include "model/model.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;
using test::refusal;

/// A model of the registry for data of that shape, with its defaults but for the options given.
std::unique_ptr<Model> make(const std::string& name, const DataShape& shape,
                            const std::map<std::string, std::string>& given = {})
{
    const auto& one = test::entry(models(), name);
    auto all = test::settings(one.options, given);
    all.set("model", {name, "", true});
    return one.make(all, shape);
}

std::unique_ptr<Model> logistic() { return make("logistic", {}); }

/// Random sparse rows, and the same rows dense.
struct RandomRows {
    std::int64_t rows, columns;
    std::vector<Index> start = {0}, column;
    Reals value, dense, label;
    bool ones;

    RandomRows(std::int64_t m, std::int64_t p, bool all_ones = false)
        : rows(m), columns(p), ones(all_ones)
    {
        std::mt19937 random(static_cast<std::uint32_t>(m * 1000 + p));
        std::normal_distribution<double> normal;
        dense.resize(static_cast<std::size_t>(m * p));
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < p; ++j) {
                if (random() % 3 == 0) continue;
                const double x = ones ? 1 : normal(random);
                column.push_back(static_cast<Index>(j));
                value.push_back(x);
                dense[static_cast<std::size_t>(i * p + j)] = x;
            }
            start.push_back(static_cast<Index>(column.size()));
            label.push_back(random() % 2 ? 1 : -1);
        }
    }
    RowView sparse() const
    {
        return {.rows = rows,
                .columns = columns,
                .start = start.data(),
                .column = column.data(),
                .value = ones ? nullptr : value.data(),
                .label = label.data()};
    }
    RowView full() const
    {
        return {.rows = rows, .columns = columns, .dense = dense.data(), .label = label.data()};
    }
    Reals point(double scale = 1) const
    {
        std::mt19937 random(99);
        std::normal_distribution<double> normal(0, scale);
        Reals w(static_cast<std::size_t>(columns));
        for (auto& x : w) x = normal(random);
        return w;
    }
};

Reals gradient(const Model& model, const RowView& rows, const Reals& w, double coefficient = 1,
               double* loss = nullptr)
{
    Reals sum(w.size(), 0.0);
    const double total = model.add_gradient(rows, w, coefficient, sum);
    if (loss) *loss = total;
    return sum;
}

double loss_of(const Model& model, const Reals& scores, const Reals& labels)
{
    return model.loss().evaluate(scores.data(), labels.data(),
                                 static_cast<std::int64_t>(labels.size()), nullptr);
}

TEST(Logistic, LossAndGradientOfOneRowAreTheFormula)
{
    const auto model = logistic();
    const Index start[] = {0, 2}, column[] = {0, 1};
    const double value[] = {2, -1}, label[] = {-1};
    const RowView row{
        .rows = 1, .columns = 2, .start = start, .column = column, .value = value, .label = label};
    const Reals w = {0.3, 0.1};
    const double m = -(2 * 0.3 - 0.1);
    double loss = 0;
    const auto g = gradient(*model, row, w, 1, &loss);
    EXPECT_NEAR(loss, std::log(1 + std::exp(-m)), 1e-15);
    const double r = 1 / (1 + std::exp(m));  // -y sigma(-m) with y = -1
    EXPECT_NEAR(g[0], 2 * r, 1e-15);
    EXPECT_NEAR(g[1], -r, 1e-15);
}

TEST(Logistic, MarginsOfTenThousandStayFinite)
{
    const auto model = logistic();
    const Index start[] = {0, 1, 2, 3}, column[] = {0, 0, 0};
    const double value[] = {1, 1, 0}, label[] = {1, -1, 1};
    const RowView rows{
        .rows = 3, .columns = 1, .start = start, .column = column, .value = value, .label = label};
    double loss = 0;
    const auto g = gradient(*model, rows, {1e4}, 1, &loss);
    EXPECT_NEAR(loss, 1e4 + std::numbers::ln2, 1e-8);  // margins +1e4, -1e4, 0
    EXPECT_DOUBLE_EQ(g[0], 1);
    const Reals scores = {1e4, -1e4};
    EXPECT_NEAR(loss_of(*model, scores, {1, -1}), 0, 1e-300);  // Eigen's exp may stop at 1e-308
    EXPECT_EQ(loss_of(*model, scores, {-1, 1}), 2e4);
}

// Margins of both signs from the smallest to the largest, and dense where exp(-m) goes from 1 to 0.
Reals margins()
{
    Reals all = {0.0, -0.0};
    for (double m = 1e-300; m < 1e300; m *= 1.7) all.insert(all.end(), {m, -m});
    for (double m = 0.001; m < 800; m += 0.173) all.insert(all.end(), {m, -m});
    return all;
}

TEST(Logistic, LossAndDerivativeAreRightToFourUnitsInTheLastPlaceForEveryMargin)
{
    const auto loss = logistic_loss(0);
    for (const double m : margins()) {
        const long double e = std::exp(-std::abs(static_cast<long double>(m)));
        const auto exact =
            static_cast<double>(std::max(0.0L, -static_cast<long double>(m)) + std::log1p(e));
        const auto slope = static_cast<double>(-(m < 0 ? 1 : e) / (1 + e));
        constexpr double units = 4 * std::numeric_limits<double>::epsilon();
        for (const double label : {1.0, -1.0}) {
            const double score = label * m;
            double derivative = 0;
            // Eigen's exp does not go below 5.6e-309.
            EXPECT_NEAR(loss->evaluate(&score, &label, 1, &derivative), exact,
                        units * exact + 6e-309)
                << m;
            EXPECT_NEAR(derivative, label * slope, units * -slope + 6e-309) << m;
        }
    }
}

TEST(Logistic, ARowsLossHasTheSameBitsWhereverItStands)
{
    const auto loss = logistic_loss(0);
    for (const double m : {-3.7, 1e-9, 0.3, 12.25}) {
        const double label = -1, score = label * m;
        double derivative = 0;
        const double alone = loss->evaluate(&score, &label, 1, &derivative);
        for (const std::size_t rows : {2, 7, 256, 300})
            for (std::size_t at = 0; at < rows; ++at) {
                Reals scores(rows, 1e4), labels(rows, 1), slopes(rows);  // losses that add nothing
                scores[at] = score;
                labels[at] = label;
                ASSERT_EQ(
                    loss->evaluate(scores.data(), labels.data(), std::ssize(scores), slopes.data()),
                    alone);
                ASSERT_EQ(slopes[at], derivative);
            }
    }
}

TEST(Logistic, LossOfAScoreThatIsNotFiniteIsNotHidden)
{
    const auto loss = logistic_loss(0);
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();
    const Reals labels = {1, 1, 1};
    Reals slopes(3);
    EXPECT_TRUE(
        std::isnan(loss->evaluate(Reals{1, nan, 1}.data(), labels.data(), 3, slopes.data())));
    EXPECT_TRUE(std::isnan(slopes[1]));
    EXPECT_TRUE(std::isfinite(slopes[0]) && std::isfinite(slopes[2]));
    EXPECT_EQ(loss->evaluate(Reals{1, -infinity, 1}.data(), labels.data(), 3, slopes.data()),
              infinity);
    EXPECT_EQ(slopes[1], -1);
}

TEST(Logistic, CuttingRowsAnywhereChangesNoBitOfTheGradient)
{
    const auto model = logistic();
    const RandomRows some(1000, 9), ones(1000, 9, true);
    for (const auto& rows : {some.sparse(), some.full(), ones.sparse()}) {
        const auto w = some.point();
        const auto whole = gradient(*model, rows, w, 0.7);
        std::mt19937 random(3);
        for (int trial = 0; trial < 50; ++trial) {
            Reals sum(w.size(), 0.0);
            for (std::int64_t at = 0; at < rows.rows;) {
                const auto count = std::min<std::int64_t>(rows.rows - at, 1 + random() % 400);
                model->add_gradient(rows.slice(at, count), w, 0.7, sum);
                at += count;
            }
            ASSERT_TRUE(test::same_bits(sum, whole)) << "trial " << trial;
        }
    }
}

TEST(Logistic, SparseDenseAndValuelessRowsAgree)
{
    const auto model = logistic();
    const RandomRows rows(300, 11);
    const auto w = rows.point();
    double sparse_loss = 0, dense_loss = 0;
    const auto sparse = gradient(*model, rows.sparse(), w, 1, &sparse_loss);
    const auto dense = gradient(*model, rows.full(), w, 1, &dense_loss);
    EXPECT_NEAR(sparse_loss, dense_loss, 1e-12 * sparse_loss);
    for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(sparse[j], dense[j], 1e-11);
    const RandomRows ones(300, 11, true);
    auto with_values = ones.sparse();
    with_values.value = ones.value.data();
    EXPECT_TRUE(
        test::same_bits(gradient(*model, ones.sparse(), w), gradient(*model, with_values, w)));
}

TEST(Logistic, TheCoefficientScalesTheGradientAndNotTheLoss)
{
    const auto model = logistic();
    const RandomRows rows(100, 5);
    const auto w = rows.point();
    double loss = 0, scaled_loss = 0;
    const auto plain = gradient(*model, rows.sparse(), w, 1, &loss);
    const auto scaled = gradient(*model, rows.sparse(), w, -2, &scaled_loss);
    EXPECT_EQ(loss, scaled_loss);
    for (std::size_t j = 0; j < w.size(); ++j) EXPECT_DOUBLE_EQ(scaled[j], -2 * plain[j]);
}

TEST(Logistic, LossOfScoresAgreesWithLossOfRows)
{
    const auto model = logistic();
    const RandomRows rows(517, 6);
    const auto w = rows.point(3);
    double loss = 0;
    gradient(*model, rows.sparse(), w, 1, &loss);
    Reals scores(517);
    model->score(rows.sparse(), w, scores);
    EXPECT_NEAR(loss_of(*model, scores, rows.label), loss, 1e-12 * loss);
    EXPECT_NEAR(model->loss().quality(scores, rows.label).loss, loss / 517, 1e-12);
}

// --- all models ----------------------------------------------------------------------------------

/// A model with data of a shape that it takes.
struct ModelCase {
    std::string model;
    LearningTask task = LearningTask::binary;
    std::map<std::string, std::string> options = {};
};

std::vector<ModelCase> own_cases()
{
    return {{"logistic"},
            {"ridge"},
            {"ridge", LearningTask::regression},
            {"hinge"},
            {"squared-hinge"},
            {"softmax"},
            {"softmax", LearningTask::multiclass},
            {"mlp", LearningTask::binary, {{"hidden", "5"}}},
            {"mlp", LearningTask::multiclass, {{"hidden", "6,4"}, {"activation", "tanh"}}},
            {"mlp", LearningTask::regression, {{"hidden", "5"}, {"loss", "squared"}}}};
}

// And those of plugins, if there are any. Images have tests of their own.
std::vector<ModelCase> model_cases()
{
    auto all = own_cases();
    for (const auto& entry : models())
        if (entry.name != "cnn" &&
            std::ranges::find(all, entry.name, &ModelCase::model) == all.end())
            all.push_back({entry.name});
    return all;
}

class EveryModel : public ::testing::TestWithParam<ModelCase> {
protected:
    static constexpr std::int64_t columns = 7, classes = 3;

    std::unique_ptr<Model> model() const
    {
        return make(
            GetParam().model,
            {.columns = columns, .task = GetParam().task, .classes = classes, .entries_per_row = 5},
            GetParam().options);
    }
    RandomRows rows(std::int64_t count) const
    {
        RandomRows rows(count, columns);
        for (std::size_t i = 0; i < rows.label.size(); ++i)
            if (GetParam().task == LearningTask::multiclass)
                rows.label[i] = static_cast<double>(i % classes);
            else if (GetParam().task == LearningTask::regression)
                rows.label[i] = std::sin(static_cast<double>(i));
        return rows;
    }
    static Reals point(const Model& model)
    {
        std::mt19937 random(99);
        std::normal_distribution<double> normal(0, 0.7);
        Reals w(static_cast<std::size_t>(model.parameters(columns)));
        for (auto& x : w) x = normal(random);
        return w;
    }
};

INSTANTIATE_TEST_SUITE_P(Registry, EveryModel, ::testing::ValuesIn(model_cases()),
                         [](const auto& param) {
                             std::string name = param.param.model + "_" + name_of(param.param.task);
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST_P(EveryModel, TheGradientIsTheDerivativeOfTheLoss)
{
    const auto model = this->model();
    const auto rows = this->rows(61);
    for (const auto& view : {rows.sparse(), rows.full()}) {
        auto w = point(*model);
        const auto g = gradient(*model, view, w);
        const auto loss_at = [&](std::size_t j, double step) {
            auto moved = w;
            moved[j] += step;
            double loss = 0;
            gradient(*model, view, moved, 1, &loss);
            return loss;
        };
        for (std::size_t j = 0; j < w.size(); ++j) {
            const double h = 1e-6;  // small: a kink of hinge or ReLU is hardly ever in between
            const double difference = (loss_at(j, h) - loss_at(j, -h)) / (2 * h);
            EXPECT_NEAR(g[j], difference, 1e-6 * std::max(10.0, std::abs(g[j]))) << j;
        }
    }
}

TEST_P(EveryModel, TheGradientOfTheSumIsTheSumOverAnySplit)
{
    const auto model = this->model();
    const auto rows = this->rows(200);
    const auto w = point(*model);
    const auto whole = gradient(*model, rows.sparse(), w, 0.5);
    Reals sum(w.size(), 0.0);
    for (std::int64_t at = 0, count = 1; at < 200; at += count, ++count)
        model->add_gradient(rows.sparse().slice(at, std::min(count, 200 - at)), w, 0.5, sum);
    for (std::size_t j = 0; j < w.size(); ++j)
        EXPECT_NEAR(sum[j], whole[j], 1e-12 * std::max(100.0, std::abs(whole[j])));
}

TEST_P(EveryModel, LossOfScoresIsTheLossOfRowsSparseOrDense)
{
    const auto model = this->model();
    const auto rows = this->rows(517);
    const auto w = point(*model);
    double loss = 0;
    gradient(*model, rows.sparse(), w, 1, &loss);
    for (const auto& view : {rows.sparse(), rows.full()}) {
        Reals scores(static_cast<std::size_t>(517 * model->outputs()));
        model->score(view, w, scores);
        EXPECT_NEAR(loss_of(*model, scores, rows.label), loss, 1e-12 * std::abs(loss));
        const auto quality = model->loss().quality(scores, rows.label);
        EXPECT_NEAR(quality.loss, loss / 517, 1e-12 * std::abs(loss));
        if (GetParam().task == LearningTask::regression) {
            EXPECT_EQ(quality.mse, quality.loss);
            EXPECT_TRUE(std::isnan(model->loss().hits(scores, rows.label)));
        } else {
            EXPECT_NEAR(model->loss().hits(scores, rows.label), quality.accuracy * 517, 1e-9);
        }
    }
}

TEST_P(EveryModel, CuttingRowsAtTilesChangesNoBitOfALinearGradient)
{
    const auto model = this->model();
    if (!model->linear()) return;  // networks are cut at their own chunks only
    const auto rows = this->rows(1000);
    const auto w = point(*model);
    for (const auto& view : {rows.sparse(), rows.full()}) {
        const auto whole = gradient(*model, view, w);
        Reals sum(w.size(), 0.0);
        for (std::int64_t at = 0; at < 1000; at += 256)
            model->add_gradient(view.slice(at, std::min<std::int64_t>(256, 1000 - at)), w, 1, sum);
        EXPECT_TRUE(test::same_bits(sum, whole));
    }
}

TEST_P(EveryModel, NoRowsAreNoLossAndNoQuality)
{
    const auto model = this->model();
    EXPECT_EQ(loss_of(*model, {}, {}), 0);
    EXPECT_TRUE(std::isnan(model->loss().quality({}, {}).loss));
    EXPECT_TRUE(std::isnan(model->loss().quality({}, {}).accuracy));
}

TEST_P(EveryModel, LayersCoverTheParameters)
{
    const auto model = this->model();
    std::int64_t sum = 0;
    for (const auto& layer : model->layers(columns)) sum += layer.weights + layer.biases;
    EXPECT_EQ(sum, model->parameters(columns));
    EXPECT_EQ(model->chunk_rows({.columns = columns, .entries_per_row = 5}) % 32, 0);
}

TEST(Models, EveryOneOfTheRegistryIsTestedHere)
{
    for (const auto& entry : models()) {
        const auto tested = model_cases();
        const bool here = std::ranges::find(tested, entry.name, &ModelCase::model) != tested.end();
        EXPECT_TRUE(here || entry.name == "cnn") << entry.name << ": cnn_test.cpp has cnn";
    }
}

TEST(Softmax, LossAndDerivativesAreRightToEightUnitsInTheLastPlaceAndAnotherForEach256Classes)
{
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    for (const std::int64_t classes : {2, 3, 10, 129, 3000})
        for (const double scale : {1e-3, 1.0, 30.0, 300.0, 1e4}) {
            const DataShape shape = {.task = LearningTask::multiclass, .classes = classes};
            const auto loss = softmax_loss(shape, 1);
            Reals z(static_cast<std::size_t>(classes)), r(z.size());
            for (auto& one : z) one = scale * normal(random);
            const auto label = random() % z.size();
            const double labels[] = {static_cast<double>(label)};
            const double value = loss->evaluate(z.data(), labels, 1, r.data());
            const long double largest = *std::ranges::max_element(z);
            long double total = 0;
            for (const double one : z) total += std::exp(one - largest);
            const auto exact = static_cast<double>(largest - z[label] + std::log(total));
            const double units =
                static_cast<double>(8 + classes / 256) * std::numeric_limits<double>::epsilon();
            // The sum of the exponentials is at least one: of a smaller loss only that is right.
            EXPECT_NEAR(value, exact, units * std::max(1.0, exact));
            for (std::size_t c = 0; c < z.size(); ++c) {
                const auto p = static_cast<double>(std::exp(z[c] - largest) / total);
                // Rounding z - largest moves the exponential by that much.
                const double moved = 1 + static_cast<double>(largest - z[c]) / 8;
                EXPECT_NEAR(r[c], p - (c == label), units * moved * (c == label ? 1 : p) + 1e-300);
            }
        }
}

TEST(Softmax, ARowsDerivativesHaveTheSameBitsWhereverItStandsAndLossesAddUp)
{
    for (const std::int64_t classes : {3, 10, 129}) {
        const auto loss = softmax_loss({.task = LearningTask::multiclass, .classes = classes}, 1);
        constexpr std::int64_t rows = 700;
        const auto width = static_cast<std::size_t>(classes);
        std::mt19937 random(8);
        std::normal_distribution<double> normal(0, 4);
        Reals z(rows * width), labels(rows), all(z.size()), one(width);
        for (auto& score : z) score = normal(random);
        for (auto& label : labels) label = static_cast<double>(random() % width);
        double sum = 0;
        const double total = loss->evaluate(z.data(), labels.data(), rows, all.data());
        for (std::size_t i = 0; i < rows; ++i) {
            sum += loss->evaluate(z.data() + i * width, labels.data() + i, 1, one.data());
            ASSERT_TRUE(test::same_bits(one, std::span(all).subspan(i * width, width)));
        }
        EXPECT_EQ(sum, total);
    }
}

TEST(Softmax, AScoreThatIsNotANumberIsNotHidden)
{
    const auto loss = softmax_loss({.task = LearningTask::multiclass, .classes = 3}, 1);
    for (std::size_t where = 0; where < 3; ++where) {
        Reals z = {0.5, -1, 2}, r(3);
        z[where] = std::numeric_limits<double>::quiet_NaN();
        const double label = 1;
        EXPECT_TRUE(std::isnan(loss->evaluate(z.data(), &label, 1, r.data())));
        EXPECT_TRUE(std::isnan(r[0]));
    }
}

TEST(Models, HugeScoresStayFinite)
{
    for (const std::string name : {"hinge", "squared-hinge", "ridge", "softmax"}) {
        const auto model = make(name, {});
        Reals scores(static_cast<std::size_t>(2 * model->outputs()), 1e4), weights(scores.size());
        scores.back() = -1e4;
        const Reals labels = {1, 1};
        const double loss = model->loss().evaluate(scores.data(), labels.data(), 2, weights.data());
        EXPECT_TRUE(std::isfinite(loss)) << name;
        for (const double weight : weights) EXPECT_TRUE(std::isfinite(weight)) << name;
    }
}

TEST(Models, HingeLossesAndTheirSlopesAreTheFormulas)
{
    const Reals scores = {0.25, 1, 3, -2}, labels = {1, 1, 1, 1};
    Reals slope(4);
    EXPECT_EQ(hinge_loss(0)->evaluate(scores.data(), labels.data(), 4, slope.data()), 3.75);
    EXPECT_EQ(slope, (Reals{-1, 0, 0, -1}));
    EXPECT_EQ(squared_hinge_loss(0)->evaluate(scores.data(), labels.data(), 4, slope.data()),
              9.5625);
    EXPECT_EQ(slope, (Reals{-1.5, 0, 0, -6}));
}

TEST(Models, LabelsThatAModelCannotLearnAreRefusedWithOthersThatCan)
{
    const auto wrong = [](const std::string& name, LearningTask task) {
        return refusal([&] { make(name, {.columns = 4, .task = task, .classes = 10}); });
    };
    EXPECT_EQ(wrong("logistic", LearningTask::multiclass),
              "--model is logistic, but the data set has 10 classes: use softmax, mlp or cnn, or "
              "import it with a --label-map to -1 and 1");
    EXPECT_EQ(wrong("ridge", LearningTask::multiclass),
              "--model is ridge, but the data set has 10 classes: use softmax, mlp or cnn, or "
              "import it with --task regression if its labels are amounts, or with a --label-map "
              "to -1 and 1");
    EXPECT_EQ(wrong("softmax", LearningTask::regression),
              "--model is softmax, but the labels of the data set are numbers, not classes: use "
              "ridge, or mlp with --loss squared");
    EXPECT_EQ(wrong("cnn", LearningTask::multiclass),
              "--model is cnn, but the rows of the data set are not images: import it with --image "
              "CxHxW and --storage dense");
}

// --- metrics -------------------------------------------------------------------------------------

TEST(Metrics, AucOfTheHandExampleIsThreeQuarters)
{
    EXPECT_EQ(auc(Reals{.1, .4, .35, .8}, Reals{-1, -1, 1, 1}), 0.75);
}

TEST(Metrics, AucOfPerfectReversedAndTiedScores)
{
    const Reals labels = {-1, -1, 1, 1, 1};
    EXPECT_EQ(auc(Reals{1, 2, 3, 4, 5}, labels), 1);
    EXPECT_EQ(auc(Reals{5, 4, 3, 2, 1}, labels), 0);
    EXPECT_EQ(auc(Reals{7, 7, 7, 7, 7}, labels), 0.5);
}

TEST(Metrics, AucIsTheShareOfPairsInOrderWithTiesForHalf)
{
    std::mt19937 random(8);
    Reals scores, labels;
    for (int i = 0; i < 60; ++i) {
        scores.push_back(static_cast<double>(random() % 9));
        labels.push_back(random() % 3 ? 1 : -1);
    }
    double ordered = 0, pairs = 0;
    for (std::size_t i = 0; i < scores.size(); ++i)
        for (std::size_t j = 0; j < scores.size(); ++j)
            if (labels[i] > 0 && labels[j] < 0) {
                ++pairs;
                ordered += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
            }
    EXPECT_NEAR(auc(scores, labels), ordered / pairs, 1e-14);
}

TEST(Metrics, AucSeesTheOrderOfScoresOnly)
{
    const Reals scores = {-2, 0.5, 0.5, 3, -7}, labels = {1, -1, 1, 1, -1};
    Reals moved;
    for (const double s : scores) moved.push_back(std::exp(s / 2) + 5);
    EXPECT_EQ(auc(scores, labels), auc(moved, labels));
}

TEST(Metrics, AucOfOneClassIsUndefined)
{
    EXPECT_TRUE(std::isnan(auc(Reals{1, 2}, Reals{1, 1})));
    EXPECT_TRUE(std::isnan(auc({}, {})));
}

TEST(Metrics, PrecisionRecallAndF1CountByHand)
{
    // TP 2, FP 1, FN 1, TN 1
    const auto got = classification(Reals{1, 2, 3, -1, -2}, Reals{1, 1, -1, 1, -1}, 0);
    EXPECT_DOUBLE_EQ(got.accuracy, 3. / 5);
    EXPECT_DOUBLE_EQ(got.precision, 2. / 3);
    EXPECT_DOUBLE_EQ(got.recall, 2. / 3);
    EXPECT_DOUBLE_EQ(got.f1, 2. / 3);
}

TEST(Metrics, NoFalsePositiveIsAPrecisionOfOneAndEmptyDenominatorsAreZero)
{
    EXPECT_EQ(classification(Reals{1, -1}, Reals{1, 1}, 0).precision, 1);
    const auto none = classification(Reals{-1, -1}, Reals{-1, -1}, 0);
    EXPECT_EQ(none.accuracy, 1);
    EXPECT_EQ(none.precision, 0);
    EXPECT_EQ(none.recall, 0);
    EXPECT_EQ(none.f1, 0);
    EXPECT_TRUE(std::isnan(classification({}, {}, 0).accuracy));
}

TEST(Metrics, AveragePrecisionTakesTiedRowsTogether)
{
    // From the top: +, -, (+, -) tied, +: precisions 1, 2/4, 3/5 at the growth of recall.
    EXPECT_NEAR(average_precision(Reals{5, 4, 3, 3, 1}, Reals{1, -1, 1, -1, 1}),
                (1 + 2. / 4 + 3. / 5) / 3, 1e-15);
    EXPECT_EQ(average_precision(Reals{2, 1}, Reals{1, -1}), 1);
    EXPECT_TRUE(std::isnan(average_precision(Reals{2, 1}, Reals{-1, -1})));
}

TEST(Metrics, ClassMeansAndTopKCountByHand)
{
    // Rows of class 0, 0, 1, 2, called 0, 1, 1, 1.
    const Reals scores = {3, 1, 2, 1, 3, 2, 0, 5, 0, 1, 4, 2}, labels = {0, 0, 1, 2};
    const auto means = class_means(scores, labels, 3);
    EXPECT_DOUBLE_EQ(means.accuracy, 0.5);
    EXPECT_DOUBLE_EQ(means.precision, (1 + 1. / 3 + 0) / 3);
    EXPECT_DOUBLE_EQ(means.recall, (0.5 + 1 + 0) / 3);
    EXPECT_DOUBLE_EQ(means.f1, (2. / 3 + 0.5 + 0) / 3);
    EXPECT_EQ(top_hits(scores, labels, 3, 1), 2);
    EXPECT_EQ(top_hits(scores, labels, 3, 2), 3);
    EXPECT_EQ(top_hits(scores, labels, 3, 3), 4);
}

TEST(Metrics, AScoreAtTheThresholdIsNotCalledPositive)
{
    EXPECT_EQ(classification(Reals{0}, Reals{-1}, 0).accuracy, 1);
}

// --- classes and probabilities -------------------------------------------------------------------

TEST(Probabilities, AddUpToOneForAnyScore)
{
    const Reals scores = {-1000, -2, 0, 1e-3, 30, 1000};
    const auto two = logistic()->loss().probabilities(scores);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        EXPECT_NEAR(two[2 * i] + two[2 * i + 1], 1, 1e-15);
        EXPECT_NEAR(two[2 * i + 1], 1 / (1 + std::exp(-scores[i])), 1e-15);
    }
    EXPECT_GT(two[8], 0) << "small ones are not lost beside one";
    const auto softmax = make("softmax", {.task = LearningTask::multiclass, .classes = 3});
    const Reals z = {1, 2, 3, 1000, 1000, -1000};
    const auto three = softmax->loss().probabilities(z);
    const double sum = std::exp(1) + std::exp(2) + std::exp(3);
    for (std::size_t c = 0; c < 3; ++c)
        EXPECT_NEAR(three[c], std::exp(static_cast<double>(c + 1)) / sum, 1e-15);
    EXPECT_EQ((Reals(three.begin() + 3, three.end())), (Reals{0.5, 0.5, 0}));
    EXPECT_TRUE(make("hinge", {})->loss().probabilities(scores).empty());
}

TEST(Classes, AreThoseOfTheHighestScoreOrAboveTheThreshold)
{
    using Numbers = std::vector<std::int64_t>;
    EXPECT_EQ(make("hinge", {}, {{"threshold", "1"}})->loss().classes(Reals{0.5, 1, 1.5}),
              (Numbers{0, 0, 1}));
    EXPECT_EQ(make("ridge", {})->loss().classes(Reals{-1, 2}), (Numbers{0, 1}));
    EXPECT_TRUE(
        make("ridge", {.task = LearningTask::regression})->loss().classes(Reals{-1}).empty());
    const auto softmax = make("softmax", {.task = LearningTask::multiclass, .classes = 3});
    EXPECT_EQ(softmax->loss().classes(Reals{1, 3, 2, 5, 5, 0}), (Numbers{1, 0}))
        << "of equal scores the lower class, as in the metrics";
}

}  // namespace
}  // namespace quorate
