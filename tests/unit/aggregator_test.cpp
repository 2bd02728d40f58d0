// SPDX-License-Identifier: BSD-2-Clause
// Rules that make one vector of many, against NumPy, loops and closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "aggregator/aggregator.hpp"
#include "aggregator/vectors.hpp"
#include "base/median.hpp"
#include "base/random.hpp"
#include "engine/estimates.hpp"
#include "held_fleet.hpp"
#include "legal_run.hpp"
#include "scheme/coding.hpp"
#include "scheme/schemes.hpp"
#include "straggler/byzantine.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using Column = std::vector<double>;
using VectorTable = std::vector<Column>;  // a vector each

constexpr double nan_number = std::numeric_limits<double>::quiet_NaN();

// A view of parameters first..last-1.
Vectors part_of(const VectorTable& table, std::size_t first, std::size_t last)
{
    Vectors vectors;
    vectors.count = static_cast<int>(table.size());
    vectors.size = last - first;
    vectors.read = [&table, first](std::size_t at, Eigen::MatrixXd& block) {
        for (Eigen::Index i = 0; i < block.cols(); ++i)
            for (Eigen::Index j = 0; j < block.rows(); ++j)
                block(j, i) =
                    table[static_cast<std::size_t>(i)][first + at + static_cast<std::size_t>(j)];
    };
    return vectors;
}
Vectors all_of(const VectorTable& table) { return part_of(table, 0, table.front().size()); }

Column aggregated(const AggregatorChoice& choice, const Vectors& vectors, int tolerated,
                  const PreAggregation& before = {})
{
    Column result(vectors.size);
    robust_rule(choice.rule, before)->aggregate(vectors, tolerated, result);
    return result;
}
Column aggregated(const AggregatorChoice& choice, const VectorTable& table, int tolerated,
                  const PreAggregation& before = {})
{
    return aggregated(choice, all_of(table), tolerated, before);
}

void expect_close(const Column& one, const Column& other)
{
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t j = 0; j < one.size(); ++j) EXPECT_NEAR(one[j], other[j], 1e-12) << j;
}

// Nine vectors of four, of which the third and the seventh are three times as long.
VectorTable nine()
{
    VectorTable all;
    for (int i = 0; i < 9; ++i) {
        auto& one = all.emplace_back();
        for (int j = 0; j < 4; ++j)
            one.push_back((((i * i * 17 + i * 37 + j * 101 + i * j * j * 13) % 50) / 10.0 - 2.5) *
                          (i == 2 || i == 6 ? 3 : 1));
    }
    return all;
}

VectorTable random_table(int n, std::size_t size)
{
    Stream random(1, Purpose::samples);
    VectorTable all(static_cast<std::size_t>(n), Column(size));
    for (auto& one : all)
        for (auto& x : one) x = random.normal();
    return all;
}

const std::vector<AggregatorChoice>& all_rules()
{
    static const std::vector<AggregatorChoice> all = {
        MedianAggregator{}, TrimmedMeanAggregator{}, GeometricMedianAggregator{},
        KrumAggregator{},   MultiKrumAggregator{},   CentredClippingAggregator{3}};
    return all;
}
const std::vector<PreAggregation> all_before = {
    {}, {PreAggregation::neighbours}, {PreAggregation::buckets, 2}};

TEST(Aggregator, IsThatOfNumPy)
{
    const auto x = nine();
    expect_close(aggregated(MedianAggregator{}, x, 2), {-0.5, -0.7, -0.3, -0.1});
    expect_close(aggregated(TrimmedMeanAggregator{}, x, 2), {-0.1, -0.94, -0.7, 0.36});
    expect_close(
        aggregated(GeometricMedianAggregator{}, x, 2),
        {-0.46564188795086436, -0.6063895540774142, -0.3107337828153411, 0.4459524486373397});
    expect_close(aggregated(KrumAggregator{}, x, 2), {-2.1, -0.7, -1.7, -0.1});
    expect_close(aggregated(MultiKrumAggregator{}, x, 3),
                 {-0.4333333333333334, -0.1, -0.9666666666666667, 0.3});
    auto vectors = all_of(x);
    const Column last = {1, -1, 0.5, 0};
    vectors.last = last;
    expect_close(
        aggregated(CentredClippingAggregator{3}, vectors, 2),
        {0.18584820681836867, -0.7209584211851949, 0.017182906966403955, 0.24739196462661794});
}

