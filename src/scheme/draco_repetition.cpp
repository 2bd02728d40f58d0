// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <map>

#include "code/fractional_repetition.hpp"
#include "scheme/coded.hpp"
#include "scheme/options.hpp"

namespace quorate {

namespace {

// Honest replicas of a group send the same bits. So if at most L workers are Byzantine, L + 1 equal
// answers are right, and the last of them decides its group. With S more replicas a group need not
// wait for S stragglers. d = S + 2 L + 1.
class DracoRepetition final : public CodedScheme {
public:
    DracoRepetition(const Problem& problem, int d, int tolerated)
        : CodedScheme(problem, fractional_repetition(problem.workers, d)),
          groups_(repetition_groups(problem.workers, d)), tolerated_(tolerated)
    {
    }

    Needs needs() const override
    {
        auto needs = CodedScheme::needs();
        needs.fingerprint = true;
        return needs;
    }

protected:
    void begin(Version version) override
    {
        CodedScheme::begin(version);
        votes_.assign(groups_.size.size(), {});
    }
    std::optional<Step> receive(const Contribution& contribution) override
    {
        auto& group = votes_[static_cast<std::size_t>(
            groups_.of[static_cast<std::size_t>(contribution.worker)])];
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

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const int s = stragglers(settings, n - 1);
    const int tolerated = tolerate(settings, (n - 1 - s) / 2);
    return std::make_unique<DracoRepetition>(problem, s + 2 * tolerated + 1, tolerated);
}

}  // namespace

Entry<MakeScheme> draco_repetition_entry()
{
    return {.name = "draco-repetition",
            .text =
                "exact although L workers send anything: each partition is on S + 2 L + 1 workers, "
                "and L + 1 equal answers decide a group; where workers or memory are not trusted",
            .source = "Chen et al., DRACO, ICML 2018",
            .options = {stragglers_option(), tolerate_option()},
            .make = make};
}

}  // namespace quorate
