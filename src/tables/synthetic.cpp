// SPDX-License-Identifier: BSD-2-Clause
#include "tables/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/host.hpp"
#include "base/random.hpp"

namespace quorate {

namespace {

using Reals = std::vector<double>;

// Random stream 0 makes what all rows share, stream i + 1 makes row i.
Stream shared_stream(std::uint64_t seed) { return {seed, Purpose::generated_data}; }

Stream row_stream(std::uint64_t seed, std::int64_t number)
{
    const auto row = static_cast<std::uint64_t>(number) + 1;
    return {seed, Purpose::generated_data, static_cast<std::uint32_t>(row),
            static_cast<std::uint32_t>(row >> 32)};
}

// Draws the weights of a model, which all copies of a function share.
// @throws BadInput if there is too little memory for them
template <class Draw>
std::shared_ptr<const Reals> drawn(std::int64_t count, Draw draw)
{
    need_memory(sizeof(double) * static_cast<double>(count),
                fmt::format("to make {} weights", count));
    auto weights = std::make_shared<Reals>(static_cast<std::size_t>(count));
    for (auto& weight : *weights) weight = draw();
    return weights;
}

// Entries of a row.
std::int64_t entries_of(const SyntheticSize& size)
{
    return size.entries > 0 ? size.entries : size.columns;
}

// Fills a row: all columns, or as many as it has entries.
// @param column  that of entry k, ascending  @param value  that of a column
template <class Column, class Value>
void fill(Synthetic::Row& row, const SyntheticSize& size, Column column, Value value)
{
    row.entries.clear();
    row.dense.clear();
    if (size.entries == 0)
        for (std::int64_t j = 0; j < size.columns; ++j) row.dense.push_back(value(j));
    for (std::int64_t k = 0; k < size.entries; ++k) {
        const auto j = column(k);
        row.entries.emplace_back(j, value(j));
    }
}

// Draws distinct columns for the entries of a row.
std::vector<std::int64_t> some_columns(const SyntheticSize& size, Stream& stream)
{
    std::vector<std::int64_t> chosen;
    while (std::ssize(chosen) < size.entries) {
        const auto j =
            static_cast<std::int64_t>(stream.below(static_cast<std::size_t>(size.columns)));
        const auto at = std::ranges::lower_bound(chosen, j);
        if (at == chosen.end() || *at != j) chosen.insert(at, j);
    }
    return chosen;
}

// The columns are divided into as many equal ranges as a row has entries, and one column is taken
// from each. So they are distinct and ascending. @return where range k begins
std::int64_t range(const SyntheticSize& size, std::int64_t k)
{
    return k * size.columns / size.entries;
}

// A label +1 with probability sigma(score), which is turned with the probability of the noise.
double logistic_label(double score, const SyntheticSize& size, Stream& stream)
{
    const double label = stream.uniform() < 1 / (1 + std::exp(-score)) ? 1 : -1;
    return size.noise > 0 && stream.uniform() < size.noise ? -label : label;
}

// The synthetic data of the gradient-coding programs: two Gaussians with means +-(1.5/p) beta and
// standard deviation 10/sqrt(p), beta_j = +-1, and logistic labels of the score x.beta.
Synthetic two_gaussians(const SyntheticSize& size)
{
    auto shared = shared_stream(size.seed);
    const auto beta = drawn(size.columns, [&] { return shared() & 1 ? 1.0 : -1.0; });
    return {.shape = {.task = LearningTask::binary},
            .make = [size, beta](std::int64_t number, Synthetic::Row& row) {
                const auto p = static_cast<double>(entries_of(size));
                const double mean = 1.5 / p, deviation = 10 / std::sqrt(p);
                auto stream = row_stream(size.seed, number);
                const double side = stream() & 1 ? mean : -mean;
                double score = 0;
                const auto chosen = some_columns(size, stream);
                fill(
                    row, size, [&](std::int64_t k) { return chosen[static_cast<std::size_t>(k)]; },
                    [&](std::int64_t column) {
                        const double sign = (*beta)[static_cast<std::size_t>(column)];
                        const double x = side * sign + deviation * stream.normal();
                        score += x * sign;
                        return x;
                    });
                row.label = logistic_label(score, size, stream);
            }};
}

// x of standard normals, z = x'W / sqrt(entries of x) with W of standard normals.
// @param label  of a row with scores z
Synthetic normal_scores(const SyntheticSize& size, const DataShape& shape, std::int64_t outputs,
                        double (*label)(const Reals& z, const SyntheticSize&, Stream&))
{
    auto shared = shared_stream(size.seed);
    const auto weights = drawn(size.columns * outputs, [&] { return shared.normal(); });
    return {.shape = shape, .make = [=](std::int64_t number, Synthetic::Row& row) {
                auto stream = row_stream(size.seed, number);
                Reals z(static_cast<std::size_t>(outputs));
                fill(
                    row, size,
                    [&](std::int64_t k) {
                        const auto first = range(size, k), width = range(size, k + 1) - first;
                        return first + static_cast<std::int64_t>(
                                           stream.below(static_cast<std::size_t>(width)));
                    },
                    [&](std::int64_t column) {
                        const double x = stream.normal();
                        for (std::size_t c = 0; c < z.size(); ++c)
                            z[c] += x * (*weights)[static_cast<std::size_t>(column * outputs) + c];
                        return x;
                    });
                for (double& score : z) score /= std::sqrt(static_cast<double>(entries_of(size)));
                row.label = label(z, size, stream);
            }};
}

Synthetic ridge(const SyntheticSize& size)
{
    return normal_scores(size, {.task = LearningTask::regression, .classes = 0}, 1,
                         [](const Reals& z, const SyntheticSize& its_size, Stream& stream) {
                             return z[0] + its_size.noise * stream.normal();
                         });
}

Synthetic softmax(const SyntheticSize& size)
{
    return normal_scores(size, {.task = LearningTask::multiclass, .classes = size.classes},
                         size.classes,
                         [](const Reals& z, const SyntheticSize& its_size, Stream& stream) {
                             const auto best = std::ranges::max_element(z) - z.begin();
                             if (its_size.noise > 0 && stream.uniform() < its_size.noise)
                                 return static_cast<double>(stream.below(z.size()));
                             return static_cast<double>(best);
                         });
}

// As many categorical features as a row has entries, one-hot: feature k has the columns of the k-th
// range, and its low ones are popular (a value is the square of a uniform number).
Synthetic sparse_one_hot(const SyntheticSize& given)
{
    auto size = given;
    if (size.entries == 0) size.entries = std::min<std::int64_t>(10, size.columns);
    auto shared = shared_stream(size.seed);
    const auto weights = drawn(size.columns, [&] { return shared.normal(); });
    return {.shape = {.task = LearningTask::binary},
            .ones = true,
            .make = [size, weights](std::int64_t number, Synthetic::Row& row) {
                auto stream = row_stream(size.seed, number);
                double score = 0;
                fill(
                    row, size,
                    [&](std::int64_t k) {
                        const auto first = range(size, k), width = range(size, k + 1) - first;
                        const double u = stream.uniform();
                        return first +
                               static_cast<std::int64_t>(u * u * static_cast<double>(width));
                    },
                    [&](std::int64_t column) {
                        score += (*weights)[static_cast<std::size_t>(column)];
                        return 1.0;
                    });
                row.label = logistic_label(score, size, stream);
            }};
}

// No data, but the numbers of samples that a model of Python knows (quorate.torch).
Synthetic samples(const SyntheticSize&)
{
    return {.shape = {.task = LearningTask::regression},
            .make = [](std::int64_t number, Synthetic::Row& row) {
                row = {.entries = {}, .dense = {static_cast<double>(number)}, .label = 0};
            }};
}

Entry<MakeSynthetic> entry(std::string name, std::string text, MakeSynthetic make,
                           std::string source = "")
{
    return {std::move(name), "", std::move(text), std::move(source), {}, make};
}

}  // namespace

const std::vector<Entry<MakeSynthetic>>& synthetics()
{
    static const std::vector<Entry<MakeSynthetic>> all = {
        entry("logistic", "two Gaussians with logistic labels +1 and -1", two_gaussians,
              "the gradient-coding programs of Tandon et al. 2017"),
        entry("ridge", "standard normal numbers with linear labels and normal noise", ridge),
        entry("softmax", "standard normal numbers, labelled by the largest linear score", softmax),
        entry("sparse-onehot", "one-hot features with popular and rare values, logistic labels",
              sparse_one_hot),
        entry("samples", "the numbers of samples that a model of Python knows, in one column",
              samples),
    };
    return all;
}

}  // namespace quorate
