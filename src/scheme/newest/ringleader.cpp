// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous schemes for partitions that are not alike: each update takes the mean over tables of
// the workers' gradients, so that fast workers count no more than slow ones (ringleader, ia2sgd).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scheme/newest/schemes.hpp"
#include "scheme/newest/theory.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

// The contributions of each worker that make up estimates. Each worker's stand for its partition,
// by its rows: they are in the slot of its number.
class GradientTable {
public:
    explicit GradientTable(const std::vector<Block>& blocks) : entries_(blocks.size())
    {
        for (const auto& block : blocks) {
            rows_.push_back(static_cast<double>(block.count));
            all_ += rows_.back();
        }
    }

    void add(const Contribution& contribution)
    {
        auto& own = entries_[contribution.worker];
        if (own.list.empty()) {
            ++present_;
            covered_ += rows_[contribution.worker];
        }
        own.list.push_back({contribution.id, contribution.task});
        own.samples += contribution.samples;
    }
    /// Closes the tasks of a worker's contributions.
    void clear(Worker worker, std::vector<Action>& out)
    {
        auto& own = entries_[worker];
        if (own.list.empty()) return;
        for (const auto& one : own.list) out.emplace_back(Close{one.task, one.task});
        own = {};
        --present_;
        covered_ -= rows_[worker];
    }
    /// Fills the worker's slot.
    void fill(Worker worker, std::vector<Action>& out) const
    {
        const auto i = static_cast<std::size_t>(worker);
        if (entries_[i].list.empty()) return;
        ContributionIds ids;
        for (const auto& one : entries_[i].list) ids.push_back(one.id);
        const double weight = rows_[i] / static_cast<double>(entries_[i].samples);
        const Fill fill{worker, weight,
                        ids};  // if it is moved, GCC 12 warns of bounds that it mistakes
        out.emplace_back(fill);
    }
    int size(Worker worker) const { return static_cast<int>(entries_[worker].list.size()); }
    /// Workers that have an entry.
    int present() const { return present_; }

    /// Returns the step of the mean over the partitions of those that have an entry, each the mean
    /// of its samples, if the slots of all are filled.
    Step step() const
    {
        Step step{.terms = {}, .divisor = covered_, .error = 0, .table = true};
        const double off = all_ / covered_ - 1;
        step.error = present_ * off * off + static_cast<double>(entries_.size()) - present_;
        return step;
    }

private:
    struct Entry {
        ContributionId id;
        TaskId task;
    };
    struct Own {
        std::vector<Entry> list = {};
        std::int64_t samples = 0;
    };
    std::vector<double> rows_;  // of the workers' partitions
    std::vector<Own> entries_;  // by worker
    int present_ = 0;
    double all_ = 0, covered_ = 0;  // rows of the partitions, and of those that have an entry
};

// What both share: worker i holds partition i, and computes batch after batch of it.
class Tabled : public Scheme {
public:
    explicit Tabled(const Problem& problem) : own_(problem), point_(own_.plans.size(), 0) {}

    Needs needs() const override
    {
        auto needs = own_.needs;
        needs.staleness = workers() - 1;
        needs.stable_step = stable_step(needs.staleness);
        needs.slots = workers();
        return needs;
    }

protected:
    int workers() const { return static_cast<int>(own_.plans.size()); }
    const OwnPartitions& own() const { return own_; }
    Version newest() const { return newest_; }
    void publish(const Stepped& done) { newest_ = done.version; }

    void dispatch(Worker worker, Version version, std::vector<Action>& out)
    {
        point_[worker] = version;
        out.push_back(own_.task(next_++, worker, version, {.draw = own_count}));
    }
    /// The version at which a worker computes.
    Version point(Worker worker) const { return point_[worker]; }

    /// Makes an update of a table, whose slots are filled. @param contribution  the new one
    void update(const GradientTable& table, const Contribution& contribution,
                std::vector<Action>& out) const
    {
        auto step = table.step();
        step.share = static_cast<double>(contribution.samples) / static_cast<double>(own_.samples);
        out.push_back(std::move(step));
    }

private:
    OwnPartitions own_;
    std::vector<Version> point_;  // by worker
    Version newest_ = 0;
    TaskId next_ = 0;
};

// A round of n updates has two phases. First the table is filled until it has a contribution of
// each worker, who go on at the point that they have. Then each worker makes one update, the one
// that has filled the table the first. What comes from those who have made theirs is for the next
// round's table.
class Ringleader final : public Tabled {
public:
    /// @param newest  workers go on at the newest point always
    Ringleader(const Problem& problem, bool newest, int most, const Theory& theory)
        : Tabled(problem), newest_point_(newest), most_(most), theory_(theory),
          table_(own().needs.blocks), buffer_(own().needs.blocks), state_(problem.workers)
    {
    }

