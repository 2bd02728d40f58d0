// SPDX-License-Identifier: BSD-2-Clause
#include "trace/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quorate::trace {

Memory::Memory(const Header& header)
{
    auto& attributes = trace_.attributes;
    attributes = header.text;
    for (const auto& [name, value] : header.real) attributes[name] = fmt::format("{}", value);
    for (const auto& [name, value] : header.integer) attributes[name] = fmt::format("{}", value);
    attributes["status"] = "running";
}

void Memory::add(const Row& row)
{
    std::visit([this](const auto& one) { trace_.table(one).push_back(one); }, row);
}

void Memory::keep(std::int64_t round, Iterate model)
{
    rounds_.push_back(round);
    iterates_.push_back(std::move(model));
    ++trace_.iterates;
}

Position Memory::position()
{
    return {{Round::table, std::ssize(trace_.rounds)},
            {Arrival::table, std::ssize(trace_.arrivals)},
            {ItemRow::table, std::ssize(trace_.items)},
            {Measure::table, std::ssize(trace_.measures)},
            {Timer::table, std::ssize(trace_.timers)},
            {Membership::table, std::ssize(trace_.membership)},
            {Evaluation::table, std::ssize(trace_.evaluations)},
            {WorkerRow::table, std::ssize(trace_.workers)},
            {"iterate", trace_.iterates}};
}

Iterate Memory::iterate(std::int64_t i) const { return iterates_.at(static_cast<std::size_t>(i)); }

void Memory::finish(std::span<const double> model, const std::string& status)
{
    trace_.model.assign(model.begin(), model.end());
    trace_.attributes["status"] = status;
    iterates_.clear();
    std::ranges::stable_sort(trace_.evaluations, {}, &Evaluation::round);
}

}  // namespace quorate::trace
