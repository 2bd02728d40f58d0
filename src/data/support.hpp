// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/index.hpp"
#include "base/wire.hpp"
#include "data/column_set.hpp"

namespace quorate {

/// The columns that a shard's rows touch, or the parameters that belong to them. Messages hold only
/// the values at these. "Whole" vectors have an element for each column, "packed" ones for each
/// column of the support. Local; operations cost O(size()).
class Support {
public:
    /// The support that holds all of so many columns.
    static Support all(std::int64_t columns) { return {columns, {}, true}; }
    /// The support that holds some columns.
    /// @param columns  how many there are  @param chosen  those that it holds, ascending, from 0
    static Support of(std::int64_t columns, std::vector<Index> chosen)
    {
        const bool full = static_cast<std::int64_t>(chosen.size()) == columns;
        return {columns, full ? std::vector<Index>() : std::move(chosen), full};
    }

    /// Turns a support of columns into one of parameters: those that its columns own, and the
    /// shared ones.
    /// @param per_column  parameters of each column
    /// @param further     shared parameters, which stand behind those of all columns
    Support widened(std::int64_t per_column, std::int64_t further) const
    {
        const auto all_of = columns_ * per_column;
        if (full_ || per_column == 0) return all(all_of + further);
        if (per_column == 1 && further == 0) return *this;
        std::vector<Index> parameters;
        for (const auto column : chosen_)
            for (std::int64_t i = 0; i < per_column; ++i)
                parameters.push_back(static_cast<Index>(column * per_column + i));
        for (std::int64_t i = 0; i < further; ++i)
            parameters.push_back(static_cast<Index>(all_of + i));
        return {all_of + further, std::move(parameters), false};
    }

    /// Returns what it holds of the columns first..last-1, numbered from `first`.
    Support slice(std::int64_t first, std::int64_t last) const
    {
        if (full_) return all(last - first);
        std::vector<Index> held(chosen_.begin() + place(first), chosen_.begin() + place(last));
        for (auto& column : held) column -= static_cast<Index>(first);
        return of(last - first, std::move(held));
    }
    /// How many it holds of the columns first..last-1. O(log size()).
    std::size_t count(std::int64_t first, std::int64_t last) const
    {
        return static_cast<std::size_t>(full_ ? last - first : place(last) - place(first));
    }

    /// Whether it holds all columns.
    bool full() const { return full_; }
    /// How many columns it holds.
    std::size_t size() const { return full_ ? static_cast<std::size_t>(columns_) : chosen_.size(); }
    /// How many columns there are, held or not.
    std::int64_t whole() const { return columns_; }
    /// The columns that it holds, ascending; empty if it holds all.
    std::span<const Index> chosen() const { return chosen_; }
    bool operator==(const Support&) const = default;

    /// Sets packed[i] = whole[column i]. @param packed  size() elements, of any kind of number
    template <class Number>
    void gather(ConstNumbers whole, Number* packed) const
    {
        whole.visit([&](auto numbers) {
            if (full_)
                convert(numbers, packed);
            else
                for (const auto column : chosen_)
                    *packed++ = static_cast<Number>(numbers[static_cast<std::size_t>(column)]);
        });
    }
    /// Returns them in the type of the whole.
    NumberVector gathered(ConstNumbers whole) const
    {
        NumberVector packed(size(), whole.precision());
        Numbers(packed).visit([&](auto numbers) { gather(whole, numbers.data()); });
        return packed;
    }

