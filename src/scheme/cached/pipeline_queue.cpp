// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/cached/pipeline_queue.hpp"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "base/fields.hpp"
#include "scheme/cached/caching_plans.hpp"
#include "scheme/contributions.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

class PipelineQueue final : public Scheme {
public:
    PipelineQueue(const Problem& problem, GradientCode code, int collect,
                  const std::optional<std::int64_t>& cap)
        : layout_(code.encoding, problem), code_(std::move(code)), collect_(collect),
          d_(std::ssize(code_.encoding.rows[0][0])), cap_(cap.value_or(2 * d_)),
          anew_(std::exchange(layout_.plans, caching(layout_.plans))), received_(anew_),
          owed_(problem.workers), stale_(problem.workers)
    {
        if (cap_ < d_ - 1)
            throw Refusal("staleness-cap",
                          fmt::format(", but answers in time have gradients of the last {} rounds: "
                                      "use at least {}",
                                      d_, d_ - 1));
        layout_.needs.staleness = static_cast<double>(d_ - 1) / 2;
        layout_.needs.stable_step = stable_step_of_cycle(static_cast<int>(d_));
    }

    Needs needs() const override { return layout_.needs; }
    std::string warning() const override { return code_.warning; }

    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            active_ = start->active;
            begin(0, out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            begin(done->version, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& contribution : arrived->contributions) receive(contribution, out);
        } else if (std::holds_alternative<Quiescent>(event)) {
            make_do(out);
        }
    }

    void fetch_ahead(Worker worker) const override { received_.fetch_ahead(worker); }

private:
    using Begin = TaskControl::Begin;

    void begin(Version version, std::vector<Action>& out)
    {
        version_ = version;
        received_.clear();
        code_.decoder->begin();
        decoding_ = nullptr;
        answers_ = 0;
        for (const auto worker : active_) {
            stale_[worker] = false;
            if (std::ssize(owed_[worker]) > cap_)
                leave_out(worker, out);
            else
                give(worker, layout_.plans, version_, Begin::after, out);
        }
    }

    void give(Worker worker, const Plans& plans, Version version, Begin begin,
              std::vector<Action>& out)
    {
        owed_[worker].push_back(next_);
        out.push_back(Dispatch{.task = next_++,
                               .worker = worker,
                               .plan = plans[static_cast<std::size_t>(worker)],
                               .inputs = {version},
                               .control = {.draw = version, .begin = begin}});
    }

    // Has a worker that owes too much do the last d rounds only. Their points are there: it owes
    // these rounds, and the newest point is always there.
    void leave_out(Worker worker, std::vector<Action>& out)
    {
        const auto before = std::exchange(owed_[worker], {});
        for (auto version = version_ - d_ + 1; version <= version_; ++version)
            give(worker, layout_.plans, version, owed_[worker].empty() ? Begin::now : Begin::after,
                 out);
        for (const auto task : before) out.emplace_back(Close{task, task});
    }

    void receive(const Contribution& contribution, std::vector<Action>& out)
    {
        const auto worker = contribution.worker;
        // A worker that answers a task will not answer an older one any more.
        auto& owed = owed_[worker];
        for (; owed.front() < contribution.task; owed.pop_front())
            out.emplace_back(Close{owed.front(), owed.front()});
        owed.pop_front();
        stale_[worker] = owed.empty() && version_ - contribution.oldest > cap_;
        if (!owed.empty() || stale_[worker]) {
            out.emplace_back(Close{contribution.task, contribution.task});
            return;
        }
        used_.push_back(contribution.task);
        received_.add(contribution);
        ++answers_;
        decoding_ = code_.decoder->receive(worker);
        if (decoding_ && answers_ >= collect_) finish(out);
    }

    // Goes on when nobody owes anything any more: with the answers that have come if they can be
    // decoded, else with all gradients computed anew by those whose answers were too stale.
    void make_do(std::vector<Action>& out)
    {
        if (decoding_) return finish(out);
        for (const auto worker : active_) {
            if (!stale_[worker]) continue;
            stale_[worker] = false;
            give(worker, anew_, version_, Begin::after, out);
        }
    }

    void finish(std::vector<Action>& out)
    {
        out.push_back(received_.step(*decoding_, layout_.samples));
        for (const auto task : used_) out.emplace_back(Close{task, task});
        used_.clear();
    }

    Layout layout_;
    GradientCode code_;
    int collect_;
    std::int64_t d_, cap_;
    Plans anew_;  // gradients of this round only, none of them cached
    Contributions received_;
    const Decoding* decoding_ = nullptr;  // of the answers in time; null: they do not suffice
    int answers_ = 0;                     // in time
    std::vector<TaskId> used_;            // the tasks of these
    std::vector<Worker> active_;
    std::vector<std::deque<TaskId>> owed_;  // by worker, ascending; the last is of this round
    std::vector<bool> stale_;  // by worker: whether its answer was too stale to be used
    Version version_ = 0;
    TaskId next_ = 0;
};

}  // namespace

std::unique_ptr<Scheme> pipeline_queue(const Problem& problem, GradientCode code, int collect,
                                       const std::optional<std::int64_t>& cap)
{
    return std::make_unique<PipelineQueue>(problem, std::move(code), collect, cap);
}

}  // namespace quorate