TEST(Aggregator, OfMeansOfNearestNeighboursIsThatOfNumPy)
{
    const PreAggregation before{PreAggregation::neighbours};
    expect_close(aggregated(MedianAggregator{}, nine(), 3, before),
                 {-0.43333333333333335, -0.5166666666666666, -0.9666666666666667, 0.3});
    expect_close(aggregated(TrimmedMeanAggregator{}, nine(), 3, before),
                 {-0.43333333333333335, -0.4222222222222222, -0.9666666666666667, 0.3});
}

TEST(Aggregator, OfBucketsIsThatOfTheirMeans)
{
    const auto x = nine();
    const PreAggregation before{PreAggregation::buckets, 2};
    auto vectors = all_of(x);
    vectors.seed = 7;
    std::vector<Column> different;
    for (vectors.step = 0; vectors.step < 4; ++vectors.step) {
        std::vector<std::size_t> order(9);
        std::iota(order.begin(), order.end(), 0U);
        Stream(7, Purpose::buckets, static_cast<std::uint32_t>(vectors.step)).shuffle(order);
        Column expected;
        for (std::size_t j = 0; j < 4; ++j) {
            Column means;
            for (std::size_t b = 0; b < 9; b += 2)
                means.push_back(b + 1 < 9 ? (x[order[b]][j] + x[order[b + 1]][j]) / 2
                                          : x[order[b]][j]);
            expected.push_back(median(means));
        }
        expect_close(aggregated(MedianAggregator{}, vectors, 2, before), expected);
        different.push_back(expected);
    }
    EXPECT_NE(different[0], different[1]);
    expect_close(aggregated(KrumAggregator{}, x, 2, {PreAggregation::buckets, 1}),
                 aggregated(KrumAggregator{}, x, 2));
}

TEST(Aggregator, SortsAnyNumberOfVectors)
{
    for (int n = 1; n <= 40; ++n) {
        const auto x = random_table(n, 3);
        Column expected;
        for (std::size_t j = 0; j < 3; ++j) {
            Column at;
            for (const auto& one : x) at.push_back(one[j]);
            expected.push_back(median(at));
        }
        expect_close(aggregated(MedianAggregator{}, x, 0), expected);
    }
}

TEST(Aggregator, GeometricMedianIsTheKnownPoint)
{
    const auto expect_point = [](const VectorTable& table, const Column& point) {
        const auto found = aggregated(GeometricMedianAggregator{}, table, 1);
        for (std::size_t j = 0; j < point.size(); ++j) EXPECT_NEAR(found[j], point[j], 1e-5);
    };
    // Of points on a line the one in the middle; of a regular triangle its centre; of four corners
    // that are convex, where the diagonals meet.
    expect_point({{1, 2}, {2, 4}, {9, 18}, {-1, -2}, {1.5, 3}}, {1.5, 3});
    expect_point({{1, 0}, {-0.5, std::sqrt(0.75)}, {-0.5, -std::sqrt(0.75)}}, {0, 0});
    expect_point({{-1, 0}, {3, 0}, {0, -2}, {0, 1}}, {0, 0});
    EXPECT_EQ(aggregated(GeometricMedianAggregator{}, {{0, 0}, {0, 0}, {5, 1}}, 1), Column(2));
}

TEST(Aggregator, OfEqualVectorsIsOneOfThem)
{
    const VectorTable x(9, Column{1, -2, 0.5});
    for (const auto& rule : all_rules()) {
        auto vectors = all_of(x);
        const Column last = {1, -2, 0};
        vectors.last = last;
        for (const auto& before : all_before)
            expect_close(aggregated(rule, vectors, 2, before), x[0]);
    }
}

TEST(Aggregator, StaysNearTheHonestOnesHoweverLongTheOthersAre)
{
    for (const double size : {1e3, 1e10, 1e200, 1.7e308})
        for (const auto& rule : all_rules())
            for (const auto& before : all_before) {
                auto x = nine();
                x[0] = Column(4, -size);
                for (const auto y : aggregated(rule, x, 1, before))
                    EXPECT_LT(std::abs(y), 8) << rule.words << size << before.kind;
            }
}

