// SPDX-License-Identifier: BSD-2-Clause
// The vectors of a run: points, contributions, their sums. All are of one type, float or double,
// which the model says. Code that knows only doubles takes a span of them, and gets an exception
// instead of the numbers of a float vector.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace quorate {

/// The type of numbers in memory: IEEE 754 binary64 or binary32.
enum class Precision : std::uint8_t { binary64, binary32 };

/// Calls f with a number of that type. @return what f returns
template <class F>
auto with_number(Precision precision, F&& f)
{
    return precision == Precision::binary64 ? f(double{}) : f(float{});
}

/// Bytes of a number in memory.
inline std::size_t bytes_of(Precision precision)
{
    return precision == Precision::binary64 ? sizeof(double) : sizeof(float);
}

/// Numbers of either type: a view.
/// @tparam constant  whether they can only be read
template <bool constant>
class NumbersView {
    template <class T>
    using Span = std::span<std::conditional_t<constant, const T, T>>;

public:
    NumbersView() = default;
    NumbersView(const NumbersView&) = default;
    NumbersView& operator=(const NumbersView&) = default;
    NumbersView(Span<double> numbers) : all_(numbers) {}
    NumbersView(Span<float> numbers) : all_(numbers) {}
    /// A view to read of what can be changed.
    NumbersView(const NumbersView<false>& other) requires constant
        : all_(other.visit([](auto numbers) -> decltype(all_) {
            return std::span<const typename decltype(numbers)::element_type>(numbers);
        }))
    {
    }
    /// A view of a vector of one type.
    template <class T, class A>
    requires constant NumbersView(const std::vector<T, A>& numbers) : all_(Span<T>(numbers)) {}
    template <class T, class A>
    requires(!constant) NumbersView(std::vector<T, A>& numbers) : all_(Span<T>(numbers)) {}

    /// @throws std::bad_variant_access if they are of the other type
    template <class T>
    Span<T> of() const
    {
        return std::get<Span<T>>(all_);
    }
    operator Span<double>() const { return of<double>(); }
    operator std::span<const double>() const requires(!constant) { return of<double>(); }
    /// Calls f with a span of their type. @return what f returns
    template <class F>
    decltype(auto) visit(F&& f) const
    {
        return std::visit(std::forward<F>(f), all_);
    }

    std::size_t size() const
    {
        return visit([](auto numbers) { return numbers.size(); });
    }
    bool empty() const { return size() == 0; }
    Precision precision() const { return static_cast<Precision>(all_.index()); }
    std::size_t bytes() const { return size() * bytes_of(precision()); }
    NumbersView subspan(std::size_t first, std::size_t count) const
    {
        return visit([&](auto numbers) { return NumbersView(numbers.subspan(first, count)); });
    }
    /// One number, to look at. Loops are faster in visit().
    double operator[](std::size_t i) const
    {
        return visit([i](auto numbers) { return static_cast<double>(numbers[i]); });
    }
    /// The numbers as doubles: a copy.
    std::vector<double> doubles() const
    {
        return visit(
            [](auto numbers) { return std::vector<double>(numbers.begin(), numbers.end()); });
    }

private:
    std::variant<Span<double>, Span<float>> all_;  // in the order of Precision
};
using Numbers = NumbersView<false>;
using ConstNumbers = NumbersView<true>;

/// Numbers of either type.
class NumberVector {
public:
    NumberVector() = default;
    /// Zeros, or in memory of its own kind what stands there.
    explicit NumberVector(std::size_t size, Precision precision = Precision::binary64,
                          std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
    {
        if (precision == Precision::binary64)
            all_.emplace<Of<double>>(size, memory);
        else
            all_.emplace<Of<float>>(size, memory);
    }
    /// A copy of numbers, in their type or another one.
    explicit NumberVector(ConstNumbers numbers) : NumberVector(numbers, numbers.precision()) {}
    NumberVector(ConstNumbers numbers, Precision precision) : NumberVector(0, precision)
    {
        std::visit(
            [&](auto& own) {
                numbers.visit([&](auto values) { own.assign(values.begin(), values.end()); });
            },
            all_);
    }

    std::size_t size() const { return ConstNumbers(*this).size(); }
    bool empty() const { return size() == 0; }
    Precision precision() const { return static_cast<Precision>(all_.index()); }
    double operator[](std::size_t i) const { return ConstNumbers(*this)[i]; }
    std::vector<double> doubles() const { return ConstNumbers(*this).doubles(); }
    void resize(std::size_t size)
    {
        std::visit([&](auto& own) { own.resize(size); }, all_);
    }
    operator Numbers()
    {
        return std::visit([](auto& own) { return Numbers(std::span(own)); }, all_);
    }
    operator ConstNumbers() const
    {
        return std::visit([](const auto& own) { return ConstNumbers(std::span(own)); }, all_);
    }
    /// @throws std::bad_variant_access if they are floats
    operator std::span<double>() { return std::get<Of<double>>(all_); }
    operator std::span<const double>() const { return std::get<Of<double>>(all_); }
    /// Where they begin.
    const void* address() const
    {
        return std::visit([](const auto& own) -> const void* { return own.data(); }, all_);
    }

private:
    template <class T>
    using Of = std::pmr::vector<T>;
    std::variant<Of<double>, Of<float>> all_;  // in the order of Precision
};

/// The doubles that take as much memory as so many numbers, or a little more.
inline std::size_t doubles_for(std::size_t numbers, Precision precision)
{
    return (numbers * bytes_of(precision) + sizeof(double) - 1) / sizeof(double);
}

/// Numbers of a type in memory that is known by its address only: a view.
inline Numbers numbers_at(void* memory, std::size_t size, Precision precision)
{
    return with_number(
        precision, [&]<class T>(T) { return Numbers(std::span(static_cast<T*>(memory), size)); });
}
inline ConstNumbers numbers_at(const void* memory, std::size_t size, Precision precision)
{
    return with_number(precision, [&]<class T>(T) {
        return ConstNumbers(std::span(static_cast<const T*>(memory), size));
    });
}

/// Sets all numbers to zero.
inline void clear(Numbers numbers)
{
    numbers.visit([](auto all) {
        for (auto& one : all) one = 0;
    });
}

/// to = from, of which both have as many numbers.
inline void copy(ConstNumbers from, Numbers to)
{
    to.visit([&]<class T>(std::span<T> target) {
        from.visit([&](auto source) {
            auto* next = target.data();
            for (const auto one : source) *next++ = static_cast<T>(one);
        });
    });
}

/// to += coefficient * from, in their type, which both have.
inline void add(double coefficient, ConstNumbers from, Numbers to)
{
    to.visit([&]<class T>(std::span<T> target) {
        const auto source = from.of<T>();
        const auto factor = static_cast<T>(coefficient);
        for (std::size_t i = 0; i < target.size(); ++i) target[i] += factor * source[i];
    });
}

}  // namespace quorate
