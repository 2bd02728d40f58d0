// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/schemes.hpp"
#include "scheme/rounds/synchronous.hpp"

namespace quorate {

namespace {

// Worker i computes partition i. Once enough workers have answered, those that are free compute the
// partitions of those that are late, one second copy of each: the first of the two that comes
// counts.
class Clones final : public SynchronousScheme {
public:
    /// @param holders  encoding by which workers store partitions
    /// @param after    answers after which tasks are late
    Clones(const Problem& problem, const Encoding& holders, int after)
        : SynchronousScheme(Layout(holders, problem)),
          own_(plans_of(fractional_repetition(problem.workers, 1).encoding)), after_(after),
          copies_(static_cast<int>(holders.rows.empty() ? 0 : holders.rows[0][0].size())),
          answers_(own_.size()), copied_by_(own_.size()), copies_of_(own_.size())
    {
        layout().needs.exact = true;
    }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override { return own_[at(worker)]; }

    void begin(Version) override
    {
        std::ranges::fill(answers_, none);
        std::ranges::fill(copied_by_, none);
        std::ranges::fill(copies_of_, none);
        free_.assign(own_.size(), false);
        came_ = 0;
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        const auto worker = contribution.worker;
        // A worker answers in the order of its tasks: first its own, then copies.
        const auto partition =
            copies_of_[at(worker)] == none ? worker : static_cast<Worker>(copies_of_[at(worker)]);
        copies_of_[at(worker)] = none;
        free_[at(worker)] = true;
        if (answers_[at(partition)] != none) return std::nullopt;
        answers_[at(partition)] = contribution.id;
        if (++came_ < own_.size()) return std::nullopt;
        Step step{.terms = {}, .divisor = static_cast<double>(samples()), .error = 0};
        for (const auto id : answers_) step.terms.push_back({id});
        return step;
    }

    std::vector<Further> further(Version version) override
    {
        std::vector<Further> all;
        if (came_ < static_cast<std::size_t>(after_)) return all;
        for (std::size_t partition = 0; partition < own_.size(); ++partition) {
            if (answers_[partition] != none || copied_by_[partition] != none) continue;
            const auto helper = free_holder(partition);
            if (helper == own_.size()) continue;
            copied_by_[partition] = static_cast<std::int64_t>(helper);
            copies_of_[helper] = static_cast<std::int64_t>(partition);
            free_[helper] = false;
            all.push_back({static_cast<Worker>(helper), {own_[partition], {version}}});
        }
        return all;
    }

private:
    static constexpr std::int64_t none = -1;
    static std::size_t at(Worker worker) { return static_cast<std::size_t>(worker); }

    // Another worker that holds the partition and has nothing to do; the number of workers: none.
    std::size_t free_holder(std::size_t partition) const
    {
        const auto n = own_.size();
        for (int back = 1; back < copies_; ++back) {
            const auto holder = (partition + n - static_cast<std::size_t>(back)) % n;
            if (free_[holder]) return holder;
        }
        return n;
    }

    Plans own_;
    int after_, copies_;
    std::vector<ContributionId> answers_;  // by partition
    std::vector<std::int64_t> copied_by_;  // by partition, the worker
    std::vector<std::int64_t> copies_of_;  // by worker, the partition
    std::vector<bool> free_;
    std::size_t came_ = 0;
};

std::unique_ptr<Scheme> make_clones(const ClonesOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    at_most("degree", given.degree, n);
    const int after = given.after.value_or((3 * n + 3) / 4);
    at_most("after", after, n);
    return std::make_unique<Clones>(problem, cyclic_windows(n, given.degree), after);
}

}  // namespace

SchemeEntry<ClonesOptions> ClonesOptions::entry()
{
    return {.name = "clones",
            .text =
                "uncoded, and once M workers have answered the late partitions are computed by "
                "free workers too, which hold them; exact",
            .source = "Zaharia et al., LATE, OSDI 2008; Ananthanarayanan et al., Dolly, NSDI 2013",
            .options = options<ClonesOptions>(
                {{&ClonesOptions::after,
                  {"after", "M", "",
                   "answers after which tasks are late; default: three quarters of the workers"},
                  {.lowest = 1}}}),
            .make = make_clones,
            .properties = {.example = {{"degree", "3"}, {"after", "3"}}}};
}

}  // namespace quorate