TEST(Aggregator, GoesOnWithoutVectorsThatAreNotFinite)
{
    const auto infinity = std::numeric_limits<double>::infinity();
    for (const double wrong : {nan_number, infinity, -infinity})
        for (const auto& rule : all_rules())
            for (const auto& before : all_before) {
                auto x = nine();
                x[6][2] = wrong;
                auto others = x;
                others.erase(others.begin() + 6);
                expect_close(aggregated(rule, x, 2, before), aggregated(rule, others, 1, before));
            }
    auto x = nine();
    x[6][3] = nan_number;
    expect_close(aggregated(TrimmedMeanAggregator{}, x, 3), {-0.55, -0.65, -1, 0.05});
    x[1][0] = nan_number;
    EXPECT_TRUE(std::isnan(aggregated(MedianAggregator{}, x, 1)[3]));
}

TEST(Aggregator, HasTheSameBitsForAnyThreadsAndShares)
{
    const auto x = random_table(9, 3 * sum_block + 17);
    const auto last = random_table(1, 3 * sum_block + 17)[0];
    const auto cut = 2 * sum_block;
    for (const auto& rule : all_rules())
        for (const auto& before : all_before) {
            auto one = all_of(x);
            one.last = last;
            std::vector<Column> sums;  // of all parameters, pass by pass
            one.add_up = [&](std::span<const double> blocks, std::span<double> all) {
                sum_blocks(blocks, all);
                sums.emplace_back(all.begin(), all.end());
            };
            const auto whole = aggregated(rule, one, 2, before);
            const auto passes = std::exchange(sums, {});
            one.threads = 3;
            EXPECT_EQ(aggregated(rule, one, 2, before), whole) << rule.words;
            EXPECT_EQ(sums, passes);
            // Whoever has a share gets the sums of all shares.
            Column joined;
            for (const auto& [first, end] : {std::pair{std::size_t{0}, cut}, {cut, last.size()}}) {
                auto share = part_of(x, first, end);
                share.last = std::span(last).subspan(first, end - first);
                std::size_t next = 0;
                share.add_up = [&](std::span<const double> blocks, std::span<double> all) {
                    EXPECT_EQ(blocks.size(), blocks_of(end - first) * all.size());
                    std::ranges::copy(passes.at(next++), all.begin());
                };
                const auto result = aggregated(rule, share, 2, before);
                EXPECT_EQ(next, passes.size());
                joined.insert(joined.end(), result.begin(), result.end());
            }
            EXPECT_EQ(joined, whole) << rule.words;
        }
}

TEST(Aggregator, MakesFloats)
{
    const auto x = nine();
    std::vector<float> result(4);
    robust_rule(AggregatorChoice(MedianAggregator{}).rule, {})->aggregate(all_of(x), 2, result);
    EXPECT_EQ(result, (std::vector<float>{-0.5F, -0.7F, -0.3F, -0.1F}));
}

TEST(Aggregator, SaysHowManyVectorsItNeeds)
{
    const auto least = [](const AggregatorChoice& choice, const PreAggregation& before) {
        return robust_rule(choice.rule, before)->least(2);
    };
    EXPECT_EQ(least(MedianAggregator{}, {}), 5);
    EXPECT_EQ(least(KrumAggregator{}, {PreAggregation::neighbours}), 7);
    // Five buckets of three, the last of one.
    EXPECT_EQ(least(TrimmedMeanAggregator{}, {PreAggregation::buckets, 3}), 13);
}

// The sums of partitions of 26 or 25 rows are 100, 200, 300, 400 times their number of samples,
// also where a batch of 7 is 2 samples of each.
TEST(Robust, AggregatesMeansOverSamples)
{
    for (const std::int64_t batch : {0, 7}) {
        const auto estimate = [&](const AggregatorChoice& choice, int tolerated) {
            const Problem problem{4, 102, 1, batch};
            const auto scheme =
                make_scheme(RobustOptions{.tolerate = tolerated, .aggregator = choice}, problem);
            const Coding coding(make_scheme(UncodedOptions{}, problem), 1, batch);
            test::LegalRun run(*scheme, 3);
            run.gradient = [&](int block, const Column&) {
                const auto& batches = coding.batches;
                return Column{100.0 * (block + 1) * static_cast<double>(batches.samples(block)) *
                              batches.scale(block)};
            };
            run.run(1);
            return run.estimates.at(0).at(0);
        };
        EXPECT_NEAR(estimate(TrimmedMeanAggregator{}, 0), 250, 1e-9);
        EXPECT_NEAR(estimate(MedianAggregator{}, 1), 250, 1e-9);
        EXPECT_NEAR(estimate(TrimmedMeanAggregator{}, 1), 250, 1e-9);
        EXPECT_NEAR(estimate(CentredClippingAggregator{150}, 1), 137.5, 1e-9);
    }
}

