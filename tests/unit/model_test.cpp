// SPDX-License-Identifier: BSD-2-Clause
// The logistic model and the metrics.
#include <gtest/gtest.h>

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

std::unique_ptr<Model> logistic() { return models().front().make(Settings()); }

/// Random sparse rows, and the same rows dense.
struct Rows {
    std::int64_t rows, columns;
    std::vector<Index> start = {0}, column;
    Reals value, dense, label;
    bool ones;

    Rows(std::int64_t m, std::int64_t p, bool all_ones = false)
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
                dense[static_cast<std::size_t>(i + j * m)] = x;
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
        return {.rows = rows,
                .columns = columns,
                .dense = dense.data(),
                .stride = rows,
                .label = label.data()};
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

TEST(Logistic, TheGradientIsTheDerivativeOfTheLoss)
{
    const auto model = logistic();
    const Rows rows(301, 7);
    for (const auto& view : {rows.sparse(), rows.full()}) {
        auto w = rows.point();
        const auto g = gradient(*model, view, w);
        const auto loss_at = [&](std::size_t j, double step) {
            auto moved = w;
            moved[j] += step;
            double loss = 0;
            gradient(*model, view, moved, 1, &loss);
            return loss;
        };
        for (std::size_t j = 0; j < w.size(); ++j) {
            const double h = 1e-5;
            const double difference = (loss_at(j, h) - loss_at(j, -h)) / (2 * h);
            EXPECT_NEAR(g[j], difference, 1e-6 * std::max(1.0, std::abs(g[j]))) << j;
        }
    }
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
    EXPECT_NEAR(model->loss(scores, Reals{1, -1}), 0, 1e-300);  // Eigen's exp may stop at 1e-308
    EXPECT_EQ(model->loss(scores, Reals{-1, 1}), 2e4);
}

TEST(Logistic, CuttingSparseRowsAnywhereChangesNoBitOfTheGradient)
{
    const auto model = logistic();
    for (const bool ones : {false, true}) {
        const Rows rows(1000, 9, ones);
        const auto w = rows.point();
        const auto whole = gradient(*model, rows.sparse(), w, 0.7);
        std::mt19937 random(3);
        for (int trial = 0; trial < 50; ++trial) {
            Reals sum(w.size(), 0.0);
            for (std::int64_t at = 0; at < rows.rows;) {
                const auto count = std::min<std::int64_t>(rows.rows - at, 1 + random() % 400);
                model->add_gradient(rows.sparse().slice(at, count), w, 0.7, sum);
                at += count;
            }
            ASSERT_TRUE(test::same_bits(sum, whole)) << "trial " << trial;
        }
    }
}

// Dense rows go through matrix products, whose sums depend on where a tile ends: workers cut at
// multiples of a tile (MpiWorker), and replicas cut alike.
TEST(Logistic, CuttingDenseRowsAtTilesChangesNoBitOfTheGradient)
{
    const auto model = logistic();
    const Rows rows(1000, 9);
    const auto w = rows.point();
    const auto whole = gradient(*model, rows.full(), w);
    for (const std::int64_t chunk : {256, 512, 768}) {
        Reals sum(w.size(), 0.0);
        for (std::int64_t at = 0; at < rows.rows; at += chunk)
            model->add_gradient(rows.full().slice(at, std::min(chunk, rows.rows - at)), w, 1, sum);
        EXPECT_TRUE(test::same_bits(sum, whole)) << "chunks of " << chunk;
    }
}

TEST(Logistic, SparseDenseAndValuelessRowsAgree)
{
    const auto model = logistic();
    const Rows rows(300, 11);
    const auto w = rows.point();
    double sparse_loss = 0, dense_loss = 0;
    const auto sparse = gradient(*model, rows.sparse(), w, 1, &sparse_loss);
    const auto dense = gradient(*model, rows.full(), w, 1, &dense_loss);
    EXPECT_NEAR(sparse_loss, dense_loss, 1e-12 * sparse_loss);
    for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(sparse[j], dense[j], 1e-11);
    const Rows ones(300, 11, true);
    auto with_values = ones.sparse();
    with_values.value = ones.value.data();
    EXPECT_TRUE(
        test::same_bits(gradient(*model, ones.sparse(), w), gradient(*model, with_values, w)));
}

TEST(Logistic, TheCoefficientScalesTheGradientAndNotTheLoss)
{
    const auto model = logistic();
    const Rows rows(100, 5);
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
    const Rows rows(517, 6);
    const auto w = rows.point(3);
    double loss = 0;
    gradient(*model, rows.sparse(), w, 1, &loss);
    Reals scores(517);
    model->score(rows.sparse(), w, scores);
    EXPECT_NEAR(model->loss(scores, rows.label), loss, 1e-12 * loss);
    EXPECT_NEAR(model->quality(scores, rows.label).loss, loss / 517, 1e-12);
}

TEST(Logistic, NoRowsAreNoLossAndNoQuality)
{
    const auto model = logistic();
    EXPECT_EQ(model->loss({}, {}), 0);
    EXPECT_TRUE(std::isnan(model->quality({}, {}).loss));
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

TEST(Metrics, AScoreAtTheThresholdIsNotCalledPositive)
{
    EXPECT_EQ(classification(Reals{0}, Reals{-1}, 0).accuracy, 1);
}

}  // namespace
}  // namespace quorate
