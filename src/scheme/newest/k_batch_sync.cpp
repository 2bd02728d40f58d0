// SPDX-License-Identifier: BSD-2-Clause
// Schemes whose workers compute batch after batch at the newest point until there are enough
// (k-batch-sync, also known as Rennala SGD), or enough of each worker (malenia).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "scheme/newest/newest_point.hpp"
#include "scheme/newest/schemes.hpp"
#include "scheme/newest/theory.hpp"
#include "scheme/options.hpp"
#include "scheme/sample_mean.hpp"

namespace quorate {

namespace {

// What the theory says of a run with S tasks an update, or nothing. The first step is that of the
// theorem (Tyurin and Richtarik, Fragile SGD, NeurIPS 2024, for the same iteration), the second
// that of the authors' code.
std::string theory_note(const Theory& theory, int tasks)
{
    auto text = tasks_note(theory);
    if (!theory.lipschitz) return text;
    const auto l = *theory.lipschitz;
    if (!text.empty()) text += "; ";
    text += fmt::format("a step of {:g}, 1 / (2 L)", 1 / (2 * l));
    if (theory.noise && *theory.noise > 0)
        text += fmt::format(
            "; its authors' code takes {:g}, min(1 / L, EPS S / (2 L SIGMA2)) for S = {} tasks",
            std::min(1 / l, *theory.target * tasks / (2 * l * *theory.noise)), tasks);
    return text + "; " + tree_note(theory, {.gradients = tasks, .stale = 0});
}

class KBatchSync final : public NewestPoint {
public:
    KBatchSync(const Problem& problem, int collect, std::optional<Restarts> restarts,
               std::string note)
        : NewestPoint(problem, std::move(restarts), std::move(note)), collect_(collect),
          mean_(own().needs.blocks)
    {
    }

    Needs needs() const override
    {
        auto needs = NewestPoint::needs();
        needs.answers = collect_;
        return needs;
    }

protected:
    void begin() override { mean_.clear(); }
    bool wants(Worker) override { return true; }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        mean_.add(contribution, contribution.worker);
        if (mean_.size() < collect_) return std::nullopt;
        auto step = mean_.step();
        step.share = static_cast<double>(mean_.samples()) / static_cast<double>(own().samples);
        return step;
    }

private:
    int collect_;
    SampleMean mean_;
};

// An update takes the mean of what each worker has, weighted by the rows that it holds: unbiased
// for unlike partitions, however fast their workers are.
class Malenia final : public NewestPoint {
public:
    /// @param collect  S: an update is made when the harmonic mean of the workers' numbers of
    ///                 batches is above S / n; 0: as soon as each has one
    Malenia(const Problem& problem, int collect, int most, std::string note)
        : NewestPoint(problem, {}, std::move(note)), rows_(problem.rows),
          enough_(static_cast<double>(collect) / problem.workers), most_(most),
          own_(problem.workers)
    {
    }

    Needs needs() const override
    {
        auto needs = NewestPoint::needs();
        needs.answers = std::max(static_cast<int>(own_.size()),
                                 static_cast<int>(enough_ * static_cast<double>(own_.size())));
        return needs;
    }

protected:
    void begin() override
    {
        received_.clear();
        std::ranges::fill(own_, Own{});
        silent_ = static_cast<int>(own_.size());
        inverse_ = 0;
        samples_ = 0;
    }

    bool wants(Worker worker) override { return own_[worker].batches < most_; }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        auto& [batches, samples] = own_[contribution.worker];
        if (batches == 0)
            --silent_;
        else
            inverse_ -= 1.0 / batches;
        inverse_ += 1.0 / ++batches;
        samples += contribution.samples;
        samples_ += contribution.samples;
        received_.push_back({contribution.id, contribution.worker});
        // The small number keeps rounding from making equal numbers unequal.
        const auto mean = static_cast<double>(own_.size()) / inverse_;
        if (silent_ > 0 || (enough_ > 0 && mean <= enough_ * (1 + 1e-12))) return std::nullopt;
        Step step{.terms = {}, .divisor = static_cast<double>(rows_), .error = 0};
        for (const auto& [id, worker] : received_) step.terms.push_back({id, weight(worker)});
        step.share = static_cast<double>(samples_) / static_cast<double>(own().samples);
        return step;
    }

private:
    struct Own {
        int batches = 0;
        std::int64_t samples = 0;
    };
    struct Received {
        ContributionId id;
        Worker worker;
    };
    // Of each sample of a worker: the rows that it holds over the samples that it has computed.
    double weight(Worker worker)
    {
        const auto held = own().needs.blocks[worker].count;
        return static_cast<double>(held) / static_cast<double>(own_[worker].samples);
    }