    /// Sets whole[column i] = 0.
    void clear(Numbers whole) const
    {
        if (full_) return quorate::clear(whole);
        whole.visit([this](auto numbers) {
            for (const auto column : chosen_) numbers[static_cast<std::size_t>(column)] = 0;
        });
    }
    /// Sets packed[i] = whole[column first + i] for `count` columns.
    template <class Number>
    void gather(ConstNumbers whole, std::size_t first, std::size_t count, Number* packed) const
    {
        whole.visit([&](auto numbers) {
            for (auto i = first; i < first + count; ++i)
                *packed++ =
                    static_cast<Number>(numbers[full_ ? i : static_cast<std::size_t>(chosen_[i])]);
        });
    }
    /// Sets packed[i] = range[column i - first], for the columns that a range has: those from
    /// `first` on. @return how many it holds of these
    template <class Number>
    std::size_t gather_range(ConstNumbers range, std::int64_t first, Number* packed) const
    {
        const auto last = first + static_cast<std::int64_t>(range.size());
        range.visit([&](auto numbers) {
            if (full_) return convert(numbers, packed);
            const std::span held(chosen_.begin() + place(first), chosen_.begin() + place(last));
            for (const auto column : held)
                *packed++ = static_cast<Number>(numbers[static_cast<std::size_t>(column - first)]);
        });
        return count(first, last);
    }
    /// Sets whole[column first + i] = packed[i].
    template <class Number>
    void scatter(std::span<const Number> packed, std::size_t first, Numbers whole) const
    {
        whole.visit([&]<class T>(std::span<T> numbers) {
            for (const auto value : packed) {
                numbers[full_ ? first : static_cast<std::size_t>(chosen_[first])] =
                    static_cast<T>(static_cast<double>(value));
                ++first;
            }
        });
    }

    /// Adds: whole[column i] += weight * packed[i].
    /// @tparam List  a span or vector of any kind of number
    template <class List>
    void add(double weight, const List& packed, std::span<double> whole) const
    {
        add(weight, packed, whole, 0);
    }
    /// The same of numbers of one type.
    void add(double weight, ConstNumbers packed, Numbers whole) const
    {
        whole.visit(
            [&]<class T>(std::span<T> numbers) { add(weight, packed.of<T>(), numbers, 0); });
    }
    /// Adds only what belongs to the columns of a range, which begins with column `first`, in its
    /// type. O(range.size() + log size()).
    template <class List, class T>
    void add(double weight, const List& packed, std::span<T> range, std::size_t first) const
    {
        const auto factor = static_cast<T>(weight);
        const auto number = [](auto one) { return static_cast<T>(static_cast<double>(one)); };
        if (full_) {
            for (std::size_t i = 0; i < range.size(); ++i)
                range[i] += factor * number(packed[first + i]);
            return;
        }
        const auto end =
            static_cast<std::size_t>(place(static_cast<std::int64_t>(first + range.size())));
        for (auto i = static_cast<std::size_t>(place(static_cast<std::int64_t>(first))); i < end;
             ++i)
            range[static_cast<std::size_t>(chosen_[i]) - first] += factor * number(packed[i]);
    }

    /// Returns the inner product, the sum over i of packed[i] * whole[column i].
    template <class List>
    double dot(const List& packed, std::span<const double> whole) const
    {
        double sum = 0;
        for (std::size_t i = 0; i < packed.size(); ++i)
            sum += static_cast<double>(packed[i]) *
                   whole[full_ ? i : static_cast<std::size_t>(chosen_[i])];
        return sum;
    }

private:
    Support(std::int64_t columns, std::vector<Index> chosen, bool full)
        : columns_(columns), chosen_(std::move(chosen)), full_(full)
    {
    }
    // How many of the chosen ones come before a column.
    std::ptrdiff_t place(std::int64_t column) const
    {
        return std::ranges::lower_bound(chosen_, column) - chosen_.begin();
    }
    std::int64_t columns_;
    std::vector<Index> chosen_;
    bool full_;
};

/// The support that holds what at least one of these holds. O(columns + their sizes).
/// @param columns  how many there are
inline Support union_of(std::span<const Support* const> all, std::int64_t columns)
{
    ColumnSet held(columns);
    for (const auto* one : all) {
        if (one->full()) return Support::all(columns);
        for (const auto column : one->chosen()) held.add(column);
    }
    return Support::of(columns, held.list());
}

}  // namespace quorate
