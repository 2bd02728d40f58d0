// SPDX-License-Identifier: BSD-2-Clause
// What schemes are tried with: times suit runs whose rounds take some milliseconds.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace quorate::test {

/// A scheme and words of options, for 7 workers unless others are named.
struct Way {
    std::string scheme, options;

    /// The words of a command, among them those of `common` whose options the way does not name.
    std::string words(const std::string& common) const;
    /// Whether it names an option.
    bool names(const std::string& option) const;
};
std::ostream& operator<<(std::ostream& out, const Way& way);
/// Its scheme, and a number that tells it from others, as the name of a test.
std::string way_name(const testing::TestParamInfo<Way>& info);

/// Each scheme of the registry as its entry says that it is tried.
std::vector<Way> tried_ways();

/// Those of tests/ways.txt: schemes decide, add up or send otherwise.
std::vector<Way> further_ways();

/// Networks, nodes, optimisers with a memory, and members that change, which only a simulation does
/// the same each time.
std::vector<Way> eventful_ways();

/// Those whose workers keep the states of inner optimisers, which a checkpoint does not have.
std::vector<Way> stateful_ways();

/// Those whose every estimate is the gradient, of 12 workers.
std::vector<Way> exact_ways();

}  // namespace quorate::test
