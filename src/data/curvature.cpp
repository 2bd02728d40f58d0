// SPDX-License-Identifier: BSD-2-Clause
#include "data/curvature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/host.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "data/row_matrix.hpp"

namespace quorate {

namespace {

double square(std::span<const double> x)
{
    double sum = 0;
    for (const double element : x) sum += element * element;
    return sum;
}

// The largest number of a row or of many, and the column that it stands in.
double largest_of(const RowView& rows, std::int64_t& column)
{
    double largest = 0;
    const auto see = [&](double value, std::int64_t at) {
        if (std::abs(value) <= largest) return;
        largest = std::abs(value);
        column = at;
    };
    for (std::int64_t i = 0; i < rows.rows; ++i)
        if (rows.dense)
            for (std::int64_t c = 0; c < rows.columns; ++c)
                see(rows.dense[i * rows.columns + c], c);
        else
            for (auto k = rows.start[i]; k < rows.start[i + 1]; ++k)
                see(rows.value ? rows.value[k] : 1, rows.column[k]);
    return largest;
}

// Returns |x|^2 of a row whose numbers are multiplied with `unit`.
double square_of(const RowView& rows, std::int64_t i, double unit)
{
    if (!rows.dense && !rows.value)
        return static_cast<double>(rows.start[i + 1] - rows.start[i]) * unit * unit;
    const auto* first = rows.dense ? rows.dense + i * rows.columns : rows.value + rows.start[i];
    const auto* end = rows.dense ? first + rows.columns : rows.value + rows.start[i + 1];
    double sum = 0;
    for (; first < end; ++first) sum += (*first * unit) * (*first * unit);
    return sum;
}

// All training rows, as matrices of about a million entries. They stay in memory if they are small,
// else they are read again each time.
class TrainingRows {
public:
    TrainingRows(const DataSet& data, double held_bytes)
        : data_(data), holds_(data.training_bytes() <= held_bytes)
    {
    }
    /// Calls f(matrix) for each matrix, in the order of their rows.
    template <class F>
    void for_each(F f)
    {
        if (!held_.empty()) {
            for (const auto& one : held_) f(*one);
            return;
        }
        constexpr double entries = 1 << 20;
        const auto rows = data_.rows(Split::train);
        const auto of_a_row =
            static_cast<double>(data_.entries(Split::train)) / static_cast<double>(rows);
        const auto size = static_cast<std::int64_t>(entries / std::max(1.0, of_a_row)) + 1;
        for (std::int64_t first = 0; first < rows; first += size) {
            auto some = std::make_unique<const RowMatrix>(
                data_, RowSet{Split::train, first, std::min(size, rows - first)});
            f(*some);
            if (holds_) held_.push_back(std::move(some));
        }
    }

private:
    const DataSet& data_;
    bool holds_;
    std::vector<std::unique_ptr<const RowMatrix>> held_;
};

// The squares of the lengths of rows, whose numbers are multiplied with a power of two first, which
// is not 1 if a square would overflow or underflow.
struct Lengths {
    explicit Lengths(TrainingRows& all)
    {
        double largest = 0;
        std::int64_t column = 0;
        const auto measure = [&](const RowMatrix& some) {
            const auto& rows = some.view();
            largest = std::max(largest, largest_of(rows, column));
            for (std::int64_t i = 0; i < rows.rows; ++i)
                longest = std::max(longest, square_of(rows, i, unit));
        };
        all.for_each(measure);
        if (largest == 0 || (longest > 1e-200 && longest < 1e200)) return;
        unit = std::ldexp(1, std::clamp(-std::ilogb(largest), -1000, 1000));
        longest = 0;
        all.for_each(measure);
    }
    double unit = 1;
    double longest = 0;  // the largest square
};

// A vector of PETSc, to be read and written by one thread.
struct Elements {
    explicit Elements(std::int64_t size)
    {
        const std::lock_guard lock(libraries());
        petsc::check(VecCreateSeq(PETSC_COMM_SELF, static_cast<PetscInt>(size), vector.made()),
                     "VecCreateSeq");
    }
    std::span<double> get()
    {
        const std::lock_guard lock(libraries());
        PetscInt size = 0;
        PetscScalar* first = nullptr;
        petsc::check(VecGetLocalSize(vector.get(), &size), "VecGetLocalSize");
        petsc::check(VecGetArray(vector.get(), &first), "VecGetArray");
        const std::span<double> all(first, static_cast<std::size_t>(size));
        petsc::check(VecRestoreArray(vector.get(), &first), "VecRestoreArray");
        return all;
    }
    petsc::Vector vector;
};

// Sets next = X'X v by products with the matrices of X, times the square of the unit.
// @return v'X'X v, times the same
double multiply(TrainingRows& all, const Elements& v, double unit, Elements& next)
{
    double quotient = 0;
    std::ranges::fill(next.get(), 0.0);
    all.for_each([&](const RowMatrix& some) {
        const std::lock_guard lock(libraries());
        Elements scores(some.view().rows);
        petsc::check(MatMult(some.matrix(), v.vector.get(), scores.vector.get()), "MatMult");
        for (auto& score : scores.get()) {
            score *= unit;
            quotient += score * score;
        }
        petsc::check(MatMultTransposeAdd(some.matrix(), scores.vector.get(), next.vector.get(),
                                         next.vector.get()),
                     "MatMultTransposeAdd");
    });
    for (auto& element : next.get()) element *= unit;
    return quotient;
}

}  // namespace

Curvature measured_curvature(const DataSet& data, double held_bytes)
{
    const auto entries = static_cast<double>(data.entries(Split::train));
    const bool small = entries <= 4 << 20;
    const int iterations = small ? 100 : 20;
    const double tolerance = small ? 1e-6 : 1e-4;
    const auto rows = static_cast<double>(data.rows(Split::train));
    need_memory(2.0 * sizeof(double) * static_cast<double>(data.columns()),
                fmt::format("to measure {} columns", data.columns()));
    TrainingRows all(data, std::min(held_bytes, static_cast<double>(free_memory()) / 4));
    const Lengths lengths(all);
    Elements v(data.columns()), next(data.columns());
    Stream random(0, Purpose::probe);
    for (auto& element : v.get()) element = random.normal();
    double eigenvalue = 0;  // of numbers that are multiplied with the unit
    for (int i = 0; i < iterations; ++i) {
        const double norm = std::sqrt(square(v.get()));
        if (norm == 0) break;  // all rows are zero
        for (auto& element : v.get()) element /= norm;
        const double quotient = multiply(all, v, lengths.unit, next) / rows;
        const double before = std::exchange(eigenvalue, quotient);
        if (std::abs(quotient - before) <= tolerance * quotient) break;
        std::swap(v, next);
    }
    const auto in_full = [&](double square) { return square / lengths.unit / lengths.unit; };
    // One row alone has the eigenvalue |x|^2 / rows, and others only add to it.
    return {in_full(std::max(eigenvalue, lengths.longest / rows)), in_full(lengths.longest)};
}

LargestNumber largest_number(const DataSet& data)
{
    LargestNumber all{};
    TrainingRows(data, 0).for_each([&](const RowMatrix& some) {
        std::int64_t column = 0;
        if (const auto largest = largest_of(some.view(), column); largest > all.size)
            all = {largest, column};
    });
    return all;
}

Curvature curvature_of(const DataSet& data)
{
    const auto attributes = data.attributes();
    const auto number = [&](const char* name) {
        const auto at = attributes.find(name);
        return at == attributes.end() ? std::nullopt : to_real(at->second);
    };
    const auto eigenvalue = number("eigenvalue"), row_square = number("row_square");
    if (eigenvalue && row_square) return {*eigenvalue, *row_square};
    return measured_curvature(data);
}

}  // namespace quorate
