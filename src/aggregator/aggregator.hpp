// SPDX-License-Identifier: BSD-2-Clause
// Rules that make one vector of those of many workers, of which some lie. Pure mathematics: no MPI,
// no clock, no files.
//
// n vectors, of which at most F are false, as in the papers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "base/typed_entry.hpp"

namespace quorate {

struct Vectors;  // aggregator/vectors.hpp

/// A rule. Has no state: what it makes of vectors depends on nothing else, and neither on threads
/// nor on who has which share of the parameters. Local, but for the sums that Vectors have.
class Aggregator {
public:
    virtual ~Aggregator() = default;
    /// The fewest vectors among which F false ones do limited harm.
    virtual int least(int tolerated) const { return 2 * tolerated + 1; }
    /// Whether it goes on from the estimate before (Vectors::last).
    virtual bool looks_back() const { return false; }
    /// Makes one vector.
    /// @param vectors    finite, at least least(tolerated)
    /// @param tolerated  F
    /// @param result     receives as many numbers as each vector has
    virtual void aggregate(const Vectors& vectors, int tolerated, Numbers result) const = 0;
};
using SharedAggregator = std::shared_ptr<const Aggregator>;

/// Makes a rule. @throws BadInput if the arguments behind the name are wrong
using MakeAggregator = std::function<std::unique_ptr<Aggregator>(const Settings&)>;
template <>
struct PropertiesOf<MakeAggregator> {
    struct type {};
    static constexpr const char* option = "aggregator";
    static GivenComponent given(const Settings& settings, const std::string& form,
                                const std::string& text);
};

/// The entry of a rule whose arguments are a T.
template <class T>
using AggregatorEntry = TypedEntry<MakeAggregator, T>;

// The arguments of the rules; `quorate list aggregators` says what they do.

struct MedianAggregator {
    static AggregatorEntry<MedianAggregator> entry();
};

struct TrimmedMeanAggregator {
    static AggregatorEntry<TrimmedMeanAggregator> entry();
};

struct GeometricMedianAggregator {
    static AggregatorEntry<GeometricMedianAggregator> entry();
};

struct KrumAggregator {
    static AggregatorEntry<KrumAggregator> entry();
};

struct MultiKrumAggregator {
    static AggregatorEntry<MultiKrumAggregator> entry();
};

struct CentredClippingAggregator {
    double radius = 1;
    static AggregatorEntry<CentredClippingAggregator> entry();
};

/// The rules that --aggregator can name.
const std::vector<Entry<MakeAggregator>>& aggregators();

/// The value of --aggregator: a rule and its words.
struct AggregatorChoice {
    AggregatorChoice() : AggregatorChoice(MedianAggregator{}) {}
    /// Of arguments, such as CentredClippingAggregator{.radius = 0.1}.
    template <class T>
    requires requires { T::entry(); }
    AggregatorChoice(const T& given) : words(T::entry().value(given)), rule(T::entry().made(given))
    {
    }
    std::string words;
    SharedAggregator rule;
};
void read_option(AggregatorChoice& choice, const GivenWords& given);
std::string written(const AggregatorChoice& choice, const OptionRow&);

/// What is made of the vectors before a rule gets them (--pre-aggregate).
struct PreAggregation {
    enum Kind { none, neighbours, buckets } kind = none;
    int size = 2;  // vectors of a bucket
};
void read_option(PreAggregation& before, const GivenWords& given);
std::string written(const PreAggregation& before, const OptionRow&);

/// The rule of a scheme. Vectors that are not finite are none: whoever sends them is known to lie,
/// so the others are aggregated with an F that is less by as many. If there are more than F, the
/// result is NaN.
SharedAggregator robust_rule(SharedAggregator rule, const PreAggregation& before);

}  // namespace quorate
