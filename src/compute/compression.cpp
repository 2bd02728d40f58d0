// SPDX-License-Identifier: BSD-2-Clause
#include "compute/compression.hpp"

#include "compute/task_states.hpp"

namespace quorate {

void compress(const Compression& compression, int worker, std::int64_t draw, int part,
              const StatePlaces& states, Numbers values, std::byte* to)
{
    const auto& compressor = *compression.compressor;
    Stream stream(compression.seed, Purpose::compression, static_cast<std::uint32_t>(worker),
                  static_cast<std::uint32_t>(2 * draw + part));
    // Worker and draw are the same for a task that is done again, which then has the same bits.
    if (compression.feedback && states.from && !states.from->unsent.empty())
        add(1, states.from->unsent, values);
    compressor.compress(values, stream, to);
    if (!compression.feedback || !states.to) return compressor.expand(to, values);
    auto& unsent = states.to->unsent;
    unsent = NumberVector(ConstNumbers(values));
    compressor.expand(to, values);
    add(-1, values, unsent);
}

}  // namespace quorate
