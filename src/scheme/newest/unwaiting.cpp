// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/newest/unwaiting.hpp"

#include <deque>
#include <limits>

#include "scheme/newest/staleness_weight.hpp"
#include "scheme/placement.hpp"
#include "scheme/sample_mean.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

// Worker i holds partition i.
class Unwaiting final : public Scheme {
public:
    Unwaiting(const KBatchAsyncOptions& given, const Problem& problem, int collect,
              std::string note)
        : note_(std::move(note)), collect_(collect), scale_(given.staleness_scale),
          cap_(given.staleness_cap.value_or(std::numeric_limits<std::int64_t>::max())),
          own_(problem), mean_(own_.needs.blocks), open_(problem.workers)
    {
    }

    Needs needs() const override
    {
        auto needs = own_.needs;
        needs.answers = collect_;
        needs.limits_time = true;  // a batch that took no time would be repeated without end
        needs.staleness = std::min(static_cast<double>(std::ssize(open_) - 1) / collect_,
                                   static_cast<double>(cap_));
        needs.stable_step = stable_step(needs.staleness);
        return needs;
    }

    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            active_ = start->active;
            if (!note_.empty()) out.push_back(Note{note_});
            dispatch(out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution, out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            newest_ = done->version;
            dispatch(out);
        }
    }

private:
    void dispatch(std::vector<Action>& out)
    {
        for (const auto worker : active_) {
            open_[worker].push_back(next_);
            out.push_back(
                own_.task(next_++, worker, newest_,
                          {.draw = own_count, .begin = TaskControl::Begin::after, .repeat = true}));
        }
    }

    void receive(const Contribution& contribution, std::vector<Action>& out)
    {
        // A worker that answers a task will not answer an older one any more. What came for that
        // may wait for its update, with which it is closed.
        auto& open = open_[contribution.worker];
        for (; open.front() < contribution.task; open.pop_front()) left_.push_back(open.front());
        const auto stale = newest_ - contribution.newest;
        if (stale > cap_) return;
        mean_.add(contribution, contribution.worker,
                  staleness_weight(scale_, stale, static_cast<int>(open_.size())));
        if (mean_.size() == collect_) update(out);
    }

    void update(std::vector<Action>& out)
    {
        auto step = mean_.step();
        step.share = static_cast<double>(mean_.samples()) / static_cast<double>(own_.samples);
        out.push_back(std::move(step));
        mean_.clear();
        for (const auto task : left_) out.emplace_back(Close{task, task});
        left_.clear();
    }

    std::string note_;
    int collect_;
    StalenessScale scale_;
    std::int64_t cap_;
    OwnPartitions own_;
    SampleMean mean_;
    std::vector<Worker> active_;
    std::vector<std::deque<TaskId>> open_;  // by worker, ascending
    std::vector<TaskId> left_;              // for newer ones; to be closed with the next update
    Version newest_ = 0;
    TaskId next_ = 0;
};

}  // namespace

std::unique_ptr<Scheme> unwaiting(const KBatchAsyncOptions& given, const Problem& problem,
                                  int collect, std::string note)
{
    return std::make_unique<Unwaiting>(given, problem, collect, std::move(note));
}

}  // namespace quorate
