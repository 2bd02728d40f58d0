// SPDX-License-Identifier: BSD-2-Clause
// Random streams that depend on nothing but a key: not on the number of ranks, not on the order of
// arrival, not on the clock. Built on Philox (Salmon et al., "Parallel Random Numbers: As Easy as
// 1, 2, 3", SC 2011), as implemented by Random123.
#pragma once

// Philox needs none of the intrinsics, whose headers take the compiler half a second.
#define R123_USE_AES_NI 0
#define R123_USE_SSE 0
#define R123_USE_X86INTRIN_H 0
#include <Random123/philox.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace quorate {

/// What a stream is for; two purposes never share numbers. The values are part of every result.
enum class Purpose : std::uint32_t {
    delay = 1,
    initial_point = 2,
    generated_data = 3,
    samples = 4,
    slowdown = 5,
    code = 6,
    byzantine = 7,
    probe = 8,
    placement = 9,
    membership = 10,
    folds = 11,
    scored_rows = 12,
    row_delay = 13,
    uplink_delay = 14,
    downlink_delay = 15,
    compression = 16,
    buckets = 17
};

/// A stream keyed by (seed, purpose, a, b). A standard uniform random bit generator of 32 bits.
class Stream {
public:
    using result_type = std::uint32_t;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }

    Stream(std::uint64_t seed, Purpose purpose, std::uint32_t a = 0, std::uint32_t b = 0)
        : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
          counter_{{0, static_cast<std::uint32_t>(purpose), a, b}}
    {
    }

    result_type operator()()
    {
        if (next_ == block_.size()) {
            block_ = r123::Philox4x32()(counter_, key_);
            ++counter_[0];
            next_ = 0;
        }
        return block_[next_++];
    }

    /// Uniform in (0, 1): 53 bits, never an end point, so that its logarithm is finite.
    double uniform()
    {
        const std::uint64_t high = (*this)() >> 5;
        const std::uint64_t low = (*this)() >> 6;
        return (static_cast<double>(high * 67108864 + low) + 0.5) / 9007199254740992.0;
    }

    /// Standard normal (Box-Muller; the second of the pair is thrown away, so that each call
    /// takes the same amount of the stream).
    double normal()
    {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    /// Uniform in 0..bound-1.
    std::size_t below(std::size_t bound)
    {
        return static_cast<std::size_t>(uniform() * static_cast<double>(bound));
    }

    /// Puts elements into a uniformly random order, the same with every standard library.
    template <class T>
    void shuffle(std::vector<T>& elements)
    {
        for (std::size_t i = elements.size(); i > 1; --i)
            std::swap(elements[i - 1], elements[below(i)]);
    }

    /// Exponential with the given mean.
    double exponential(double mean) { return -mean * std::log(uniform()); }

private:
    r123::Philox4x32::key_type key_;
    r123::Philox4x32::ctr_type counter_;
    r123::Philox4x32::ctr_type block_{};
    std::size_t next_ = block_.size();
};

}  // namespace quorate