    Needs needs() const override
    {
        auto needs = Tabled::needs();
        needs.answers = workers();
        // In the table one more, for it is filled before the worker's update.
        needs.kept = static_cast<std::int64_t>(workers()) * (2 * most_ + 1);
        // Those of one table are at most 2 n - 2 updates old. Where workers stay at their points,
        // each is at two.
        needs.points = std::int64_t{2} * workers();
        return needs;
    }

    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            active_ = start->active;
            if (theory_.lipschitz) out.push_back(step_of_theory());
            for (const auto worker : active_) dispatch(worker, newest(), out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution, out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            publish(*done);
            stepped(out);
        } else if (std::holds_alternative<Quiescent>(event)) {
            do_without(out);
        }
    }

private:
    struct State {
        bool updated = false;  // it has made its update in this round
        bool rests = false;    // it has no task
        bool absent = false;   // the round does without it
    };

    // For a table of one batch of each worker, which is the least that there can be.
    Note step_of_theory() const
    {
        const double l = *theory_.lipschitz, noise = *theory_.noise;
        const double smooth = 1 / (8.0 * workers() * l);
        const double step =
            noise > 0 ? std::min(smooth, *theory_.target / (10 * l * noise)) : smooth;
        return {
            fmt::format("the theory, as notes of others have it: a step of {:g}, min(1 / (8 N "
                        "L), EPS B / (10 L SIGMA2)) for B = 1, the least harmonic mean of the "
                        "workers' batches in a table",
                        step)};
    }

    void receive(const Contribution& contribution, std::vector<Action>& out)
    {
        const auto worker = contribution.worker;
        auto& state = state_[worker];
        last_ = contribution;
        // Who comes back is part of the next round.
        if (std::exchange(state.absent, false) && updating_) state.updated = true;
        if (updating_ && state.updated) {
            buffer_.add(contribution);
            go_on(worker, buffer_, out);
            return;
        }
        table_.add(contribution);
        if (updating_) {
            table_.fill(worker, out);
        } else if (!is_full()) {
            go_on(worker, table_, out);
            return;
        }
        make_update(worker, out);
    }

    void go_on(Worker worker, const GradientTable& table, std::vector<Action>& out)
    {
        if (table.size(worker) < most_)
            dispatch(worker, newest_point_ ? newest() : point(worker), out);
        else
            state_[worker].rests = true;
    }

    // Whether `done` holds for all workers that take part. Amortised O(1) where it goes on to hold,
    // for those for whom it is known are not asked again in this phase.
    template <class Done>
    bool all(Done done)
    {
        while (done_ < active_.size() && done(active_[done_])) ++done_;
        return done_ == active_.size();
    }

    // Whoever is absent and comes back is in the table at once.
    bool is_full()
    {
        return all([&](Worker worker) { return table_.size(worker) > 0 || state_[worker].absent; });
    }

    void make_update(Worker worker, std::vector<Action>& out)
    {
        if (!std::exchange(updating_, true)) {
            begins_ = true;
            done_ = 0;
            for (const auto each : active_) table_.fill(each, out);
        }
        state_[worker].updated = true;
        update(table_, last_, out);
        next_ = worker;
    }

    // Goes on after an update.
    void stepped(std::vector<Action>& out)
    {
        state_[next_].rests = false;
        dispatch(next_, newest(), out);
        // Who rests because its part of the table is full has its update to make.
        if (std::exchange(begins_, false))
            for (const auto worker : active_)
                if (state_[worker].rests && !state_[worker].updated) {
                    state_[worker].rests = false;
                    dispatch(worker, newest(), out);
                }
        end_round(out);
    }

    // Ends the round if all have made their updates.
    void end_round(std::vector<Action>& out)
    {
        // Whoever is absent and comes back has its update made.
        if (!all([&](Worker worker) { return state_[worker].updated || state_[worker].absent; }))
            return;
        updating_ = false;
        done_ = 0;
        for (const auto worker : active_) {
            table_.clear(worker, out);
            state_[worker].updated = false;
        }
        std::swap(table_, buffer_);
    }

    // Goes on without the workers that will not answer.
    void do_without(std::vector<Action>& out)
    {
        std::vector<Worker> gone;
        for (const auto worker : active_)
            if (auto& state = state_[worker]; !state.rests && !state.absent) {
                state.absent = true;
                gone.push_back(worker);
            }
        if (gone.empty() || table_.present() + buffer_.present() == 0) return;
        out.push_back(
            Note{fmt::format("updates go on without the partition of worker {}, who does "
                             "not answer",
                             fmt::join(gone, ", "))});
        if (updating_) end_round(out);
        if (updating_) return;
        const auto first =
            std::ranges::find_if(active_, [&](Worker worker) { return table_.size(worker) > 0; });
        if (first != active_.end() && is_full()) make_update(*first, out);
    }

    bool newest_point_;
    int most_;
    Theory theory_;
    GradientTable table_, buffer_;
    std::vector<State> state_;  // by worker
    std::vector<Worker> active_;
    std::size_t done_ = 0;  // so many of these are done with their part of the running phase
    Contribution last_ = {};
    bool updating_ = false;  // in the second phase
    bool begins_ = false;    // which has just begun
    Worker next_ = 0;        // who makes the running update
};

