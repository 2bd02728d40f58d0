// SPDX-License-Identifier: BSD-2-Clause
// How contributions are compressed, and what becomes of what is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/numbers.hpp"
#include "compressor/compressor.hpp"

namespace quorate {

struct StatePlaces;

/// How a run compresses contributions.
///
/// With error feedback (Seide et al., Interspeech 2014; Karimireddy et al., ICML 2019; with codes
/// COCO-EF, arXiv 2603.16353) a worker has a memory e. Of its contribution g it sends C(e + g), and
/// the memory becomes e + g - C(e + g). The memory counts only if a step uses the contribution: a
/// task begins with the memory that the worker's newest used task has left (LocalState in
/// scheme/types.hpp). So of a contribution that was late, lost or made for another code nothing
/// remains, as if it had not been computed, and what was sent and used, plus the memory, is the sum
/// of what was computed and used.
struct Compression {
    std::shared_ptr<const Compressor> compressor = {};  // null: contributions travel whole
    bool feedback = false;
    std::uint64_t seed = 0;  // of compressors that draw

    explicit operator bool() const { return compressor != nullptr; }
};

/// Replaces a contribution by what comes of it at the coordinator. O(values).
/// @param worker, draw, part  key what the compressor draws
/// @param states              of the task
/// @param to                  receives the compressed contribution: Compressor::bytes()
void compress(const Compression& compression, int worker, std::int64_t draw, int part,
              const StatePlaces& states, Numbers values, std::byte* to);

}  // namespace quorate
