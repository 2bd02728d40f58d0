// SPDX-License-Identifier: BSD-2-Clause
// Rounds of a code with short messages (code/short_code.hpp).
#include <fmt/format.h>

#include <algorithm>

#include "base/lru_cache.hpp"
#include "code/cyclic.hpp"
#include "code/short_code.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/schemes.hpp"
#include "scheme/rounds/synchronous.hpp"

namespace quorate {

namespace {

class ShortCyclic final : public SynchronousScheme {
public:
    ShortCyclic(const Problem& problem, ShortCode code)
        : SynchronousScheme(Layout(cyclic_windows(problem.workers, code.load()), problem)),
          code_(std::move(code)),
          length_(
              std::max<std::int64_t>(1, (problem.parameters + code_.pieces() - 1) / code_.pieces()))
    {
        layout().needs.exact = layout().needs.places = true;
        for (int i = 0; i < code_.workers(); ++i) {
            auto& plan = layout().plans[i];
            auto part = plan->parts[0];
            for (const auto& item : part.items)
                for (int u = 0; u < code_.pieces(); ++u)
                    part.fold.push_back(code_.coefficient(item.block, u, i));
            plan = std::make_shared<const Plan>(Plan{{std::move(part)}});
        }
    }

protected:
    void begin(Version) override
    {
        received_.assign(layout().plans.size(), std::nullopt);
        answers_ = 0;
    }
    std::optional<Step> receive(const Contribution& contribution) override
    {
        received_[contribution.worker] = contribution.id;
        if (++answers_ < code_.workers() - code_.stragglers()) return std::nullopt;
        std::vector<int> missing;
        for (std::size_t i = 0; i < received_.size(); ++i)
            if (!received_[i]) missing.push_back(static_cast<int>(i));
        const auto* known = cache_.find(missing);
        if (!known) known = cache_.insert(missing, decode(missing));
        if (!*known) return std::nullopt;
        return step(**known);
    }
    std::string why_undecodable() const override
    {
        return "all workers have answered, and the code cannot decode to its accuracy";
    }

private:
    struct Decoded {
        Eigen::MatrixXd weights;
        double error;
    };
    std::optional<Decoded> decode(const std::vector<int>& missing) const
    {
        auto weights = code_.weights(missing);
        // The comparison is written so that NaN is refused.
        if (!(code_.residual(weights) <= 1e-9)) return std::nullopt;
        const double error = code_.error(weights);
        return Decoded{std::move(weights), error};
    }
    Step step(const Decoded& decoded) const
    {
        Step step{.terms = {}, .divisor = static_cast<double>(samples()), .error = decoded.error};
        for (int u = 0; u < code_.pieces(); ++u)
            for (int i = 0; i < code_.workers(); ++i)
                if (const auto& id = received_[i])
                    step.placed.push_back({*id, decoded.weights(i, u), {0, length_}, u * length_});
        return step;
    }

    ShortCode code_;
    std::int64_t length_;  // q
    std::vector<std::optional<ContributionId>> received_;
    int answers_ = 0;
    LruCache<std::vector<int>, std::optional<Decoded>> cache_{4096};
};

std::unique_ptr<Scheme> make_short_cyclic(const ShortCyclicOptions& given, const Problem& problem)
{
    constexpr double too_large = 1e6;  // loses six of sixteen digits
    const int n = problem.workers;
    if (!problem.dense)
        throw Refusal(
            "scheme",
            ", but the data are sparse, and a folded gradient has an element wherever one of its "
            "pieces "
            "has: its message is no shorter; use --scheme cyclic, or import the data with "
            "--storage dense");
    const auto [s, m] = given;
    if (s + m > n)
        throw Refusal(
            "fold",
            fmt::format(", but S + M = {} partitions a worker are more than there are, of {} "
                        "workers: use --fold {} or fewer",
                        s + m, n, n - s));
    auto [code, amplification] = best_short_code(n, s, m, problem.seed);
    if (!(amplification <= too_large))
        throw Refusal(
            "fold",
            fmt::format(", but the best code of 17 for {} workers and {} stragglers amplifies "
                        "rounding errors by {:.0e}, more than {:.0e}: use a smaller --fold or "
                        "--stragglers, or another --seed",
                        n, s, amplification, too_large));
    return std::make_unique<ShortCyclic>(problem, std::move(code));
}

}  // namespace

SchemeEntry<ShortCyclicOptions> ShortCyclicOptions::entry()
{
    return {
        .name = "short-cyclic",
        .text =
            "cyclic code with short messages: each worker computes S + M partitions and sends "
            "P/M numbers; "
            "exact, ends at any N - S answers; where messages take longer than gradients",
        .source = "Ye, Abbe, arXiv 1802.03475; codes of sines or random subspaces",
        .options = options<ShortCyclicOptions>(
            {{&ShortCyclicOptions::fold,
              {"fold", "M", "2", "pieces of a gradient that a message adds up; 1: whole ones"},
              {.lowest = 1, .highest = 1000}}}),
        .make = make_short_cyclic,
        .properties = {.candidates =
                           [](int n, bool) {
                               return crossed(doubled_stragglers(n < 5 ? 0 : 2), {{{"fold", "2"}}});
                           },
                       .blocked = until_stragglers<ShortCyclicOptions>}};
}

}  // namespace quorate
