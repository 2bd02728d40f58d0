// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>

#include "code/byzantine_locator.hpp"
#include "code/reed_solomon.hpp"
#include "scheme/coded.hpp"
#include "scheme/options.hpp"

namespace quorate {

namespace {

// A Reed-Solomon code that can lose S stragglers and 2 L answers. If at most L workers are
// Byzantine, the projections of all answers on a random vector tell which (locate_byzantine).
class DracoCyclic final : public CodedScheme {
public:
    DracoCyclic(const Problem& problem, int stragglers, int tolerated)
        : CodedScheme(problem, reed_solomon_code(problem.workers, problem.workers,
                                                 stragglers + 2 * tolerated)),
          stragglers_(stragglers), tolerated_(tolerated),
          projection_(static_cast<std::size_t>(problem.workers))
    {
    }

    Needs needs() const override
    {
        auto needs = CodedScheme::needs();
        needs.projection = true;
        return needs;
    }

protected:
    void begin(Version version) override
    {
        CodedScheme::begin(version);
        answered_.clear();
    }
    std::optional<Step> receive(const Contribution& contribution) override
    {
        auto& projection = projection_[static_cast<std::size_t>(contribution.worker)];
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
        for (const auto worker : answered_)
            projections.push_back(projection_[static_cast<std::size_t>(worker)]);
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
