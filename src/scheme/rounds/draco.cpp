// SPDX-License-Identifier: BSD-2-Clause
// Schemes that are exact although some workers send anything.
// Chen, Wang, Charles, Papailiopoulos, "DRACO", ICML 2018.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "code/byzantine_locator.hpp"
#include "code/fractional_repetition.hpp"
#include "code/reed_solomon.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

// Honest replicas of a group send the same bits. So if at most L workers are Byzantine, L + 1 equal
// answers are right, and the last of them decides its group. With S more replicas a group need not
// wait for S stragglers. d = S + 2 L + 1.
class DracoRepetition final : public CodedScheme {
public:
    DracoRepetition(const Problem& problem, int stragglers, int tolerated)
        : CodedScheme(problem,
                      fractional_repetition(problem.workers, stragglers + 2 * tolerated + 1)),
          groups_(repetition_groups(problem.workers, stragglers + 2 * tolerated + 1)),
          tolerated_(tolerated)
    {
        layout().needs.fingerprint = true;
    }

protected:
    void begin(Version version) override
    {
        CodedScheme::begin(version);
        votes_.assign(groups_.size.size(), {});
    }
    std::optional<Step> receive(const Contribution& contribution) override
    {
        auto& group = votes_[groups_.of[contribution.worker]];
        if (group.decided) return std::nullopt;
        if (++group.votes[contribution.fingerprint] <= tolerated_) return std::nullopt;
        group.decided = true;
        return CodedScheme::receive(contribution);
    }
    std::string why_undecodable() const override
    {
        std::size_t group = 0;
        while (votes_[group].decided) ++group;
        return fmt::format(
            "all workers have answered, but no {} answers of group {} are equal: more than "
            "--tolerate {} workers are Byzantine",
            tolerated_ + 1, group, tolerated_);
    }

private:
    struct Group {
        std::map<std::uint64_t, int> votes;  // by fingerprint
        bool decided = false;
    };
    Groups groups_;
    int tolerated_;
    std::vector<Group> votes_;
};

// A Reed-Solomon code that can lose S stragglers and 2 L answers. If at most L workers are
// Byzantine, the projections of all answers on a random vector tell which (locate_byzantine).
class DracoCyclic final : public CodedScheme {
public:
    DracoCyclic(const Problem& problem, int stragglers, int tolerated)
        : CodedScheme(problem, reed_solomon_code(problem.workers, problem.workers,
                                                 stragglers + 2 * tolerated)),
          stragglers_(stragglers), tolerated_(tolerated), projection_(problem.workers)
    {
        layout().needs.projection = true;
    }

protected:
    void begin(Version version) override
    {
        CodedScheme::begin(version);
        answered_.clear();
    }
    std::optional<Step> receive(const Contribution& contribution) override
    {
        auto& projection = projection_[contribution.worker];
        if (contribution.part == 0)
            projection.real(contribution.projection);
        else
            projection.imag(contribution.projection);
        if (!received().add(contribution)) return std::nullopt;
        const auto at = std::upper_bound(answered_.begin(), answered_.end(), contribution.worker);
        answered_.insert(at, contribution.worker);
        const int n = problem().workers;
        if (static_cast<int>(answered_.size()) < n - stragglers_) return std::nullopt;
        std::vector<std::complex<double>> projections;
        for (const auto worker : answered_) projections.push_back(projection_[worker]);
        const auto out =
            locate_byzantine(n, stragglers_ + 2 * tolerated_, answered_, projections, tolerated_);
        if (!out) return std::nullopt;
        std::vector<int> trusted;
        std::set_difference(answered_.begin(), answered_.end(), out->begin(), out->end(),
                            std::back_inserter(trusted));
        const auto decoding = reed_solomon_decoding(encoding(), trusted);
        if (!decoding) return std::nullopt;
        return received().step(*decoding, samples());
    }
    std::string why_undecodable() const override
    {
        return fmt::format(
            "all workers have answered, but their answers do not fit together: more than "
            "--tolerate {} workers are Byzantine",
            tolerated_);
    }

private:
    int stragglers_, tolerated_;
    std::vector<int> answered_;                     // ascending
    std::vector<std::complex<double>> projection_;  // of the answer of each worker
};

// @tparam Kind  made with the stragglers and the Byzantine workers that it tolerates
template <class Kind, class T>
std::unique_ptr<Scheme> make_draco(const T& given, const Problem& problem)
{
    const auto [s, tolerated] = given;
    at_most("tolerate", tolerated, (problem.workers - 1 - s) / 2);
    return std::make_unique<Kind>(problem, s, tolerated);
}

}  // namespace

SchemeEntry<DracoRepetitionOptions> DracoRepetitionOptions::entry()
{
    return {.name = "draco-repetition",
            .text =
                "exact although L workers send anything: each partition is on S + 2 L + 1 workers, "
                "and L + 1 equal answers decide a group; where workers or memory are not trusted",
            .source = "Chen et al., DRACO, ICML 2018",
            .options = options<DracoRepetitionOptions>(),
            .make = make_draco<DracoRepetition, DracoRepetitionOptions>,
            .properties = {.example = {{"tolerate", "1"}, {"byzantine", "sign-flip:2"}}}};
}

SchemeEntry<DracoCyclicOptions> DracoCyclicOptions::entry()
{
    return {
        .name = "draco-cyclic",
        .text =
            "as draco-repetition, but Byzantine workers are located in a Reed-Solomon code, "
            "whatever their number in a group; complex coefficients cost twice the messages and "
            "computation",
        .source = "Chen et al., DRACO, ICML 2018",
        .options = options<DracoCyclicOptions>(),
        .make = make_draco<DracoCyclic, DracoCyclicOptions>,
        .properties = {.example = {{"tolerate", "1"}, {"byzantine", "random:2"}}}};
}

}  // namespace quorate
