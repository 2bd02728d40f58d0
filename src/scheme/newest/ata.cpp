// SPDX-License-Identifier: BSD-2-Clause
// Rounds of a fixed number of tasks, which are shared out by what is known of the workers' times
// (ata).
#include <algorithm>

#include "scheme/batches.hpp"
#include "scheme/newest/schemes.hpp"
#include "scheme/newest/task_allocation.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/sample_mean.hpp"

namespace quorate {

namespace {

// Worker i holds partition i, and computes a_i tasks of it as one. The step is made when all have
// answered. Draws are keyed by the worker's own count, which is the round's number as long as all
// have a task in each round.
class Ata final : public Scheme {
public:
    Ata(const Problem& problem, int tasks, double exploration)
        : tasks_(tasks), exploration_(exploration), own_(problem),
          batches_(own_.needs, problem.seed, problem.batch), mean_(own_.needs.blocks),
          workers_(problem.workers)
    {
    }

    Needs needs() const override
    {
        auto needs = own_.needs;
        needs.answers = std::min(tasks_, static_cast<int>(workers_.size()));
        return needs;
    }

    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            active_ = start->active;
            begin(out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            newest_ = done->version;
            begin(out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution, out);
        } else if (std::holds_alternative<Quiescent>(event)) {
            replace_silent(out);
        }
    }

private:
    struct Own {
        TaskTimes times = {};
        int asked = 0;      // tasks that it has not answered
        bool away = false;  // it did not answer, although all others had; no task depends on it
    };

    // Gives out the tasks of a round. Who is away gets one beside them, to be heard of again.
    void begin(std::vector<Action>& out)
    {
        mean_.clear();
        first_ = next_;
        ++round_;
        for (const auto worker : active_) workers_[worker].asked = 0;
        std::vector<Worker> present;
        for (const auto worker : active_)
            if (!workers_[worker].away) present.push_back(worker);
        missing_ = 0;
        share_out(tasks_, present, out);
        for (const auto worker : active_)
            if (workers_[worker].away) give(worker, 1, out);
    }

    void share_out(int tasks, const std::vector<Worker>& among, std::vector<Action>& out)
    {
        std::vector<TaskTimes> times;
        for (const auto worker : among) times.push_back(workers_[worker].times);
        const auto allocated = allocation(tasks, times, exploration_, round_);
        for (std::size_t i = 0; i < among.size(); ++i) {
            if (allocated[i] == 0) continue;
            ++missing_;
            give(among[i], allocated[i], out);
        }
    }

    void give(Worker worker, int tasks, std::vector<Action>& out)
    {
        workers_[worker].asked = tasks;
        Budget budget;
        if (tasks > 1) budget.samples = tasks * batches_.samples(worker);
        out.push_back(own_.task(next_++, worker, newest_, {.draw = own_count, .budget = budget}));
    }

    void receive(const Contribution& contribution, std::vector<Action>& out)
    {
        auto& one = workers_[contribution.worker];
        auto& [mean, done] = one.times;
        done += one.asked;
        const auto seconds = contribution.delay + contribution.compute;
        mean += (seconds - one.asked * mean) / static_cast<double>(done);
        one.asked = 0;
        mean_.add(contribution, contribution.worker);
        if (std::exchange(one.away, false)) return;
        if (--missing_ > 0) return;
        auto step = mean_.step();
        step.share = static_cast<double>(mean_.samples()) / static_cast<double>(own_.samples);
        out.push_back(std::move(step));
        out.emplace_back(Close{first_, next_ - 1});
    }

    // Gives the tasks of workers that will not answer to those who have answered.
    void replace_silent(std::vector<Action>& out)
    {
        std::vector<Worker> present;
        int tasks = 0;
        for (const auto worker : active_) {
            auto& one = workers_[worker];
            if (one.asked == 0)
                present.push_back(worker);
            else if (!std::exchange(one.away, true))
                tasks += one.asked;
        }
        if (tasks == 0 || present.empty()) return;
        missing_ = 0;
        share_out(tasks, present, out);
    }

    int tasks_;
    double exploration_;
    OwnPartitions own_;
    Batches batches_;
    SampleMean mean_;
    std::vector<Own> workers_;
    std::vector<Worker> active_;
    std::int64_t round_ = 0;
    int missing_ = 0;  // answers that the step needs and that have not come
    Version newest_ = 0;
    TaskId first_ = 0, next_ = 0;  // tasks of the running round are [first_, next_)
};

}  // namespace

SchemeEntry<AtaOptions> AtaOptions::entry()
{
    return {
        .name = "ata",
        .text =
            "a fixed number of tasks a round, shared out so that the last answer comes soonest, by "
            "times learned from the run: spares the time of slow workers",
        .source = "Maranjyan et al., ATA: Adaptive Task Allocation, arXiv 2502.00775",
        .options = options<AtaOptions>(
            {{&AtaOptions::tasks,
              {"tasks", "B", "", "tasks of a round, of --batch / N samples; default: N"},
              {.lowest = 1, .highest = 1'000'000}},
             {&AtaOptions::exploration,
              {"exploration", "C", "0.2",
               "how far below its mean a worker's time is believed to be as long as it has "
               "done few tasks, in means; its authors' code: 21.75"}}}),
        .make =
            [](const AtaOptions& given, const Problem& problem) {
                return std::make_unique<Ata>(problem, given.tasks.value_or(problem.workers),
                                             given.exploration);
            },
        .properties = {.candidates = defaults_tried, .varying_samples = true}};
}

}  // namespace quorate
