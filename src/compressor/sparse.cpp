// SPDX-License-Identifier: BSD-2-Clause
// Compressors that send some of the numbers and none of the others.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "compressor/bytes.hpp"
#include "compressor/compressor.hpp"

namespace quorate {

namespace {

// How many numbers of a vector are sent: at least one.
std::size_t kept_of(double fraction, std::size_t length)
{
    const auto most = std::ceil(fraction * static_cast<double>(length));
    return std::min(length, std::max<std::size_t>(1, static_cast<std::size_t>(most)));
}

// Calls f with an index of the narrowest type for vectors of this length.
template <class F>
auto with_index(std::size_t length, F&& f)
{
    if (length <= std::numeric_limits<std::uint16_t>::max()) return f(std::uint16_t{});
    return f(std::uint32_t{});
}

// The k largest by magnitude, each with its place. Of equal ones the first are taken, and NaN is
// larger than all numbers, so that a run that diverges shows it.
class TopK final : public Compressor {
public:
    TopK(const TopKCompressor& given, const CompressorSetup& setup)
        : fraction_(given.fraction), wire_(setup.wire)
    {
    }
    std::size_t bytes(std::size_t length) const override
    {
        const auto index = with_index(length, [](auto one) { return sizeof one; });
        return kept_of(fraction_, length) * (index + bytes_of(wire_));
    }
    void compress(ConstNumbers values, Stream&, std::byte* to) const override
    {
        const auto size = values.size();
        std::vector<std::size_t> order(size);
        std::iota(order.begin(), order.end(), 0);
        values.visit([&](auto all) {
            const auto magnitude = [&](std::size_t i) {
                return std::isnan(all[i]) ? std::numeric_limits<double>::infinity()
                                          : std::abs(static_cast<double>(all[i]));
            };
            const auto larger = [&](std::size_t i, std::size_t j) {
                const auto one = magnitude(i), other = magnitude(j);
                return one != other ? one > other : i < j;
            };
            const auto behind =
                order.begin() + static_cast<std::ptrdiff_t>(kept_of(fraction_, size));
            if (behind != order.end()) std::nth_element(order.begin(), behind, order.end(), larger);
            std::sort(order.begin(), behind);
            BytesOut out(to);
            with_index(size, [&]<class Index>(Index) {
                with_number(wire_, [&]<class Number>(Number) {
                    for (auto i = order.begin(); i != behind; ++i) {
                        out.put(static_cast<Index>(*i));
                        out.put(static_cast<Number>(static_cast<double>(all[*i])));
                    }
                });
            });
        });
    }
    void expand(const std::byte* from, Numbers values) const override
    {
        clear(values);
        BytesIn in(from);
        values.visit([&]<class T>(std::span<T> all) {
            with_index(all.size(), [&]<class Index>(Index) {
                with_number(wire_, [&]<class Number>(Number) {
                    for (auto left = kept_of(fraction_, all.size()); left > 0; --left) {
                        const auto at = in.get<Index>();
                        all[at] = static_cast<T>(static_cast<double>(in.get<Number>()));
                    }
                });
            });
        });
    }

private:
    double fraction_;
    Wire wire_;
};

// k numbers at places that are drawn. What is sent is the key of the draw, and the numbers.
class RandK final : public Compressor {
public:
    RandK(const RandKCompressor& given, const CompressorSetup& setup)
        : fraction_(given.fraction), wire_(setup.wire), unbiased_(setup.unbiased)
    {
    }
    std::size_t bytes(std::size_t length) const override
    {
        return sizeof(std::uint64_t) + kept_of(fraction_, length) * bytes_of(wire_);
    }
    void compress(ConstNumbers values, Stream& draw, std::byte* to) const override
    {
        BytesOut out(to);
        const auto high = std::uint64_t{draw()} << 32;
        const auto key = high | draw();
        out.put(key);
        const auto places = drawn(key, values.size());
        const auto scale =
            unbiased_ ? static_cast<double>(values.size()) / static_cast<double>(places.size()) : 1;
        values.visit([&](auto all) {
            with_number(wire_, [&]<class Number>(Number) {
                for (const auto at : places)
                    out.put(static_cast<Number>(scale * static_cast<double>(all[at])));
            });
        });
    }
    void expand(const std::byte* from, Numbers values) const override
    {
        clear(values);
        BytesIn in(from);
        const auto places = drawn(in.get<std::uint64_t>(), values.size());
        values.visit([&]<class T>(std::span<T> all) {
            with_number(wire_, [&]<class Number>(Number) {
                for (const auto at : places)
                    all[at] = static_cast<T>(static_cast<double>(in.get<Number>()));
            });
        });
    }

private:
    // The places, ascending. Selection sampling (Knuth, TAOCP 2, algorithm S): each of the places
    // that are left is taken with the probability that as many as are missing need.
    std::vector<std::size_t> drawn(std::uint64_t key, std::size_t length) const
    {
        Stream stream(key, Purpose::compression);
        std::vector<std::size_t> places(kept_of(fraction_, length));
        std::size_t taken = 0;
        for (std::size_t at = 0; taken < places.size(); ++at)
            if (stream.below(length - at) < places.size() - taken) places[taken++] = at;
        return places;
    }

    double fraction_;
    Wire wire_;
    bool unbiased_;
};

}  // namespace

CompressorEntry<TopKCompressor> TopKCompressor::entry()
{
    return {.name = "topk",
            .arguments = {{&TopKCompressor::fraction,
                           "FRACTION",
                           {.lowest = above_zero, .highest = 1}}},
            .text =
                "the FRACTION of the numbers that are largest, with their places; biased, so "
                "take it with --error-feedback",
            .source = "Stich, Cordonnier, Jaggi, Sparsified SGD with memory, NeurIPS 2018",
            .make = construct_a<TopK>};
}

CompressorEntry<RandKCompressor> RandKCompressor::entry()
{
    return {.name = "randk",
            .arguments = {{&RandKCompressor::fraction,
                           "FRACTION",
                           {.lowest = above_zero, .highest = 1}}},
            .text =
                "a FRACTION of the numbers at random places, divided by it; unbiased, but "
                "with --error-feedback not divided",
            .source = "Stich, Cordonnier, Jaggi, Sparsified SGD with memory, NeurIPS 2018",
            .make = construct_a<RandK>};
}

}  // namespace quorate
