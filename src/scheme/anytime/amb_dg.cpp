// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <deque>
#include <limits>

#include "scheme/anytime/compute_time.hpp"
#include "scheme/options.hpp"
#include "scheme/placement.hpp"
#include "scheme/sample_mean.hpp"

namespace quorate {

namespace {

// Anytime minibatch with delayed gradients. Workers compute epoch after epoch of fixed length, each
// at the newest point that has reached them when it begins. The coordinator updates once in each
// such time, with what has come. Worker i holds partition i. Al-Lawati and Draper, arXiv
// 2012.08616.
class AmbDg final : public Scheme {
public:
    AmbDg(const AmbDgOptions& given, const Problem& problem)
        : cap_(given.staleness_cap.value_or(std::numeric_limits<std::int64_t>::max())),
          own_(problem), mean_(own_.needs.blocks),
          epoch_(given.compute_time, given.micro_batch, problem, own_.samples),
          open_(problem.workers)
    {
        if (given.samples_cap) epoch_.cap(*given.samples_cap, problem, own_.needs);
    }

    Needs needs() const override
    {
        auto needs = own_.needs;
        needs.limits_time = true;
        return needs;
    }

    void handle(const Event& event, Seconds now, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            active_ = start->active;
            for (const auto worker : active_) dispatch(worker, TaskControl::Begin::now, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution);
            if (!epoch_.known()) {
                if (++probed_ == std::ssize(active_)) probe_is_over(now, out);
            } else if (!std::exchange(ticking_, true)) {
                // The coordinator's timer begins with the first answer, and pauses while there is
                // none.
                out.push_back(SetTimer{tick, now});
            }
        } else if (std::holds_alternative<Deadline>(event)) {
            ticking_ = !mean_.empty();
            if (ticking_) update(now, out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            newest_ = done->version;
            for (const auto worker : active_) dispatch(worker, TaskControl::Begin::after, out);
        }
    }

private:
    static constexpr int tick = 0;  // the only timer

    void dispatch(Worker worker, TaskControl::Begin begin, std::vector<Action>& out)
    {
        open_[worker].push_back(next_);
        out.push_back(own_.task(next_++, worker, newest_,
                                {.draw = own_count,
                                 .begin = begin,
                                 .repeat = epoch_.known(),
                                 .budget = epoch_.known() ? epoch_.budget(worker) : Budget{}}));
    }

    void receive(const Contribution& contribution)
    {
        // A worker that answers a task will not answer an older one any more.
        auto& open = open_[contribution.worker];
        for (; open.front() < contribution.task; open.pop_front())
            answered_.push_back(open.front());
        epoch_.receive(contribution, true);
        if (contribution.samples == 0) return;
        if (newest_ - contribution.newest > cap_) return;
        mean_.add(contribution, contribution.worker);
    }

    void update(Seconds now, std::vector<Action>& out)
    {
        auto step = mean_.step();
        step.share = static_cast<double>(mean_.samples()) / static_cast<double>(own_.samples);
        out.push_back(std::move(step));
        mean_.clear();
        for (const auto task : answered_) out.emplace_back(Close{task, task});
        answered_.clear();
        out.push_back(SetTimer{tick, now + epoch_.seconds()});
    }

    // Chooses the length of an epoch from the fixed minibatches, one from each worker, and makes
    // the first update with them.
    void probe_is_over(Seconds now, std::vector<Action>& out)
    {
        out.push_back(Note{epoch_.choose()});
        ticking_ = true;
        update(now, out);
    }

    std::int64_t cap_;
    OwnPartitions own_;
    SampleMean mean_;
    ComputeTime epoch_;
    std::ptrdiff_t probed_ = 0;
    std::vector<Worker> active_;
    std::vector<std::deque<TaskId>> open_;  // of each worker, ascending
    std::vector<TaskId> answered_;          // tasks to be closed with the next update
    bool ticking_ = false;
    Version newest_ = 0;
    TaskId next_ = 0;
};

}  // namespace

SchemeEntry<AmbDgOptions> AmbDgOptions::entry()
{
    return {.name = "amb-dg",
            .text =
                "anytime minibatch with delayed gradients: workers never wait, updates come every "
                "--compute-time; where messages take several times as long",
            .source =
                "Al-Lawati and Draper, Anytime Minibatch with Delayed Gradients, arXiv 2012.08616",
            .options = options<AmbDgOptions>(),
            .make = construct_a<AmbDg>,
            .properties = {.candidates = [](int, bool timed) -> std::vector<Choice> {
                               if (!timed) return {};
                               return {{{"compute-time", "auto"}}};
                           },
                           .varying_samples = true,
                           .example = {{"compute-time", "0.004"}}}};
}

}  // namespace quorate
