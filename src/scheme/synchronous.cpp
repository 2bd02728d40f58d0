// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/synchronous.hpp"

namespace quorate {

void SynchronousScheme::handle(const Event& event, Seconds, std::vector<Action>& out)
{
    if (const auto* start = std::get_if<Start>(&event)) {
        active_ = order(start->active);
        dispatch(0, out);
    } else if (const auto* stepped = std::get_if<Stepped>(&event)) {
        dispatch(stepped->version, out);
    } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
        for (const auto& contribution : arrived->contributions)
            if (auto step = hear(contribution)) {
                out.push_back(std::move(*step));
                out.push_back(Close{first_, next_ - 1});
                return;
            }
    }
}

void SynchronousScheme::dispatch(Version version, std::vector<Action>& out)
{
    begin();
    first_ = next_;
    for (const auto worker : active_)
        out.push_back(Dispatch{next_++, worker, plan(worker), {version}, version});
}

}  // namespace quorate
