// SPDX-License-Identifier: BSD-2-Clause
#include "code/tight_frame.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"

namespace quorate {

namespace {

enum FrameDraw : std::uint32_t { frame_columns = 200, frame_rows };

// Multiplies with the Hadamard matrix of that size, which is a power of two.
void transform(std::span<double> values)
{
    for (std::size_t half = 1; half < values.size(); half *= 2)
        for (std::size_t first = 0; first < values.size(); first += 2 * half)
            for (std::size_t i = first; i < first + half; ++i) {
                const double sum = values[i] + values[i + half];
                values[i + half] = values[i] - values[i + half];
                values[i] = sum;
            }
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, FrameDraw draw)
{
    std::vector<std::size_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    Stream(seed, Purpose::code, draw).shuffle(numbers);
    return numbers;
}

// Has its own columns at random among those of a frame, and its rows in random order.
class Shuffled : public TightFrame {
public:
    Shuffled(std::int64_t n, std::size_t columns, std::size_t rows, double scale,
             std::uint64_t seed)
        : columns_(columns), scale_(scale), place_(shuffled(columns, seed, frame_columns)),
          row_(shuffled(rows, seed, frame_rows))
    {
        place_.resize(static_cast<std::size_t>(n));
    }

    std::int64_t rows() const override { return std::ssize(row_); }
    void encode(std::span<const double> column, std::span<double> encoded) const override
    {
        std::vector<double> spread(columns_), all(row_.size());
        for (std::size_t j = 0; j < place_.size(); ++j) spread[place_[j]] = scale_ * column[j];
        multiply(spread, all);
        for (std::size_t i = 0; i < row_.size(); ++i) encoded[row_[i]] = all[i];
    }

private:
    // Of the whole frame.
    virtual void multiply(std::span<const double> column, std::span<double> encoded) const = 0;

    std::size_t columns_;
    double scale_;
    std::vector<std::size_t> place_, row_;  // by own column, by row of the frame
};

class Hadamard final : public Shuffled {
public:
    Hadamard(std::int64_t n, std::size_t size, std::uint64_t seed)
        : Shuffled(n, size, size, 1 / std::sqrt(static_cast<double>(n)), seed)
    {
    }

private:
    void multiply(std::span<const double> column, std::span<double> encoded) const override
    {
        std::ranges::copy(column, encoded.begin());
        transform(encoded);
    }
};

// A point has as many rows as there are points. In its rows, the pairs that it is in have the
// elements of a Hadamard matrix of that size, of which they skip one row.
class Steiner final : public Shuffled {
public:
    Steiner(std::int64_t n, std::size_t points, std::uint64_t seed)
        : Shuffled(n, points * (points - 1) / 2, points * points,
                   std::sqrt(static_cast<double>(points) / (2 * static_cast<double>(n))), seed),
          points_(points)
    {
    }

private:
    void multiply(std::span<const double> column, std::span<double> encoded) const override
    {
        std::ranges::fill(encoded, 0.0);
        std::size_t pair = 0;
        for (std::size_t a = 0; a < points_; ++a)
            for (std::size_t b = a + 1; b < points_; ++b, ++pair) {
                encoded[a * points_ + b] = column[pair];
                encoded[b * points_ + a + 1] = column[pair];
            }
        for (std::size_t a = 0; a < points_; ++a) transform(encoded.subspan(a * points_, points_));
    }

    std::size_t points_;
};

}  // namespace

std::unique_ptr<TightFrame> hadamard_frame(std::int64_t n, double redundancy, std::uint64_t seed)
{
    std::size_t size = 1;
    while (static_cast<double>(size) < redundancy * static_cast<double>(n)) size *= 2;
    return std::make_unique<Hadamard>(n, size, seed);
}

std::unique_ptr<TightFrame> steiner_frame(std::int64_t n, std::uint64_t seed)
{
    std::size_t points = 2;
    while (points * (points - 1) / 2 < static_cast<std::size_t>(n)) points *= 2;
    return std::make_unique<Steiner>(n, points, seed);
}

}  // namespace quorate
