// SPDX-License-Identifier: BSD-2-Clause
// Compressors that send a few bits of each number, and a scale for each block of them.
#include <algorithm>
#include <cmath>
#include <span>

#include "compressor/bytes.hpp"
#include "compressor/compressor.hpp"

namespace quorate {

namespace {

std::size_t blocks_for(std::size_t length, std::int64_t block)
{
    const auto each = static_cast<std::size_t>(block);
    return (length + each - 1) / each;
}

// Calls f with each block of numbers.
template <class T, class F>
void for_each_block(std::span<T> all, std::int64_t block, F f)
{
    for (std::size_t first = 0; first < all.size(); first += static_cast<std::size_t>(block))
        f(all.subspan(first, std::min(static_cast<std::size_t>(block), all.size() - first)));
}

// Numbers of `bits` bits each, in blocks behind a scale.
class Quantized : public Compressor {
public:
    std::size_t bytes(std::size_t length) const override
    {
        const auto block = static_cast<std::size_t>(block_);
        const auto of_block = [&](std::size_t numbers) {
            return (numbers * static_cast<std::size_t>(bits_) + 7) / 8;
        };
        return blocks_for(length, block_) * bytes_of(wire_) + length / block * of_block(block) +
               of_block(length % block);
    }
    void compress(ConstNumbers values, Stream& draw, std::byte* to) const override
    {
        auto* next = to;
        values.visit([&](auto all) {
            with_number(wire_, [&]<class Number>(Number) {
                for_each_block(all, block_, [&](auto block) {
                    const auto scale = static_cast<Number>(scale_of(block));
                    BytesOut(next).put(scale);
                    BitsOut out(next + sizeof scale);
                    for (const auto number : block)
                        out.put(code_of(number, static_cast<double>(scale), draw), bits_);
                    next = out.end();
                });
            });
        });
    }
    void expand(const std::byte* from, Numbers values) const override
    {
        const auto* next = from;
        values.visit([&]<class T>(std::span<T> all) {
            with_number(wire_, [&]<class Number>(Number) {
                for_each_block(all, block_, [&](auto block) {
                    const auto scale = static_cast<double>(BytesIn(next).get<Number>());
                    BitsIn in(next + sizeof(Number));
                    for (auto& number : block)
                        number = static_cast<T>(number_of(in.get(bits_), scale));
                    next = in.end();
                });
            });
        });
    }

protected:
    Quantized(std::int64_t bits, std::int64_t block, Wire wire)
        : bits_(static_cast<int>(bits)), block_(block), wire_(wire)
    {
    }

private:
    template <class T>
    double scale_of(std::span<T> block) const
    {
        double sum = 0;
        for (const auto number : block) sum += addend(static_cast<double>(number));
        return scale(sum, static_cast<double>(block.size()));
    }
    // The scale of a block from the sum of its addends.
    virtual double addend(double number) const = 0;
    virtual double scale(double sum, double count) const = 0;
    virtual std::uint32_t code_of(double number, double scale, Stream& draw) const = 0;
    virtual double number_of(std::uint32_t code, double scale) const = 0;

    int bits_;
    std::int64_t block_;
    Wire wire_;
};

// The sign of each number, times the mean magnitude of its block.
class Sign final : public Quantized {
public:
    Sign(const SignCompressor& given, const CompressorSetup& setup)
        : Quantized(1, given.block, setup.wire)
    {
    }

private:
    double addend(double number) const override { return std::abs(number); }
    double scale(double sum, double count) const override { return sum / count; }
    std::uint32_t code_of(double number, double, Stream&) const override { return number < 0; }
    double number_of(std::uint32_t code, double scale) const override
    {
        return code ? -scale : scale;
    }
};

// The sign of each number and a level of 0..levels, of which the norm of the block is the highest.
// Between two levels a draw decides, so that the mean is the number.
class Qsgd final : public Quantized {
public:
    Qsgd(const QsgdCompressor& given, const CompressorSetup& setup)
        : Quantized(given.bits, given.block, setup.wire),
          levels_((std::uint32_t{1} << (given.bits - 1)) - 1)
    {
    }

private:
    double addend(double number) const override { return number * number; }
    double scale(double sum, double) const override { return std::sqrt(sum); }
    // A norm that is rounded down for the wire may be less than a number of its block.
    std::uint32_t code_of(double number, double norm, Stream& draw) const override
    {
        if (!(norm > 0) || !std::isfinite(norm)) return 0;
        const auto place = std::abs(number) / norm * levels_;
        const auto level = static_cast<std::uint32_t>(place + draw.uniform());
        return std::min(level, levels_) << 1 | (number < 0);
    }
    double number_of(std::uint32_t code, double norm) const override
    {
        if (!std::isfinite(norm)) return norm;
        const auto magnitude = norm * (code >> 1) / levels_;
        return code & 1 ? -magnitude : magnitude;
    }

    std::uint32_t levels_;
};

}  // namespace

CompressorEntry<SignCompressor> SignCompressor::entry()
{
    return {.name = "sign",
            .arguments = {{&SignCompressor::block, "BLOCK", {.lowest = 1}}},
            .text =
                "the sign of each number, times the mean magnitude of its BLOCK numbers; "
                "biased, so take it with --error-feedback",
            .source = "Karimireddy et al., Error feedback fixes SignSGD, ICML 2019",
            .make = construct_a<Sign>};
}

CompressorEntry<QsgdCompressor> QsgdCompressor::entry()
{
    constexpr double most_bits = 16;
    return {.name = "qsgd",
            .arguments = {{&QsgdCompressor::bits, "BITS", {.lowest = 2, .highest = most_bits}},
                          {&QsgdCompressor::block, "BLOCK", {.lowest = 1}}},
            .text =
                "each number at random to a level next to it, of 2^(BITS-1) levels from 0 to "
                "the norm of its BLOCK numbers; unbiased",
            .source = "Alistarh et al., QSGD, NeurIPS 2017",
            .make = construct_a<Qsgd>};
}

}  // namespace quorate
