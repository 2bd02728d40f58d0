// SPDX-License-Identifier: BSD-2-Clause
// The options of the schemes that work in rounds of whole gradients, coded or not. Each member is
// the option of its name; `quorate run --scheme NAME --help` says what it does.
#pragma once

#include <optional>
#include <vector>

#include "scheme/rounds/adaptive_deadline.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// Which partitions a worker holds.
enum class Placement { cyclic, frc };
/// Of cyclic codes.
enum class Coefficients { deterministic, random, ones };
/// Whether estimates stand for partitions that are missing.
enum class Rescale { coverage, none };
/// How approximate codes are decoded.
enum class ApproximateDecoder { optimal, one_step, debiased };
/// Rows of the partitions of workers over those of the others, by worker; empty: equal.
using PartitionShares = std::vector<double>;

struct UncodedOptions {
    PartitionShares shares = {};
    static SchemeEntry<UncodedOptions> entry();
};

struct IgnoreOptions {
    enum class Weights { rescale, horvitz_thompson, ratio };
    /// How the answers that a round waits for grow when progress is mostly noise: by `step` from
    /// `start`, whenever `count` more estimates have pointed against the one before than along it
    /// (Pflug's statistic).
    struct Growth {
        int start, step, count;
    };
    std::optional<int> stragglers = {};  // none: 1, unless something else says when a round ends
    std::optional<int> collect = {};
    Weights weights = Weights::rescale;
    std::optional<double> least_frequency = {};
    bool reshuffle = false;
    std::optional<Growth> adaptive = {};
    PartitionShares shares = {};
    RoundLimit deadline = {};
    static SchemeEntry<IgnoreOptions> entry();
};

struct FrcOptions {
    int stragglers = 1;
    static SchemeEntry<FrcOptions> entry();
};

struct CyclicOptions {
    int stragglers = 1;
    Coefficients coefficients = Coefficients::deterministic;
    static SchemeEntry<CyclicOptions> entry();
};

struct ShortCyclicOptions {
    int stragglers = 1, fold = 2;
    static SchemeEntry<ShortCyclicOptions> entry();
};

struct ReedSolomonOptions {
    int stragglers = 1;
    std::optional<int> partitions = {};
    static SchemeEntry<ReedSolomonOptions> entry();
};

struct PartialOptions {
    enum class Messages { chunk, prefix, late };
    enum class Order { rotate, given };
    int stragglers = 1;
    Placement placement = Placement::cyclic;
    Messages messages = Messages::chunk;
    std::optional<int> parts = {};
    Order order = Order::rotate;
    int chunks = 1;
    RoundLimit deadline = {};
    Rescale rescale = Rescale::coverage;
    static SchemeEntry<PartialOptions> entry();
};

struct PartialFrcOptions {
    int stragglers = 1;
    std::optional<int> own = {};
    RoundLimit deadline = {};
    static SchemeEntry<PartialFrcOptions> entry();
};

struct PartialCyclicOptions {
    int stragglers = 1;
    Coefficients coefficients = Coefficients::deterministic;
    std::optional<int> own = {};
    RoundLimit deadline = {};
    static SchemeEntry<PartialCyclicOptions> entry();
};

struct AgcOptions {
    int stragglers = 1;
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    Rescale rescale = Rescale::coverage;
    static SchemeEntry<AgcOptions> entry();
};

struct BernoulliOptions {
    int degree = 2;
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    ApproximateDecoder decoder = ApproximateDecoder::optimal;
    static SchemeEntry<BernoulliOptions> entry();
};

struct BlockOptions {
    std::optional<int> groups = {};
    double inside = 0.9, outside = 0.02;
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    ApproximateDecoder decoder = ApproximateDecoder::optimal;
    static SchemeEntry<BlockOptions> entry();
};

struct RegularOptions {
    int degree = 2;
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    ApproximateDecoder decoder = ApproximateDecoder::optimal;
    static SchemeEntry<RegularOptions> entry();
};

struct MargulisOptions {
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    ApproximateDecoder decoder = ApproximateDecoder::optimal;
    static SchemeEntry<MargulisOptions> entry();
};

struct BibdOptions {
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    ApproximateDecoder decoder = ApproximateDecoder::optimal;
    static SchemeEntry<BibdOptions> entry();
};

struct GraphOptions {
    int copies = 3;
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    ApproximateDecoder decoder = ApproximateDecoder::optimal;
    static SchemeEntry<GraphOptions> entry();
};

/// How probably workers straggle: all alike, or each by itself, or learned: as often as it has in
/// the rounds before.
struct StragglingProbabilities {
    bool learned = false;
    double others = 0;               // of those that are not named
    std::vector<double> given = {};  // by worker; empty: all are others
};

struct StochasticOptions {
    enum class Loads { equal, reliable };
    int degree = 2;
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    std::optional<StragglingProbabilities> straggling = {};
    Loads loads = Loads::equal;
    static SchemeEntry<StochasticOptions> entry();
};

struct BccOptions {
    int degree = 2;
    static SchemeEntry<BccOptions> entry();
};

struct ClonesOptions {
    int degree = 2;
    std::optional<int> after = {};
    static SchemeEntry<ClonesOptions> entry();
};

struct SvrgOptions {
    std::optional<int> collect = {};
    std::optional<std::int64_t> inner_rounds = {};
    static SchemeEntry<SvrgOptions> entry();
};

struct IsGcOptions {
    int degree = 2;
    Placement placement = Placement::cyclic;
    std::optional<int> collect = {};
    RoundLimit deadline = {};
    static SchemeEntry<IsGcOptions> entry();
};

struct NestedOptions {
    int stragglers = 1;
    Placement placement = Placement::cyclic;
    static SchemeEntry<NestedOptions> entry();
};

struct DracoRepetitionOptions {
    int stragglers = 1, tolerate = 1;
    static SchemeEntry<DracoRepetitionOptions> entry();
};

struct DracoCyclicOptions {
    int stragglers = 1, tolerate = 1;
    static SchemeEntry<DracoCyclicOptions> entry();
};

struct RobustOptions {
    std::optional<int> collect = {};
    int tolerate = 1;
    AggregatorChoice aggregator = {};
    PreAggregation pre_aggregate = {};
    static SchemeEntry<RobustOptions> entry();
};

}  // namespace quorate