// An update for each contribution, by the mean of the newest ones of all workers. The first one
// waits until all have one.
class Ia2sgd final : public Tabled {
public:
    explicit Ia2sgd(const Problem& problem) : Tabled(problem), table_(own().needs.blocks) {}

    Needs needs() const override
    {
        auto needs = Tabled::needs();
        needs.answers = workers();
        needs.kept = needs.points = workers();
        return needs;
    }

    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            missing_ = static_cast<int>(start->active.size());
            for (const auto worker : start->active) dispatch(worker, newest(), out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution, out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            publish(*done);
            for (const auto worker : waiting_) dispatch(worker, newest(), out);
            waiting_.clear();
        } else if (std::holds_alternative<Quiescent>(event) && missing_ > 0 &&
                   table_.present() > 0) {
            // Who has not answered by now is there again in the table when it does.
            missing_ = 0;
            update(table_, last_, out);
        }
    }

private:
    void receive(const Contribution& contribution, std::vector<Action>& out)
    {
        const auto worker = contribution.worker;
        table_.clear(worker, out);
        table_.add(contribution);
        table_.fill(worker, out);
        waiting_.push_back(worker);
        last_ = contribution;
        if (missing_ > 0) --missing_;
        if (missing_ == 0) update(table_, contribution, out);
    }

    GradientTable table_;
    std::vector<Worker> waiting_;  // for an update
    Contribution last_ = {};
    int missing_ = 0;  // workers without a contribution, before the first update
};

}  // namespace

SchemeEntry<RingleaderOptions> RingleaderOptions::entry()
{
    return {
        .name = "ringleader",
        .text =
            "asynchronous updates by the mean over all workers' gradients, N of them a round, one "
            "after each worker's answer: not biased to fast workers",
        .source = "Maranjyan, Richtarik, Ringleader ASGD, arXiv 2509.22860",
        .options = options<RingleaderOptions>({
            {&RingleaderOptions::points,
             {"points", "once|newest", "once",
              "who answers before its turn goes on at the point that it has, or at the "
              "newest one"}},
        }),
        .make =
            [](const RingleaderOptions& given, const Problem& problem) {
                const auto known = theory_of(given);
                if (known.lipschitz.has_value() != known.noise.has_value())
                    throw Refusal(known.lipschitz ? "lipschitz" : "noise",
                                  ", but this scheme's step follows from the constant and the "
                                  "noise: give --lipschitz, --noise and --target-gradient");
                return std::make_unique<Ringleader>(
                    problem, given.points == RingleaderOptions::Points::newest, given.most, known);
            },
        .properties = {.candidates = defaults_tried,
                       .pace = [](const RingleaderOptions&, int n) -> Pace {
                           return {static_cast<double>(n)};
                       },
                       .varying_samples = true}};
}

SchemeEntry<Ia2sgdOptions> Ia2sgdOptions::entry()
{
    return {
        .name = "ia2sgd",
        .text =
            "an update for each batch, at once, by the mean of all workers' newest gradients: not "
            "biased to fast workers, stale by N - 1 updates on average",
        .source =
            "Maranjyan, Richtarik, Ringleader ASGD, arXiv 2509.22860 (a method it compares with)",
        .make = [](const Ia2sgdOptions&,
                   const Problem& problem) { return std::make_unique<Ia2sgd>(problem); },
        .properties = {.candidates = defaults_tried,
                       .pace = [](const Ia2sgdOptions&, int n) -> Pace {
                           return {.updates = static_cast<double>(n), .steady = true};
                       },
                       .varying_samples = true}};
}

}  // namespace quorate
