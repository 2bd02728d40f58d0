// SPDX-License-Identifier: BSD-2-Clause
#include "engine/renumbering.hpp"

#include <algorithm>

namespace quorate {

Worker Renumbering::scheme_of(Worker worker) const
{
    if (members_.empty()) return worker < workers_ ? worker : -1;
    const auto at = std::ranges::lower_bound(members_, worker);
    return at == members_.end() || *at != worker ? -1 : static_cast<Worker>(at - members_.begin());
}

Version Renumbering::run_of(Version version) const
{
    const auto models = std::ssize(newest_);
    return version < models ? newest_[static_cast<std::size_t>(version)] : version - models + next_;
}

Version Renumbering::scheme_of(Version version) const
{
    if (version >= next_) return version - next_ + std::ssize(newest_);
    return std::ranges::find(newest_, version) - newest_.begin();
}

void Renumbering::to_run(Action& action) const
{
    if (members_.empty()) return;
    if (auto* dispatch = std::get_if<Dispatch>(&action)) {
        dispatch->task += task_;
        dispatch->worker = run_of(dispatch->worker);
        if (dispatch->control.draw != own_count) dispatch->control.draw += draw_;
        for (auto& version : dispatch->inputs) version = run_of(version);
    } else if (auto* close = std::get_if<Close>(&action)) {
        close->first += task_;
        close->last += task_;
    }
}

void Renumbering::to_scheme(Event& event) const
{
    if (members_.empty()) return;
    if (auto* arrived = std::get_if<Arrived>(&event)) {
        for (auto& one : arrived->contributions) {
            one.worker = scheme_of(one.worker);
            one.task -= task_;
            one.oldest = scheme_of(one.oldest);
            one.newest = scheme_of(one.newest);
        }
    } else if (auto* stepped = std::get_if<Stepped>(&event)) {
        stepped->version = scheme_of(stepped->version);
    } else if (auto* lost = std::get_if<WorkerLost>(&event)) {
        lost->worker = scheme_of(lost->worker);
    } else if (auto* joined = std::get_if<WorkerJoined>(&event)) {
        joined->worker = scheme_of(joined->worker);
    }
}

}  // namespace quorate