// A fleet whose workers have these losses.
class FleetWithLosses final : public test::HeldFleet {
public:
    explicit FleetWithLosses(Column sums) : sums_(std::move(sums)) {}
    Losses losses(std::size_t handle) override { return {sums_[handle], 0}; }

private:
    Column sums_;
};

TEST(Robust, EstimatesAreOfWholeVectorsAndLossesAreMedians)
{
    FleetWithLosses fleet({2, 4, nan_number, 100, 9});
    const auto add = [&](std::vector<Index> columns, const Column& values) {
        fleet.add(Support::of(3, std::move(columns)), NumberVector(ConstNumbers(values)));
    };
    add({0, 2}, {2, 8});
    add({1}, {4});
    add({0, 1, 2}, {nan_number, 0, 0});
    add({0, 1, 2}, {6, 6, 6});
    add({2}, {10});
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < 5; ++i) arrivals.push_back(fleet.arrival(i));
    for (auto& one : arrivals) one.samples = one.worker < 2 ? 1 + one.worker : 3;
    std::vector<Summand> terms;
    for (const auto& one : arrivals) terms.push_back({&one, 2});
    Needs needs;
    needs.aggregator = robust_rule(AggregatorChoice(MedianAggregator{}).rule, {});
    needs.tolerated = 2;
    const Points points;
    const Column model(3);
    ComputedEstimates estimates({}, needs, points, ConstNumbers(model));
    trace::Round row{};
    estimates.form(needs, fleet, {.terms = {}, .divisor = 20, .error = 0}, {}, terms, nullptr, row);
    // Medians of 2 0 0 6 0 without the third, and so on, halved.
    EXPECT_EQ(ConstNumbers(estimates.estimate()).doubles(), (Column{0.5, 1, 3.5}));
    EXPECT_DOUBLE_EQ(row.gradient_norm, std::sqrt(0.25 + 1 + 12.25));
    EXPECT_EQ(row.loss_estimate, 3);  // of 2, 2, infinity, 33.3 and 3
}

TEST(Byzantine, WorkersThatColludeSendWhatNumPyHasOfTheOthers)
{
    const auto x = nine();
    std::vector<int> workers(9);
    std::iota(workers.begin(), workers.end(), 10);
    const auto sent = [&](const std::string& words) {
        const auto byzantine = byzantine_workers(test::settings({{"byzantine", words}}), 0, 20);
        EXPECT_TRUE(byzantine.collude());
        Column all;
        for (const auto& one : x) all.insert(all.end(), one.begin(), one.end());
        const auto before = all;
        byzantine.collude(workers, all);
        EXPECT_TRUE(std::equal(all.begin() + 8, all.begin() + 12, all.begin() + 24));
        EXPECT_TRUE(std::equal(all.begin(), all.begin() + 8, before.begin()));
        return Column(all.begin() + 8, all.begin() + 12);
    };
    expect_close(sent("alie:12,16"),
                 {1.5915270915042043, 1.7098525571847039, 0.5106186879913901, 2.268029947495235});
    expect_close(sent("ipm:12,16"),
                 {1.457142857142857, 0.8571428571428568, 2.314285714285714, 0.11428571428571452});
    expect_close(sent("ipm=-1:12,16"), {-0.7285714285714285, -0.4285714285714284,
                                        -1.157142857142857, -0.05714285714285726});
    EXPECT_EQ(sent("mimic:12,16"), x[0]);
    EXPECT_EQ(sent("mimic=14:12,16"), x[4]);
    EXPECT_EQ(sent("mimic=1:12,16"), x[0]);  // it has not answered
}

}  // namespace
}  // namespace quorate
