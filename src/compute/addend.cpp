// SPDX-License-Identifier: BSD-2-Clause
#include "compute/addend.hpp"

#include <array>

namespace quorate {

namespace {

// Addends that are read in one pass: the sum is loaded and stored once for all of them.
constexpr std::size_t at_a_time = 4;

bool alike(const Addend& one, const Addend& other)
{
    return one.support.full() && other.support.full() && one.packed.index() == other.packed.index();
}

// How many at the front can be read in one pass.
std::size_t pass(std::span<const Addend> addends)
{
    if (addends.size() < at_a_time) return 1;
    for (std::size_t i = 0; i < at_a_time; ++i)
        if (!alike(addends[0], addends[i])) return 1;
    return at_a_time;
}

template <class Number, class T>
void add_dense(const std::array<const Number*, at_a_time>& from,
               const std::array<T, at_a_time>& weights, T* __restrict sum, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i) {
        T element = sum[i];
        for (std::size_t k = 0; k < at_a_time; ++k)
            element += weights[k] * static_cast<T>(static_cast<double>(from[k][i]));
        sum[i] = element;
    }
}

}  // namespace

void add(std::span<const Addend> addends, Numbers range, std::size_t first)
{
    range.visit([&]<class T>(std::span<T> sum) {
        while (!addends.empty()) {
            const auto count = pass(addends);
            std::visit(
                [&]<class Number>(std::span<const Number> packed) {
                    if (count == 1)
                        return addends[0].support.add(addends[0].weight, packed, sum, first);
                    std::array<const Number*, at_a_time> from;
                    std::array<T, at_a_time> weights;
                    for (std::size_t k = 0; k < at_a_time; ++k) {
                        from[k] =
                            std::get<std::span<const Number>>(addends[k].packed).data() + first;
                        weights[k] = static_cast<T>(addends[k].weight);
                    }
                    add_dense(from, weights, sum.data(), sum.size());
                },
                addends[0].packed);
            addends = addends.subspan(count);
        }
    });
}

}  // namespace quorate
