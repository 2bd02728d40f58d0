// SPDX-License-Identifier: BSD-2-Clause
// What happens to vectors before a rule gets them: each step is a rule that hands others on.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "aggregator/aggregator.hpp"
#include "aggregator/vectors.hpp"
#include "base/random.hpp"

namespace quorate {

namespace {

// A rule that makes other vectors of those that it gets, for another rule.
class Before : public Aggregator {
public:
    explicit Before(SharedAggregator rule) : rule_(std::move(rule)) {}
    int least(int tolerated) const override { return rule_->least(tolerated); }
    bool looks_back() const override { return rule_->looks_back(); }

protected:
    const Aggregator& rule() const { return *rule_; }

private:
    SharedAggregator rule_;
};

// Each vector becomes the mean of the n - F that are nearest to it, itself among them.
// Source: Allouah et al., "Fixing by Mixing", AISTATS 2023, algorithm 2.
class NearestNeighbours final : public Before {
public:
    using Before::Before;
    void aggregate(const Vectors& vectors, int tolerated, Numbers result) const override
    {
        const auto distances = squared_distances(vectors);
        std::vector<Combination> means;
        for (int i = 0; i < vectors.count; ++i) {
            std::vector<int> near(static_cast<std::size_t>(vectors.count));
            std::iota(near.begin(), near.end(), 0);
            std::ranges::stable_sort(near, {}, [&](int j) { return distances(j, i); });
            near.resize(near.size() - static_cast<std::size_t>(tolerated));
            means.push_back(mean_of(near));
        }
        rule().aggregate(combined(vectors, std::move(means)), tolerated, result);
    }
};

// The vectors become the means of buckets of so many, in a random order of each step; the last one
// may have fewer. A false vector makes one bucket false.
// Source: Karimireddy, He, Jaggi, "Byzantine-Robust Learning on Heterogeneous Datasets via
// Bucketing", ICLR 2022, algorithm 1.
class Buckets final : public Before {
public:
    Buckets(SharedAggregator rule, int size) : Before(std::move(rule)), size_(size) {}
    int least(int tolerated) const override { return (rule().least(tolerated) - 1) * size_ + 1; }
    void aggregate(const Vectors& vectors, int tolerated, Numbers result) const override
    {
        std::vector<int> order(static_cast<std::size_t>(vectors.count));
        std::iota(order.begin(), order.end(), 0);
        Stream(vectors.seed, Purpose::buckets, static_cast<std::uint32_t>(vectors.step))
            .shuffle(order);
        std::vector<Combination> means;
        for (std::size_t first = 0; first < order.size(); first += static_cast<std::size_t>(size_))
            means.push_back(mean_of(std::span(order).subspan(
                first, std::min(static_cast<std::size_t>(size_), order.size() - first))));
        rule().aggregate(combined(vectors, std::move(means)), tolerated, result);
    }

private:
    int size_;
};

class FiniteOnes final : public Before {
public:
    using Before::Before;
    void aggregate(const Vectors& vectors, int tolerated, Numbers result) const override
    {
        const auto count = static_cast<std::size_t>(vectors.count);
        const auto infinite = sums_of(
            vectors, count, [&](std::size_t, const Eigen::MatrixXd& block, std::span<double> sums) {
                for (std::size_t i = 0; i < count; ++i)
                    sums[i] = block.col(static_cast<Eigen::Index>(i)).allFinite() ? 0 : 1;
            });
        std::vector<Combination> finite;
        for (std::size_t i = 0; i < count; ++i)
            if (infinite[i] == 0) finite.push_back({{static_cast<int>(i), 1}});
        const auto false_ones = vectors.count - static_cast<int>(finite.size());
        if (false_ones == 0) return rule().aggregate(vectors, tolerated, result);
        if (false_ones <= tolerated)
            return rule().aggregate(combined(vectors, std::move(finite)), tolerated - false_ones,
                                    result);
        result.visit([]<class T>(std::span<T> all) {
            std::ranges::fill(all, std::numeric_limits<T>::quiet_NaN());
        });
    }
};

}  // namespace

SharedAggregator robust_rule(SharedAggregator rule, const PreAggregation& before)
{
    if (before.kind == PreAggregation::neighbours)
        rule = std::make_shared<NearestNeighbours>(std::move(rule));
    else if (before.kind == PreAggregation::buckets)
        rule = std::make_shared<Buckets>(std::move(rule), before.size);
    return std::make_shared<FiniteOnes>(std::move(rule));
}

void read_option(PreAggregation& before, const GivenWords& given)
{
    const auto& text = given.text();
    if (text == "none") return void(before = {});
    if (text == "nnm") return void(before = {PreAggregation::neighbours});
    const auto words = split(text, ':');
    const auto size =
        words.size() == 2 && words[0] == "bucketing" ? to_integer(words[1]) : std::nullopt;
    if (!size || *size < 1 || *size > 1'000'000)
        given.refuse(unless_several(given.name(), text,
                                    ": write none, nnm or bucketing:S, with S vectors a bucket, "
                                    "such as bucketing:2",
                                    {"none", "nnm", "bucketing"}));
    before = {PreAggregation::buckets, static_cast<int>(*size)};
}

std::string written(const PreAggregation& before, const OptionRow&)
{
    return before.kind == PreAggregation::buckets      ? fmt::format("bucketing:{}", before.size)
           : before.kind == PreAggregation::neighbours ? "nnm"
                                                       : "none";
}

}  // namespace quorate
