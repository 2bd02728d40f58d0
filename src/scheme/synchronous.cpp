// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/synchronous.hpp"

namespace quorate {

namespace {

constexpr int end_of_round = 0;  // the only timer

}  // namespace

void SynchronousScheme::handle(const Event& event, Seconds now, std::vector<Action>& out)
{
    now_ = now;
    if (const auto* start = std::get_if<Start>(&event)) {
        active_ = order(start->active);
        dispatch(0, out);
    } else if (const auto* done = std::get_if<Stepped>(&event)) {
        stepped(*done);
        dispatch(done->version, out);
    } else if (std::holds_alternative<Deadline>(event)) {
        expired_ = true;
        if (auto step = expire()) finish(std::move(*step), out);
    } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
        for (const auto& contribution : arrived->contributions) {
            --missing_;
            auto step = hear(contribution);
            if (!step && expired_) step = expire();
            if (step) {
                finish(std::move(*step), out);
                return;
            }
        }
        if (missing_ == 0) out.push_back(Stuck{why_stuck()});
    }
}

void SynchronousScheme::dispatch(Version version, std::vector<Action>& out)
{
    dispatched_ = now_;
    begin();
    first_ = next_;
    missing_ = 0;
    expired_ = false;
    for (const auto worker : active_) {
        auto task = plan(worker);
        missing_ += static_cast<std::int64_t>(task->parts.size());
        out.push_back(Dispatch{next_++, worker, std::move(task), {version}, version});
    }
    if (limit() != never) out.push_back(SetTimer{end_of_round, now_ + limit()});
}

void SynchronousScheme::finish(Step step, std::vector<Action>& out)
{
    out.push_back(std::move(step));
    out.push_back(Close{first_, next_ - 1});
    if (limit() != never) out.push_back(SetTimer{end_of_round, never});
}

}  // namespace quorate
