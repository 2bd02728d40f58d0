// SPDX-License-Identifier: BSD-2-Clause
// What contributions are compressed to before they travel, with loss. Pure mathematics: no MPI, no
// clock, no files. What a worker does with what was lost is in compute/unsent.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "base/random.hpp"
#include "base/typed_entry.hpp"
#include "base/wire.hpp"

namespace quorate {

/// A compression C of vectors. Immutable; may be used by several threads.
class Compressor {
public:
    virtual ~Compressor() = default;
    /// Bytes of a compressed vector of so many numbers; at most 2^32. O(1).
    virtual std::size_t bytes(std::size_t length) const = 0;
    /// Compresses a vector. O(length).
    /// @param draw  for compressors that draw; the same stream gives the same bytes
    /// @param to    receives bytes(values.size()); need not be aligned
    virtual void compress(ConstNumbers values, Stream& draw, std::byte* to) const = 0;
    /// Sets all of `values` to what compress() made of a vector of this length. O(length).
    /// @param from  bytes(values.size())
    virtual void expand(const std::byte* from, Numbers values) const = 0;
};

/// What a compressor is made for.
struct CompressorSetup {
    Wire wire = Wire::binary64;  // the numbers that travel
    bool unbiased = true;  // whether the mean over draws is to be the vector itself, where the
                           // compressor can; with error feedback it need not be
};

using MakeCompressor =
    std::function<std::shared_ptr<const Compressor>(const Settings&, const CompressorSetup&)>;
template <>
struct PropertiesOf<MakeCompressor> {
    struct type {};
    static constexpr const char* option = "compressor";
    static GivenComponent given(const Settings& settings, const std::string& form,
                                const std::string& text, const CompressorSetup& setup);
};

/// The entry of a compressor whose arguments are a T.
template <class T>
using CompressorEntry = TypedEntry<MakeCompressor, T>;

// The arguments of the compressors; `quorate list compressors` explains them.

struct NoCompressor {
    static CompressorEntry<NoCompressor> entry();
};

struct TopKCompressor {
    double fraction = 0.01;
    static CompressorEntry<TopKCompressor> entry();
};

struct RandKCompressor {
    double fraction = 0.01;
    static CompressorEntry<RandKCompressor> entry();
};

struct SignCompressor {
    std::int64_t block = 256;
    static CompressorEntry<SignCompressor> entry();
};

struct QsgdCompressor {
    std::int64_t bits = 4, block = 512;
    static CompressorEntry<QsgdCompressor> entry();
};

/// The compressors that --compressor can name.
const std::vector<Entry<MakeCompressor>>& compressors();

}  // namespace quorate
