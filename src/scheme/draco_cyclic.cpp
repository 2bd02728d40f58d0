// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>

#include "code/byzantine_locator.hpp"
#include "code/reed_solomon.hpp"
#include "scheme/contributions.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/synchronous.hpp"

namespace quorate {

namespace {

// A Reed-Solomon code that can lose S stragglers and 2 L answers. If at most L workers are
// Byzantine, the projections of all answers on a random vector tell which (locate_byzantine).
class DracoCyclic final : public SynchronousScheme {
public:
    DracoCyclic(const Problem& problem, int stragglers, int tolerated)
        : problem_(problem), stragglers_(stragglers), tolerated_(tolerated),
          encoding_(reed_solomon_code(problem.workers, problem.workers, losses()).encoding),
          samples_(samples_of(encoding_, problem)), plans_(plans_of(encoding_)),
          received_(parts_of(plans_)), projection_(static_cast<std::size_t>(problem.workers))
    {
    }

    Needs needs() const override
    {
        auto needs = needs_of(encoding_, problem_.rows);
        needs.projection = true;
        return needs;
    }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override
    {
        return plans_[static_cast<std::size_t>(worker)];
    }
    void begin(Version) override
    {
        received_.clear();
        answered_.clear();
    }
    std::optional<Step> receive(const Contribution& contribution) override
    {
        auto& projection = projection_[static_cast<std::size_t>(contribution.worker)];
        if (contribution.part == 0)
            projection.real(contribution.projection);
        else
            projection.imag(contribution.projection);
        if (!received_.add(contribution)) return std::nullopt;
        const auto at = std::upper_bound(answered_.begin(), answered_.end(), contribution.worker);
        answered_.insert(at, contribution.worker);
        if (static_cast<int>(answered_.size()) < problem_.workers - stragglers_)
            return std::nullopt;
        std::vector<std::complex<double>> projections;
        for (const auto worker : answered_)
            projections.push_back(projection_[static_cast<std::size_t>(worker)]);
        const auto out =
            locate_byzantine(problem_.workers, losses(), answered_, projections, tolerated_);
        if (!out) return std::nullopt;
        std::vector<int> trusted;
        std::set_difference(answered_.begin(), answered_.end(), out->begin(), out->end(),
                            std::back_inserter(trusted));
        const auto decoding = reed_solomon_decoding(encoding_, trusted);
        if (!decoding) return std::nullopt;
        return received_.step(*decoding, samples_);
    }
    std::string why_undecodable() const override
    {
        return fmt::format(
            "all workers have answered, but their answers do not fit together: more than "
            "--tolerate {} workers are Byzantine",
            tolerated_);
    }

private:
    int losses() const { return stragglers_ + 2 * tolerated_; }

    Problem problem_;
    int stragglers_, tolerated_;
    Encoding encoding_;
    std::int64_t samples_;  // of a round
    Plans plans_;
    Contributions received_;
    std::vector<int> answered_;                     // ascending
    std::vector<std::complex<double>> projection_;  // of the answer of each worker
};

}  // namespace

Entry<MakeScheme> draco_cyclic_entry()
{
    return {
        .name = "draco-cyclic",
        .text =
            "as draco-repetition, but Byzantine workers are located in a Reed-Solomon code, "
            "whatever their "
            "number in a group; complex coefficients cost twice the messages and computation",
        .source = "Chen et al., DRACO, ICML 2018",
        .options = {stragglers_option(), tolerate_option()},
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            const int n = problem.workers;
            const int s = stragglers(settings, n - 1);
            return std::make_unique<DracoCyclic>(problem, s, tolerate(settings, (n - 1 - s) / 2));
        }};
}

}  // namespace quorate
