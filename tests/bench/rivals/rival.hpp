// SPDX-License-Identifier: BSD-2-Clause
// What the rivals share: rows of a data set, the plain loop over them, the update, and what they
// print. The rows are those that Quorate's worker would hold, read by the same class; nothing else
// here is Quorate's.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "code/partition.hpp"
#include "data/data_set.hpp"

namespace rival {

using quorate::Index;

/// Ends the program with a message.
[[noreturn]] inline void refuse(const std::string& why)
{
    fmt::print(stderr, "rival: {}\n", why);
    std::exit(2);
}

/// The number that follows `--name`.
inline double number(int argc, char** argv, const char* name, double otherwise)
{
    for (int i = 2; i + 1 < argc; i += 2)
        if (std::strcmp(argv[i], name) == 0) return std::atof(argv[i + 1]);
    return otherwise;
}

/// What all of them are told: FILE --rounds N --step X.
struct Problem {
    quorate::DataSet data;
    int rounds;
    double step;

    Problem(int argc, char** argv)
        : data(argc > 1 ? argv[1] : ""),
          rounds(static_cast<int>(number(argc, argv, "--rounds", 110))),
          step(number(argc, argv, "--step", 10))
    {
        if (!data.ones()) refuse("the data set has values that are not one");
    }
    std::int64_t rows() const { return data.rows(quorate::Split::train); }
    std::size_t columns() const { return static_cast<std::size_t>(data.columns()); }
};

/// Sparse rows whose values are one.
struct Rows {
    std::vector<Index> start, column;
    std::vector<double> label;

    /// `count` partitions of `parts`, from `part` on.
    Rows(const quorate::DataSet& data, int parts, int part, int count = 1)
    {
        const auto all = data.rows(quorate::Split::train);
        const auto first = quorate::partition(all, parts, part).first;
        const auto last = quorate::partition(all, parts, part + count - 1);
        auto raw = data.read(quorate::Split::train, first, last.first + last.second - first);
        start.assign(raw.start.begin(), raw.start.end());
        column = std::move(raw.column);
        label = std::move(raw.label);
    }
    std::size_t size() const { return label.size(); }

    /// Numbers the columns that the rows touch anew, in their order. @return them
    std::vector<Index> keep_touched(std::size_t columns)
    {
        std::vector<Index> number(columns, -1), touched;
        for (const auto j : column) number[static_cast<std::size_t>(j)] = 0;
        for (std::size_t j = 0; j < columns; ++j)
            if (number[j] == 0) {
                number[j] = static_cast<Index>(touched.size());
                touched.push_back(static_cast<Index>(j));
            }
        for (auto& j : column) j = number[static_cast<std::size_t>(j)];
        return touched;
    }

    /// The score of a row. Four sums, because with one each addition waits for the one before.
    double score(std::size_t i, const double* w) const
    {
        double z[4] = {};
        auto k = start[i];
        for (; k + 4 <= start[i + 1]; k += 4)
            for (int lane = 0; lane < 4; ++lane) z[lane] += w[column[k + lane]];
        for (; k < start[i + 1]; ++k) z[0] += w[column[k]];
        return (z[0] + z[1]) + (z[2] + z[3]);
    }

    /// Adds the gradient of the logistic loss of rows [first, last) to g, without the loss.
    void add_gradient(std::size_t first, std::size_t last, const double* w, double* g) const
    {
        for (auto i = first; i < last; ++i) {
            const double r = -label[i] / (1 + std::exp(label[i] * score(i, w)));
            for (auto k = start[i]; k < start[i + 1]; ++k) g[column[k]] += r;
        }
    }

    /// The sum of the losses.
    double loss(const double* w) const
    {
        double sum = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            const double m = label[i] * score(i, w);
            sum += std::max(0.0, -m) + std::log1p(std::exp(-std::abs(m)));
        }
        return sum;
    }
};

/// The update that Quorate calls agd-eh, for the mean loss + |w|^2 / rows.
class Update {
public:
    explicit Update(const Problem& problem)
        : rows_(static_cast<double>(problem.rows())), step_(problem.step), last_(problem.columns())
    {
    }

    /// Takes a step along a sum of gradients, `scale` of which are that of all rows, and clears it.
    void operator()(double* w, double* sum, double scale = 1)
    {
        const double t = t_++, momentum = t > 0 ? (t - 1) / (t + 2) : 0;
        const double kept = (t > 0 ? momentum : -1) + 1 - 2 * step_ / rows_;
        const double step = scale * step_ / rows_;
        for (std::size_t j = 0; j < last_.size(); ++j) {
            const double next = kept * w[j] - momentum * last_[j] - step * sum[j];
            last_[j] = w[j];
            w[j] = next;
            sum[j] = 0;
        }
    }

private:
    double rows_, step_, t_ = 0;
    std::vector<double> last_;
};

/// When each round ended, seconds after the first began.
class Clock {
public:
    void round() { ends_.push_back((now() - begin_).count()); }
    /// Prints what the table is made of. @param more  further members, as JSON
    void print(double mean_loss, const std::string& more = "") const
    {
        fmt::print("{{\"ends\": [{:.7f}], \"loss\": {:.12g}{}}}\n", fmt::join(ends_, ", "),
                   mean_loss, more);
    }

private:
    using Time = std::chrono::duration<double>;
    static Time now() { return std::chrono::steady_clock::now().time_since_epoch(); }
    Time begin_ = now();
    std::vector<double> ends_;
};

}  // namespace rival
