// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "base/seconds.hpp"
#include "straggler/delay.hpp"

namespace quorate {

/// An option that names a delay model. Those of different options are independent.
struct DelayOption {
    const char* name;
    Purpose purpose;
    double neutral = 0;  // what undisturbed machines draw
};

inline constexpr DelayOption delay_options[] = {{"delay", Purpose::delay},
                                                {"row-delay", Purpose::row_delay},
                                                {"uplink-delay", Purpose::uplink_delay},
                                                {"downlink-delay", Purpose::downlink_delay},
                                                {"slowdown", Purpose::slowdown, 1}};

/// The models by which machines are made to straggle. They must outlive this: OwnedDelayModels owns
/// them.
struct StragglerModels {
    Seconds row_time;             // computing a row takes at least so long, times the slowdown
    DelayModel& delays;           // seconds before a task is computed
    DelayModel& row_delays;       // further seconds of each row
    DelayModel& uplink_delays;    // seconds by which each message to the coordinator is late
    DelayModel& downlink_delays;  // seconds by which each task is late
    DelayModel& slowdowns;        // factors of computing times
};

/// Owns a model for each of the options.
class OwnedDelayModels {
public:
    void add(const DelayOption& option, std::unique_ptr<DelayModel> model)
    {
        models_[option.name] = std::move(model);
    }
    /// Only if there is one.
    DelayModel& of(const std::string& option) const { return *models_.at(option); }
    /// Only if each option has one.
    StragglerModels models(Seconds row_time) const
    {
        return {row_time,           of("delay"),          of("row-delay"),
                of("uplink-delay"), of("downlink-delay"), of("slowdown")};
    }

private:
    std::map<std::string, std::unique_ptr<DelayModel>> models_;
};

}  // namespace quorate