    std::int64_t rows_;
    double enough_;
    int most_;
    std::vector<Own> own_;  // by worker
    std::vector<Received> received_;
    int silent_ = 0;      // workers that have no batch yet
    double inverse_ = 0;  // the sum of 1 / batches over the others
    std::int64_t samples_ = 0;
};

std::unique_ptr<Scheme> make_malenia(const MaleniaOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    const auto known = checked({{}, given.noise, given.target_gradient});
    const bool each = given.update_at == MaleniaOptions::UpdateAt::each;
    if (each && given.collect)
        throw Refusal("collect",
                      ", but --update-at each takes a batch of each worker: leave it out");
    if (each && known.noise)
        throw Refusal("noise", ", but --update-at each takes a batch of each worker: leave it out");
    const int collect = each ? 0 : collect_by(known, given.collect, n);
    const int most = given.most;
    if (collect >= most * static_cast<std::int64_t>(n))
        throw Refusal("most",
                      fmt::format(", but an update takes more than {} batches of {} workers: use "
                                  "at least {}",
                                  collect, n, collect / n + 1));
    return std::make_unique<Malenia>(problem, collect, most, as_note(tasks_note(known)));
}

}  // namespace

SchemeEntry<KBatchSyncOptions> KBatchSyncOptions::entry()
{
    return {
        .name = "k-batch-sync",
        .text =
            "the first M batches at the newest point, of whatever workers; who has answered takes "
            "another batch; never stale, and no worker is needed",
        .source =
            "Dutta et al., Slow and Stale Gradients Can Win the Race, AISTATS 2018; Tyurin, "
            "Richtarik (Rennala SGD), arXiv 2305.12387",
        .options = options<KBatchSyncOptions>(),
        .make =
            [](const KBatchSyncOptions& given, const Problem& problem) {
                const auto known = theory_of(given);
                const int collect = collect_by(known, given.collect, problem.workers);
                std::optional<Restarts> limits;
                if (given.restart_after)
                    limits = restarts(*given.restart_after, problem, samples_of_a_task(problem));
                return std::make_unique<KBatchSync>(problem, collect, std::move(limits),
                                                    as_note(theory_note(known, collect)));
            },
        .properties = {
            .candidates = [](int n, bool) -> std::vector<Choice> {
                const auto all = std::to_string(n);
                return {{{"collect", all}}, {{"collect", all}, {"restart-after", "auto"}}};
            },
            .tree = [](const KBatchSyncOptions& given, int n) -> ComputationTree {
                return {.gradients = collect_by(theory_of(given), given.collect, n), .stale = 0};
            },
            .varying_samples = true,
            .example = {{"restart-after", "0.02"}}}};
}

SchemeEntry<MaleniaOptions> MaleniaOptions::entry()
{
    return {
        .name = "malenia",
        .text =
            "batch after batch at the newest point until there are enough of each worker, weighted "
            "by the rows held: not biased to fast workers",
        .source = "Tyurin, Richtarik (Malenia SGD), arXiv 2305.12387",
        .options = options<MaleniaOptions>(
            {{&MaleniaOptions::update_at,
              {"update-at", "mean|each", "mean",
               "an update is made when the harmonic mean of the workers' batches is above "
               "M / N (--collect M), or when each worker has one"}}}),
        .make = make_malenia,
        .properties = {.candidates = [](int n, bool) -> std::vector<Choice> {
                           return {{{"update-at", "each"}}, {{"collect", std::to_string(2 * n)}}};
                       },
                       .varying_samples = true}};
}

}  // namespace quorate
