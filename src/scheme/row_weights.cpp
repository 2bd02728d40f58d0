// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/row_weights.hpp"

#include <algorithm>

namespace quorate {

namespace {

class Heard final : public Scheme {
public:
    Heard(RowWeights& weights, std::unique_ptr<Scheme> scheme)
        : weights_(weights), scheme_(std::move(scheme))
    {
    }
    Needs needs() const override { return scheme_->needs(); }
    std::string warning() const override { return scheme_->warning(); }
    void handle(const Event& event, Seconds now, std::vector<Action>& out) override
    {
        const auto before = out.size();
        scheme_->handle(event, now, out);
        weights_.heard(event, std::span(out).subspan(before));
    }
    void fetch_ahead(Worker worker) const override { scheme_->fetch_ahead(worker); }

private:
    RowWeights& weights_;
    std::unique_ptr<Scheme> scheme_;
};

}  // namespace

RowWeights::RowWeights(Needs needs)
    : needs_(std::move(needs)), weights_(needs_.blocks.size()),
      known_(needs_.coded.empty() && needs_.coded_columns.empty() && !needs_.aggregator)
{
}

void RowWeights::heard(const Event& event, std::span<const Action> actions)
{
    if (!known_) return;
    if (const auto* arrived = std::get_if<Arrived>(&event))
        for (const auto& one : arrived->contributions) {
            sums_.insert_or_assign(one.id, sum_of(one));
            of_task_[one.task].push_back(one.id);
        }
    for (const auto& action : actions) {
        if (const auto* task = std::get_if<Dispatch>(&action)) {
            plans_[task->task] = task->plan;
            known_ &= std::ranges::all_of(task->plan->parts,
                                          [](const Part& part) { return part.fold.empty(); });
        }
        if (const auto* step = std::get_if<Step>(&action)) heard(*step);
        if (const auto* fill = std::get_if<Fill>(&action)) heard(*fill);
        if (const auto* close = std::get_if<Close>(&action)) this->close(close->first, close->last);
    }
}

// Of a sample of a block, or of as much of it as there was time for, each row counts for so much
// less.
RowWeights::Sum RowWeights::sum_of(const Contribution& contribution) const
{
    Sum sum;
    const auto plan = plans_.find(contribution.task);
    if (plan == plans_.end()) return sum;
    const auto& part = plan->second->parts.at(contribution.part);
    auto items = std::span(part.items);
    if (contribution.items > 0) items = items.first(static_cast<std::size_t>(contribution.items));
    double rows = 0;
    bool whole = false;
    for (const auto& item : items) {
        rows += static_cast<double>(needs_.blocks[item.block].count);
        whole |=
            item.operation == Item::Operation::cached || item.operation == Item::Operation::held;
    }
    const double share = whole ? 1 : static_cast<double>(contribution.samples) / rows;
    for (const auto& item : items) sum.blocks.emplace_back(item.block, share * item.coefficient);
    return sum;
}

void RowWeights::count(const Sum& sum, double weight)
{
    for (const auto& [block, part] : sum.blocks) weights_[block] += weight * part;
}

void RowWeights::leave_table(Sum& sum)
{
    if (!std::exchange(sum.in_table, false)) return;
    count(sum, sum.weight * (table_steps_ - sum.before));
}

void RowWeights::heard(const Step& step)
{
    for (const auto& term : step.terms) {
        const auto at = sums_.find(term.contribution);
        if (at == sums_.end()) continue;
        count(at->second, term.weight / step.divisor);
        if (!term.keep) sums_.erase(at);
    }
    if (step.table) table_steps_ += 1 / step.divisor;
    known_ &= step.placed.empty();
}

void RowWeights::heard(const Fill& fill)
{
    auto& slot = table_[fill.slot];
    for (const auto id : slot)
        if (const auto at = sums_.find(id); at != sums_.end()) leave_table(at->second);
    slot.assign(fill.contributions.begin(), fill.contributions.end());
    for (const auto id : slot) {
        const auto at = sums_.find(id);
        if (at == sums_.end()) continue;
        leave_table(at->second);
        at->second.in_table = true;
        at->second.weight = fill.weight;
        at->second.before = table_steps_;
    }
}

void RowWeights::close(TaskId first, TaskId last)
{
    plans_.erase(plans_.lower_bound(first), plans_.upper_bound(last));
    const auto begin = of_task_.lower_bound(first), end = of_task_.upper_bound(last);
    for (auto task = begin; task != end; ++task)
        for (const auto id : task->second)
            if (const auto at = sums_.find(id); at != sums_.end()) {
                leave_table(at->second);
                sums_.erase(at);
            }
    of_task_.erase(begin, end);
}

std::vector<double> RowWeights::relative() const
{
    auto weights = weights_;
    for (const auto& [id, sum] : sums_)
        if (sum.in_table)
            for (const auto& [block, part] : sum.blocks)
                weights[block] += sum.weight * (table_steps_ - sum.before) * part;
    double all = 0, rows = 0;
    for (std::size_t b = 0; b < weights.size(); ++b) {
        const auto count = static_cast<double>(needs_.blocks[b].count);
        all += weights[b] * count;
        rows += count;
    }
    if (!known_ || !(all > 0)) return {};
    for (auto& weight : weights) weight *= rows / all;
    return weights;
}

std::optional<RowUse> RowWeights::use() const
{
    const auto weights = relative();
    if (weights.empty()) return std::nullopt;
    RowUse use{.least = std::ranges::min(weights)};
    double rows = 0, rare = 0;
    for (std::size_t b = 0; b < weights.size(); ++b) {
        const auto count = static_cast<double>(needs_.blocks[b].count);
        rows += count;
        if (weights[b] < RowUse::rare) rare += count;
    }
    use.rarely = rare / rows;
    for (std::size_t worker = 0; worker < needs_.shard.size(); ++worker)
        if (std::ranges::any_of(needs_.shard[worker],
                                [&](int block) { return weights[block] < RowUse::rare; }))
            use.holders.push_back(static_cast<Worker>(worker));
    return use;
}

std::unique_ptr<Scheme> heard_by(RowWeights& weights, std::unique_ptr<Scheme> scheme)
{
    return std::make_unique<Heard>(weights, std::move(scheme));
}

}  // namespace quorate
