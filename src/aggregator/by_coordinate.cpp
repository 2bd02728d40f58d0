// SPDX-License-Identifier: BSD-2-Clause
// Rules that look at each parameter by itself.
// Yin, Chen, Ramchandran, Bartlett, "Byzantine-Robust Distributed Learning", ICML 2018.
#include <algorithm>

#include "aggregator/aggregator.hpp"
#include "aggregator/vectors.hpp"

namespace quorate {

namespace {

// Sorts the vectors parameter by parameter, ascending: Batcher's network, whose exchanges are those
// of whole columns, so that many parameters are sorted at once. O(n (log n)^2) of them.
// Source: Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M (merge exchange).
void sort_rows(Eigen::Ref<Eigen::MatrixXd> block)
{
    const auto n = block.cols();
    const auto exchange = [&](Eigen::Index i, Eigen::Index j) {
        const Eigen::VectorXd less = block.col(i).cwiseMin(block.col(j));
        block.col(j) = block.col(i).cwiseMax(block.col(j));
        block.col(i) = less;
    };
    Eigen::Index top = 1;
    while (2 * top < n) top *= 2;
    for (auto p = top; p > 0; p /= 2) {
        Eigen::Index distance = p, r = 0;
        for (auto q = top;; q /= 2) {
            for (Eigen::Index i = 0; i + distance < n; ++i)
                if ((i & p) == r) exchange(i, i + distance);
            if (q == p) break;
            distance = q - p;
            r = p;
        }
    }
}

// Sets each parameter to the mean of those that are left when the `cut` least and the `cut`
// largest ones are taken away.
void mean_of_middle(const Vectors& vectors, int cut, Numbers result)
{
    constexpr Eigen::Index at_a_time = 256;  // rows of all columns stay in the nearest cache
    for_blocks(vectors, [&](std::size_t first, Eigen::MatrixXd& block) {
        Eigen::VectorXd middle(block.rows());
        const auto left = block.cols() - 2 * Eigen::Index{cut};
        for (Eigen::Index row = 0; row < block.rows(); row += at_a_time) {
            const auto rows = std::min(at_a_time, block.rows() - row);
            sort_rows(block.middleRows(row, rows));
            auto sum = middle.segment(row, rows);
            sum.setZero();
            // Each is divided by itself, so that the sum does not overflow.
            for (Eigen::Index i = cut; i < cut + left; ++i)
                sum += block.col(i).segment(row, rows) / static_cast<double>(left);
        }
        put_block(middle, first, result);
    });
}

class Median final : public Aggregator {
public:
    void aggregate(const Vectors& vectors, int, Numbers result) const override
    {
        mean_of_middle(vectors, (vectors.count - 1) / 2, result);
    }
};

class TrimmedMean final : public Aggregator {
public:
    void aggregate(const Vectors& vectors, int tolerated, Numbers result) const override
    {
        mean_of_middle(vectors, tolerated, result);
    }
};

}  // namespace

AggregatorEntry<MedianAggregator> MedianAggregator::entry()
{
    return {.name = "median",
            .text = "the median of each parameter; needs more than 2 F answers",
            .source = "Yin et al., ICML 2018",
            .make = [](const MedianAggregator&) { return std::make_unique<Median>(); }};
}

AggregatorEntry<TrimmedMeanAggregator> TrimmedMeanAggregator::entry()
{
    return {.name = "trimmed-mean",
            .text =
                "the mean of each parameter without its F least and F largest values; needs "
                "more than 2 F answers",
            .source = "Yin et al., ICML 2018",
            .make = [](const TrimmedMeanAggregator&) { return std::make_unique<TrimmedMean>(); }};
}

}  // namespace quorate
