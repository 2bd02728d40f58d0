// SPDX-License-Identifier: BSD-2-Clause
// Rules that look at the distances of whole vectors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "aggregator/aggregator.hpp"
#include "aggregator/vectors.hpp"
#include "base/median.hpp"

namespace quorate {

namespace {

// The `count` least values' numbers, least first; of equal values the first ones.
std::vector<int> least_of(std::span<const double> values, int count)
{
    std::vector<int> numbers(values.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    std::ranges::stable_sort(numbers, {},
                             [&](int i) { return values[static_cast<std::size_t>(i)]; });
    numbers.resize(static_cast<std::size_t>(count));
    return numbers;
}

// The vectors have scores: the sum of their squared distances to the n - F - 2 others that are
// nearest. The result is the mean of some with the least scores.
// Source: Blanchard, El Mhamdi, Guerraoui, Stainer, "Machine Learning with Adversaries", NeurIPS
// 2017.
class Krum final : public Aggregator {
public:
    /// @param several  whether it is the mean of n - F vectors, and not a single one
    explicit Krum(bool several) : several_(several) {}
    int least(int tolerated) const override { return 2 * tolerated + 3; }
    void aggregate(const Vectors& vectors, int tolerated, Numbers result) const override
    {
        const int n = vectors.count, near = n - tolerated - 2;
        const auto distances = squared_distances(vectors);
        std::vector<double> scores;
        for (int i = 0; i < n; ++i) {
            std::vector<double> others;
            for (int j = 0; j < n; ++j)
                if (j != i) others.push_back(distances(j, i));
            std::ranges::sort(others);
            scores.push_back(std::accumulate(others.begin(), others.begin() + near, 0.0));
        }
        combine(vectors, mean_of(least_of(scores, several_ ? n - tolerated : 1)), result);
    }

private:
    bool several_;
};

// Weiszfeld's iteration: z <- sum_i x_i / d_i / sum_i 1 / d_i with d_i = max(nu, |x_i - z|), from
// z = 0, until the sum of the d_i falls by less than 1e-12 of it, 100 times at most. nu is 1e-6 of
// the median length of the vectors, so that their unit does not matter.
// Source: Pillutla, Kakade, Harchaoui, "Robust Aggregation for Federated Learning", IEEE TSP 2022;
// Chen, Su, Xu, "Distributed Statistical Machine Learning in Adversarial Settings", SIGMETRICS
// 2018.
class GeometricMedian final : public Aggregator {
public:
    void aggregate(const Vectors& vectors, int, Numbers result) const override
    {
        constexpr double smoothing = 1e-6, enough = 1e-12;
        constexpr int most = 100;
        Combination z;  // zero
        auto distances = distances_to(vectors, z);
        const double nu = smoothing * median(distances);
        double before = std::numeric_limits<double>::infinity();
        // Where most of the vectors are zero, so is their median.
        for (int i = 0; i < most && nu > 0; ++i) {
            for (auto& d : distances) d = std::max(nu, d);
            const double sum = std::accumulate(distances.begin(), distances.end(), 0.0);
            if (before - sum < enough * sum) break;
            before = sum;
            z = weighted_by_inverse(distances);
            distances = distances_to(vectors, z);
        }
        combine(vectors, z, result);
    }

private:
    static std::vector<double> distances_to(const Vectors& vectors, const Combination& point)
    {
        auto all = sums_of(vectors, static_cast<std::size_t>(vectors.count),
                           [&](std::size_t, const Eigen::MatrixXd& block, std::span<double> sums) {
                               const auto z = combination_of(block, point);
                               for (int i = 0; i < vectors.count; ++i)
                                   sums[static_cast<std::size_t>(i)] =
                                       (block.col(i) - z).squaredNorm();
                           });
        for (auto& one : all) one = std::sqrt(one);
        return all;
    }
    static Combination weighted_by_inverse(std::span<const double> distances)
    {
        double sum = 0;
        for (const double d : distances) sum += 1 / d;
        Combination all;
        for (const double d : distances)
            all.emplace_back(static_cast<int>(all.size()), 1 / d / sum);
        return all;
    }
};

// v = last + mean of (x_i - last) min(1, tau / |x_i - last|).
// Source: Karimireddy, He, Jaggi, "Learning from History for Byzantine Robust Optimization", ICML
// 2021.
class CentredClipping final : public Aggregator {
public:
    explicit CentredClipping(double radius) : radius_(radius) {}
    bool looks_back() const override { return true; }
    void aggregate(const Vectors& vectors, int, Numbers result) const override
    {
        const int n = vectors.count;
        const auto squares = sums_of(
            vectors, static_cast<std::size_t>(n),
            [&](std::size_t first, const Eigen::MatrixXd& block, std::span<double> sums) {
                const auto centre = block_of(vectors.last, first, block.rows());
                for (int i = 0; i < n; ++i)
                    sums[static_cast<std::size_t>(i)] = (block.col(i) - centre).squaredNorm();
            });
        for_blocks(vectors, [&](std::size_t first, const Eigen::MatrixXd& block) {
            const auto centre = block_of(vectors.last, first, block.rows());
            Eigen::VectorXd v = centre;
            for (int i = 0; i < n; ++i) {
                const double length = std::sqrt(squares[static_cast<std::size_t>(i)]);
                v += (length > radius_ ? radius_ / length : 1) / n * (block.col(i) - centre);
            }
            put_block(v, first, result);
        });
    }

private:
    double radius_;
};

}  // namespace

AggregatorEntry<GeometricMedianAggregator> GeometricMedianAggregator::entry()
{
    return {.name = "geometric-median",
            .text =
                "the point whose sum of distances to the answers is least, by Weiszfeld's "
                "smoothed iteration; needs more than 2 F answers",
            .source = "Chen, Su, Xu, SIGMETRICS 2018; Pillutla et al., IEEE TSP 2022",
            .make = [](const GeometricMedianAggregator&) {
                return std::make_unique<GeometricMedian>();
            }};
}

AggregatorEntry<KrumAggregator> KrumAggregator::entry()
{
    return {.name = "krum",
            .text =
                "the one answer that is nearest to its n - F - 2 nearest others; needs 2 F + 3 "
                "answers",
            .source = "Blanchard et al., NeurIPS 2017",
            .make = [](const KrumAggregator&) { return std::make_unique<Krum>(false); }};
}

AggregatorEntry<MultiKrumAggregator> MultiKrumAggregator::entry()
{
    return {.name = "multi-krum",
            .text =
                "the mean of the n - F answers that are nearest to their n - F - 2 nearest "
                "others; needs 2 F + 3 answers",
            .source = "Blanchard et al., NeurIPS 2017",
            .make = [](const MultiKrumAggregator&) { return std::make_unique<Krum>(true); }};
}

AggregatorEntry<CentredClippingAggregator> CentredClippingAggregator::entry()
{
    return {.name = "centred-clipping",
            .arguments = {{&CentredClippingAggregator::radius, "TAU", {.lowest = above_zero}}},
            .text =
                "the mean of the answers, each moved to within TAU of the estimate of the round "
                "before (of 0 in the first); needs more than 2 F answers",
            .source = "Karimireddy, He, Jaggi, ICML 2021",
            .make = [](const CentredClippingAggregator& given) {
                return std::make_unique<CentredClipping>(given.radius);
            }};
}

}  // namespace quorate
