// SPDX-License-Identifier: BSD-2-Clause
#include "tables/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/host.hpp"

namespace quorate {

namespace {

// Takes memory for the weights of a model. @throws BadInput if there is too little
void reserve(std::vector<double>& weights, std::int64_t count)
{
    need_memory(sizeof(double) * static_cast<double>(count),
                fmt::format("to make {} weights", count));
    weights.reserve(static_cast<std::size_t>(count));
}

// Random stream 0 makes what all rows share, stream i + 1 makes row i.
Stream shared_stream(std::uint64_t seed) { return {seed, Purpose::generated_data}; }

Stream row_stream(std::uint64_t seed, std::int64_t number)
{
    const auto row = static_cast<std::uint64_t>(number) + 1;
    return {seed, Purpose::generated_data, static_cast<std::uint32_t>(row),
            static_cast<std::uint32_t>(row >> 32)};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The synthetic data of the gradient-coding programs: two Gaussians with means +-(1.5/p) beta and
// standard deviation 10/sqrt(p), beta_j = +-1, and label +1 with probability sigma(x.beta).
class TwoGaussians final : public Synthetic {
public:
    explicit TwoGaussians(const SyntheticSize& size) : size_(size)
    {
        auto stream = shared_stream(size.seed);
        reserve(beta_, size.columns);
        for (std::int64_t j = 0; j < size.columns; ++j) beta_.push_back(stream() & 1 ? 1 : -1);
    }
    DataShape shape() const override { return {.task = LearningTask::binary}; }

    void make(std::int64_t number, Row& row) const override
    {
        const auto p = static_cast<double>(size_.entries > 0 ? size_.entries : size_.columns);
        const double mean = 1.5 / p, deviation = 10 / std::sqrt(p);
        auto stream = row_stream(size_.seed, number);
        const double side = stream() & 1 ? mean : -mean;
        double score = 0;
        const auto value = [&](std::int64_t column) {
            const double beta = beta_[static_cast<std::size_t>(column)];
            const double x = side * beta + deviation * stream.normal();
            score += x * beta;
            return x;
        };
        row.entries.clear();
        row.dense.clear();
        if (size_.entries == 0)
            for (std::int64_t j = 0; j < size_.columns; ++j) row.dense.push_back(value(j));
        else
            for (const auto j : some_columns(stream)) row.entries.emplace_back(j, value(j));
        row.label = stream.uniform() < sigmoid(score) ? 1 : -1;
        if (size_.noise > 0 && stream.uniform() < size_.noise) row.label = -row.label;
    }

protected:
    std::vector<std::int64_t> some_columns(Stream& stream) const
    {
        std::vector<std::int64_t> chosen;
        while (std::ssize(chosen) < size_.entries) {
            const auto j =
                static_cast<std::int64_t>(stream.below(static_cast<std::size_t>(size_.columns)));
            const auto at = std::ranges::lower_bound(chosen, j);
            if (at == chosen.end() || *at != j) chosen.insert(at, j);
        }
        return chosen;
    }

private:
    SyntheticSize size_;
    std::vector<double> beta_;
};

// x of standard normals, z = x'W / sqrt(entries of x) with W of standard normals.
class NormalScores : public Synthetic {
public:
    NormalScores(const SyntheticSize& size, std::int64_t outputs) : size_(size), outputs_(outputs)
    {
        auto stream = shared_stream(size.seed);
        reserve(weights_, size.columns * outputs);
        for (std::int64_t i = 0; i < size.columns * outputs; ++i)
            weights_.push_back(stream.normal());
    }

    void make(std::int64_t number, Row& row) const override
    {
        auto stream = row_stream(size_.seed, number);
        row.entries.clear();
        row.dense.clear();
        std::vector<double> z(static_cast<std::size_t>(outputs_));
        const auto add = [&](std::int64_t column) {
            const double x = stream.normal();
            for (std::size_t c = 0; c < z.size(); ++c)
                z[c] += x * weights_[static_cast<std::size_t>(column * outputs_) + c];
            return x;
        };
        if (size_.entries == 0) {
            for (std::int64_t j = 0; j < size_.columns; ++j) row.dense.push_back(add(j));
        } else {
            // The columns are divided into as many equal ranges as a row has entries, and one
            // column is drawn from each. So they are distinct and ascending.
            for (std::int64_t k = 0; k < size_.entries; ++k) {
                const auto first = k * size_.columns / size_.entries,
                           last = (k + 1) * size_.columns / size_.entries;
                const auto j = first + static_cast<std::int64_t>(
                                           stream.below(static_cast<std::size_t>(last - first)));
                row.entries.emplace_back(j, add(j));
            }
        }
        const auto entries = static_cast<double>(size_.entries > 0 ? size_.entries : size_.columns);
        for (double& score : z) score /= std::sqrt(entries);
        row.label = label(z, stream);
    }

protected:
    virtual double label(const std::vector<double>& z, Stream& stream) const = 0;
    SyntheticSize size_;

private:
    std::int64_t outputs_;
    std::vector<double> weights_;
};

class Ridge final : public NormalScores {
public:
    explicit Ridge(const SyntheticSize& size) : NormalScores(size, 1) {}
    DataShape shape() const override { return {.task = LearningTask::regression, .classes = 0}; }

private:
    double label(const std::vector<double>& z, Stream& stream) const override
    {
        return z[0] + size_.noise * stream.normal();
    }
};

class Softmax final : public NormalScores {
public:
    explicit Softmax(const SyntheticSize& size) : NormalScores(size, size.classes) {}
    DataShape shape() const override
    {
        return {.task = LearningTask::multiclass, .classes = size_.classes};
    }

private:
    double label(const std::vector<double>& z, Stream& stream) const override
    {
        const auto best = std::ranges::max_element(z) - z.begin();
        if (size_.noise > 0 && stream.uniform() < size_.noise)
            return static_cast<double>(stream.below(z.size()));
        return static_cast<double>(best);
    }
};

// As many categorical features as a row has entries, one-hot: feature k has the columns of the k-th
// of equal ranges, and its low ones are popular (a value is the square of a uniform number).
class SparseOneHot final : public Synthetic {
public:
    explicit SparseOneHot(const SyntheticSize& size) : size_(size)
    {
        if (size_.entries == 0) size_.entries = std::min<std::int64_t>(10, size_.columns);
        auto stream = shared_stream(size.seed);
        reserve(weights_, size.columns);
        for (std::int64_t j = 0; j < size.columns; ++j) weights_.push_back(stream.normal());
    }
    DataShape shape() const override { return {.task = LearningTask::binary}; }
    bool ones() const override { return true; }

    void make(std::int64_t number, Row& row) const override
    {
        auto stream = row_stream(size_.seed, number);
        row.entries.clear();
        double score = 0;
        for (std::int64_t k = 0; k < size_.entries; ++k) {
            const auto first = k * size_.columns / size_.entries,
                       last = (k + 1) * size_.columns / size_.entries;
            const double u = stream.uniform();
            const auto j =
                first + static_cast<std::int64_t>(u * u * static_cast<double>(last - first));
            row.entries.emplace_back(j, 1.0);
            score += weights_[static_cast<std::size_t>(j)];
        }
        row.label = stream.uniform() < sigmoid(score) ? 1 : -1;
        if (size_.noise > 0 && stream.uniform() < size_.noise) row.label = -row.label;
    }

private:
    SyntheticSize size_;
    std::vector<double> weights_;
};

template <class Kind>
Entry<MakeSynthetic> entry(std::string name, std::string text, std::string source)
{
    return {std::move(name),
            "",
            std::move(text),
            std::move(source),
            {},
            [](const SyntheticSize& size) -> std::unique_ptr<Synthetic> {
                return std::make_unique<Kind>(size);
            }};
}

}  // namespace

const std::vector<Entry<MakeSynthetic>>& synthetics()
{
    static const std::vector<Entry<MakeSynthetic>> all = {
        entry<TwoGaussians>("logistic", "two Gaussians with logistic labels +1 and -1",
                            "the gradient-coding programs of Tandon et al. 2017"),
        entry<Ridge>("ridge", "standard normal numbers with linear labels and normal noise", ""),
        entry<Softmax>("softmax", "standard normal numbers, labelled by the largest linear score",
                       ""),
        entry<SparseOneHot>("sparse-onehot",
                            "one-hot features with popular and rare values, logistic labels", ""),
    };
    return all;
}

}  // namespace quorate
