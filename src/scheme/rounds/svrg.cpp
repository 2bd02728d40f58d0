// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "scheme/batches.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/schemes.hpp"
#include "scheme/rounds/synchronous.hpp"

namespace quorate {

namespace {

// A round for the full gradient at a snapshot, which waits for all workers, and then rounds whose
// workers send how the gradients of a batch at the newest point differ from those at the snapshot.
// Of these a round takes the first answers. Its estimate is their mean, plus the full gradient.
class Svrg final : public SynchronousScheme {
public:
    /// @param collect       answers that end a round of differences
    /// @param inner_rounds  such rounds for each full gradient
    Svrg(const Problem& problem, int collect, std::int64_t inner_rounds)
        : SynchronousScheme(OwnPartitions(problem)), rows_(problem.rows), collect_(collect),
          inner_rounds_(inner_rounds),
          differences_(changed(layout().plans,
                               [](Plan& plan) {
                                   auto& items = plan.parts[0].items;
                                   const auto snapshot = items[0];
                                   items.push_back({.block = snapshot.block,
                                                    .input = 1,
                                                    .coefficient = -snapshot.coefficient});
                               })),
          batches_(layout().needs, problem.seed, problem.batch)
    {
        // Those of a full gradient are there until the next one is complete.
        layout().needs.kept = 2 * std::int64_t{problem.workers};
        layout().needs.points = 2;
    }

    std::string warning() const override
    {
        return batches_.full() ? "svrg without --batch takes all rows in each round: give --batch N"
                               : "";
    }

protected:
    bool looks_back() const override { return true; }

    void begin(Version version) override
    {
        was_full_ = is_full_;
        is_full_ = left_ == 0;
        received_.clear();
        samples_ = 0;
        if (is_full_) {
            snapshot_ = version;
            left_ = inner_rounds_;
        } else {
            --left_;
        }
    }

    Task task(Worker worker, Version version) const override
    {
        const auto at = static_cast<std::size_t>(worker);
        const auto& own = layout().plans[at];
        // A worker's count keys the samples of both points alike.
        if (!is_full_) return {differences_[at], {version, snapshot_}, {}, own_count};
        const auto rows = batches_.rows(own->parts[0].items[0].block);
        return {own, {version}, {.samples = rows}, own_count};
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        received_.push_back({contribution.id, 1, is_full_});
        if (is_full_) {
            if (received_.size() < differences_.size()) return std::nullopt;
            full_ = received_;
            return Step{.terms = full_, .divisor = static_cast<double>(rows_), .error = 0};
        }
        const auto& item = layout().plans[static_cast<std::size_t>(contribution.worker)]->parts[0];
        samples_ += batches_.samples(item);
        if (std::ssize(received_) < collect_) return std::nullopt;
        const auto divisor = static_cast<double>(samples_);
        Step step{.terms = received_, .divisor = divisor, .error = 0};
        for (auto term : full_) {
            term.weight = divisor / static_cast<double>(rows_);
            step.terms.push_back(term);
        }
        return step;
    }

    // The tasks of a full gradient stay open until there is the next one.
    Close outlived(Close last) override { return was_full_ ? std::exchange(of_full_, last) : last; }

private:
    std::int64_t rows_;
    int collect_;
    std::int64_t inner_rounds_, left_ = 0;  // left_: before the next full gradient
    Plans differences_;
    Batches batches_;
    bool is_full_ = false, was_full_ = false;  // this round, and the one before
    Version snapshot_ = 0;
    std::vector<Term> received_, full_;
    std::int64_t samples_ = 0;
    Close of_full_ = {0, -1};  // the tasks of the last full gradient
};

std::unique_ptr<Scheme> make_svrg(const SvrgOptions& given, const Problem& problem)
{
    const auto batch = problem.batch > 0 ? problem.batch : problem.rows;
    const auto twice =
        std::lround(2 * static_cast<double>(problem.rows) / static_cast<double>(batch));
    return std::make_unique<Svrg>(problem, answers(given.collect, problem.workers),
                                  given.inner_rounds.value_or(twice));
}

}  // namespace

SchemeEntry<SvrgOptions> SvrgOptions::entry()
{
    return {.name = "svrg",
            .text =
                "variance-reduced: batches at the newest point and at a snapshot, whose full "
                "gradient waits for all workers; other rounds take the first M answers",
            .source = "Johnson, Zhang, NIPS 2013",
            .options = options<SvrgOptions>(
                {{&SvrgOptions::inner_rounds,
                  {"inner-rounds", "M", "",
                   "rounds between two full gradients; default: twice the rows over the batch"},
                  {.lowest = 1}}}),
            .make = make_svrg,
            .properties = {.example = {{"batch", "70"}, {"inner-rounds", "3"}}}};
}

}  // namespace quorate
