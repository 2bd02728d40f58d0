// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <memory>
#include <vector>

#include "compute/point.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// What a task asks for beside its plan. Tasks that are given out together mostly ask for the same,
/// and share it. Immutable; its owners are of one thread.
struct TaskContext : boost::intrusive_ref_counter<TaskContext, boost::thread_unsafe_counter> {
    /// @param given  the points that the task names, in its order, and behind them its operands
    TaskContext(const Dispatch& task, PointList given)
        : inputs(task.inputs), operands(task.operands), control(task.control),
          points(std::move(given))
    {
    }
    /// Whether it is what that task asks for.
    bool are_of(const Dispatch& task, const PointList& given) const
    {
        return control == task.control && inputs == task.inputs && operands == task.operands &&
               points == given;
    }

    Versions inputs;
    std::shared_ptr<const std::vector<Operand>> operands;
    TaskControl control;
    PointList points;
};
using SharedTaskContext = boost::intrusive_ptr<const TaskContext>;

}  // namespace quorate
