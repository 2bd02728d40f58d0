// SPDX-License-Identifier: BSD-2-Clause
// Step sizes over the rounds of a run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/typed_entry.hpp"

namespace quorate {

/// Returns the step size after t batches of samples. Where each round takes a whole batch, that is
/// the step size of round t = 0, 1, ...
using Schedule = std::function<double(double t)>;

/// What a schedule may go by.
struct Span {
    std::int64_t rounds;  // of the whole run
    double epoch = 1;     // batches that have as many samples as there are training rows
};

/// Makes a schedule. Arguments that count batches count epochs with an e behind them.
/// @param step  that the schedule begins with
/// @throws BadInput if the arguments behind the name are wrong
using MakeSchedule = std::function<Schedule(const Settings&, double step, const Span& span)>;
template <>
struct PropertiesOf<MakeSchedule> {
    struct type {};
    static constexpr const char* option = "schedule";
    static GivenComponent given(const Settings& settings, const std::string& form,
                                const std::string& text, double step, const Span& span);
};

/// The entry of a schedule whose arguments are a T.
template <class T>
using ScheduleEntry = TypedEntry<MakeSchedule, T>;

/// A number of batches, or of epochs.
struct BatchCount {
    double count = 1;
    bool epochs = false;
    double batches(const Span& span) const { return epochs ? count * span.epoch : count; }
};

// The arguments of the schedules; `quorate list schedules` has the formulas.

struct ConstantSchedule {
    static ScheduleEntry<ConstantSchedule> entry();
};

struct InverseSchedule {
    BatchCount t0 = {};
    static ScheduleEntry<InverseSchedule> entry();
};

struct InverseSqrtSchedule {
    BatchCount t0 = {};
    static ScheduleEntry<InverseSqrtSchedule> entry();
};

struct GeometricSchedule {
    double ratio = 1;
    static ScheduleEntry<GeometricSchedule> entry();
};

struct StepSchedule {
    BatchCount every = {};
    double factor = 1;
    static ScheduleEntry<StepSchedule> entry();
};

struct ListSchedule {
    struct Place {
        BatchCount from;
        double factor = 1;
    };
    std::vector<Place> places = {{}};
    static ScheduleEntry<ListSchedule> entry();
};

struct LinearSchedule {
    double end = 0;
    static ScheduleEntry<LinearSchedule> entry();
};

/// The schedules that --schedule can name.
const std::vector<Entry<MakeSchedule>>& schedules();

/// Returns the schedule that --schedule names, with smaller steps during --warmup.
/// @throws BadInput as MakeSchedule, or if --warmup is wrong
Schedule schedule_of(const Settings& settings, double step, const Span& span);

/// The largest step size of so many rounds of a batch each. O(rounds).
double largest_step(const Schedule& schedule, std::int64_t rounds);

}  // namespace quorate
