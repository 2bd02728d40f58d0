// SPDX-License-Identifier: BSD-2-Clause
// Fractional repetition: n workers in G = floor(n/d) groups; every worker of a group holds the
// group's partitions and sends their plain sum. Tandon et al., "Gradient Coding", ICML 2017; for d
// that does not divide n, groups of n/G workers rounded down or up, which hold as many partitions:
// still d copies at least, and the load of a worker within one partition of another's.
#pragma once

#include <cstdint>
#include <optional>

#include "code/gradient_code.hpp"

namespace quorate {

/// Groups of workers that send the same sum.
struct Groups {
    std::vector<int> of;    // group of each worker
    std::vector<int> size;  // partitions of each group
};

/// As many workers as partitions in each group, which are runs of worker numbers.
/// @param d  copies of each partition at least, 1..n
Groups repetition_groups(int n, int d);

/// Each worker is in one of `count` groups of one partition, chosen at random. They are drawn again
/// until no group is empty. Keyed by the seed, so that every rank makes the same.
/// @return nothing if they are empty a thousand times
/// Source: Li, Mousavi Kalan, Avestimehr, Soltanolkotabi, arXiv 1710.09990.
std::optional<Groups> random_groups(int n, int count, std::uint64_t seed);

/// Coefficients 1.
Encoding repetition_encoding(const Groups& groups);

/// Takes the first answer of each group, and ends when every group has answered or `collect`
/// workers have answered, whichever is first. O(1) an answer, O(groups) a round.
class GroupDecoder final : public Decoder {
public:
    /// @param rescale  scale the sum by partitions / partitions received (unbiased for random
    ///                 stragglers); else missing groups shrink the estimate
    GroupDecoder(Groups groups, int collect, bool rescale);

    void begin() override;
    const Decoding* receive(int worker) override;
    const Decoding* expire() override;
    bool exact() const override { return collect_ >= static_cast<int>(groups_.of.size()); }

private:
    Groups groups_;
    int collect_;
    bool rescale_;
    int partitions_;
    std::vector<int> first_;  // by group, the worker that answered first; -1: none has
    int answers_ = 0, covered_ = 0;
    std::size_t answered_ = 0;  // groups
    Decoding decoding_;
};

/// Exact: ends when every group has answered.
GradientCode fractional_repetition(int n, int d);

/// ErasureHead: ends after `collect` answers at the latest. Wang et al., arXiv 1901.09671.
GradientCode approximate_repetition(int n, int d, int collect, bool rescale);

}  // namespace quorate
