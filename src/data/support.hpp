// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/index.hpp"

namespace quorate {

/// A set of columns, or of the parameters that belong to them. Only their values cross the wire.
class Support {
public:
    /// All of `columns`.
    static Support all(std::int64_t columns) { return {columns, {}, true}; }
    /// @param chosen  ascending, of 0..columns-1
    static Support of(std::int64_t columns, std::vector<Index> chosen)
    {
        const bool full = static_cast<std::int64_t>(chosen.size()) == columns;
        return {columns, full ? std::vector<Index>() : std::move(chosen), full};
    }

    /// The parameters that these columns own, `per_column` each, and `further` ones behind all.
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

    bool full() const { return full_; }
    std::size_t size() const { return full_ ? static_cast<std::size_t>(columns_) : chosen_.size(); }
    /// The columns in ascending order; empty if all.
    std::span<const Index> chosen() const { return chosen_; }
    bool operator==(const Support&) const = default;

    /// packed[i] = whole[column i]. @param packed  size() elements
    void gather(std::span<const double> whole, double* packed) const
    {
        if (full_)
            std::copy(whole.begin(), whole.end(), packed);
        else
            for (const auto column : chosen_) *packed++ = whole[static_cast<std::size_t>(column)];
    }

    /// whole[column i] += weight * packed[i]
    void add(double weight, std::span<const double> packed, std::span<double> whole) const
    {
        if (full_)
            for (std::size_t i = 0; i < packed.size(); ++i) whole[i] += weight * packed[i];
        else
            for (std::size_t i = 0; i < packed.size(); ++i)
                whole[static_cast<std::size_t>(chosen_[i])] += weight * packed[i];
    }

    /// sum over i of packed[i] * whole[column i]
    double dot(std::span<const double> packed, std::span<const double> whole) const
    {
        double sum = 0;
        for (std::size_t i = 0; i < packed.size(); ++i)
            sum += packed[i] * whole[full_ ? i : static_cast<std::size_t>(chosen_[i])];
        return sum;
    }

private:
    Support(std::int64_t columns, std::vector<Index> chosen, bool full)
        : columns_(columns), chosen_(std::move(chosen)), full_(full)
    {
    }
    std::int64_t columns_;
    std::vector<Index> chosen_;
    bool full_;
};

}  // namespace quorate
