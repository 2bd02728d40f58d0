// SPDX-License-Identifier: BSD-2-Clause
// The part of the engine that carries out steps, and forms the sums that they need.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.hpp"
#include "engine/engine.hpp"

namespace quorate {

namespace {

// Puts the terms of a sum into a fixed order, so that the order of arrival changes no bit of the
// sum.
void sort(std::vector<Summand>& terms)
{
    const auto key = [](const Summand& term) {
        return std::tuple(term.arrival->worker, term.arrival->task, term.arrival->part);
    };
    if (!std::ranges::is_sorted(terms, {}, key)) std::ranges::stable_sort(terms, {}, key);
}

}  // namespace

// Returns how many updates its model had had at a version.
std::int64_t Engine::updates_at(Version version) const
{
    return optimizers_.size() == 1 ? version : update_of_[static_cast<std::size_t>(version)];
}

SumTable::Totals Engine::totals_of(const Arrival& arrival) const
{
    const auto items = static_cast<double>(arrival.versions.size());
    double updates = 0;
    for (const auto version : arrival.versions) updates += static_cast<double>(updates_at(version));
    return {
        .count = 1,
        .samples = arrival.samples,
        .updates = items > 0 ? updates / items : static_cast<double>(updates_at(arrival.newest)),
        .oldest = updates_at(arrival.oldest)};
}

// Marks a contribution as used in this round.
void Engine::use(Live& one, bool keep)
{
    if (options_.keeps_states()) local_.used(one.arrival.worker, one.arrival.task);
    if (one.use.first == 0) one.use.first = round_ + 1;
    if (std::exchange(one.last_use, round_ + 1) != round_ + 1) ++one.use.times;
    one.spent = !keep;
    if (keep) return;
    if (last_spent_ < first_spent_) first_spent_ = last_spent_ = one.id;
    first_spent_ = std::min(first_spent_, one.id);
    last_spent_ = std::max(last_spent_, one.id);
}

// Ends the contributions that the last step has used and does not keep.
void Engine::drop_spent()
{
    live_.for_range(first_spent_, last_spent_, [this](Live& one) {
        if (!one.spent) return;
        finish(one);
        live_.drop(one);
    });
    first_spent_ = 0;
    last_spent_ = -1;
}

// Returns what steps have made of a contribution. What the table holds, all steps use that use the
// table.
Use Engine::use_of(const Live& one) const
{
    auto use = one.use;
    if (one.slot >= 0) use.times += table_sums_ - one.sums;
    return use;
}

// Counts that the step of this round has used the table.
void Engine::use_table()
{
    ++table_sums_;
    for (const auto id : unused_)
        if (auto* one = live_.find(id); one && one->slot >= 0 && one->use.first == 0)
            one->use.first = round_ + 1;
    unused_.clear();
}

void Engine::leave_table(Live& one)
{
    if (one.slot < 0) return;
    table_.remove(one.slot, one.id);
    one.use = use_of(one);
    one.slot = -1;
}

void Engine::carry_out(const Fill& fill)
{
    if (fill.slot < 0 || fill.slot >= table_.slots())
        throw std::logic_error("a scheme fills a slot that its table does not have");
    while (!table_.slot(fill.slot).entries.empty())
        leave_table(live(table_.slot(fill.slot).entries.back().id));
    SumTable::Entries entries;
    for (const auto id : fill.contributions) {
        auto& one = live(id);
        if (one.slot >= 0) throw std::logic_error("a scheme fills two slots with a contribution");
        one.slot = fill.slot;
        one.sums = table_sums_;
        if (one.use.first == 0) unused_.push_back(id);
        entries.push_back({id, one.arrival.handle, one.arrival.worker, totals_of(one.arrival)});
    }
    table_.fill(fill.slot, fill.weight, entries);
}

// Returns the terms in the order of summation, and marks their contributions as used in this round.
// @param one_by_one  what the table holds is among them
std::vector<Summand> Engine::summands(const Step& step, bool one_by_one)
{
    std::vector<Summand> all;
    all.reserve(step.terms.size());
    const auto add = [&](const Live& one, double weight, bool counted) {
        all.push_back({.arrival = &one.arrival,
                       .weight = weight,
                       .descent_step = one.step,
                       .counted = counted});
    };
    for (const auto& term : step.terms) {
        auto& one = live(term.contribution);
        if (one.slot >= 0 && !term.keep)
            throw std::logic_error("a step ends a contribution that the table holds");
        const bool counted = step.table && one.slot >= 0;
        add(one, term.weight, counted);
        if (!counted) use(one, term.keep);
    }
    if (one_by_one)
        for (int slot = 0; slot < table_.slots(); ++slot)
            for (const auto& entry : table_.slot(slot).entries)
                add(live(entry.id), table_.slot(slot).weight, false);
    sort(all);
    return all;
}

std::vector<Summand> Engine::summands(const std::vector<Placed>& terms)
{
    std::vector<Summand> all;
    all.reserve(terms.size());
    for (const auto& term : terms) {
        auto& one = live(term.contribution);
        all.push_back({.arrival = &one.arrival,
                       .weight = term.weight,
                       .used_before = one.use.times != 0,
                       .from = term.from,
                       .at = term.at});
        use(one, false);
        combined_.insert(one.arrival.worker);
    }
    sort(all);
    return all;
}

void Engine::carry_out(const Combine& combine)
{
    has_combined_ = true;
    estimates_->combine(*fleet_, summands(combine.terms));
}

// Begins the trace's row of a round, with all that follows from the contributions it uses. Those
// that are placed count once, however many of their pieces are; not at all where scores were
// combined, which are of all rows.
trace::Round Engine::summary(const Step& step, std::span<const Summand> placed,
                             std::span<const Summand> terms, SumTable* table)
{
    trace::Round row{};
    SumTable::Totals totals;
    if (table) totals = table->totals();
    std::vector<const Arrival*> used;
    for (const auto& term : terms)
        if (!term.counted) used.push_back(term.arrival);
    if (!has_combined_)
        for (const auto& term : placed)
            if (!term.used_before) used.push_back(term.arrival);
    for (const auto* one : used) totals.add(totals_of(*one));
    row.samples = totals.samples;
    if (totals.count > 0) {
        const auto updates = optimizers_.size() == 1
                                 ? points_.newest()
                                 : updates_[static_cast<std::size_t>(step.model)];
        const auto count = static_cast<double>(totals.count);
        row.staleness_mean = (count * static_cast<double>(updates) - totals.updates) / count;
        row.staleness_max = std::max<std::int64_t>(0, updates - totals.oldest);
    }
    if (std::exchange(has_combined_, false)) {
        row.samples = options_.estimates.rows;
        for (const auto& term : terms) combined_.insert(term.arrival->worker);
        row.used = std::ssize(combined_);
    } else {
        if (table) row.used = table->workers();
        // Terms of one worker, who may have sent several parts, stand side by side.
        for (std::size_t i = 0; i < used.size(); ++i)
            row.used += (i == 0 || used[i]->worker != used[i - 1]->worker) &&
                        !(table && table->has(used[i]->worker));
    }
    combined_.clear();
    row.erased = workers_ - row.used;
    row.decode_error = step.error;
    row.model = step.model;
    row.waste = step.waste;
    return row;
}

// Adds the weights of the terms of this round's estimate to the trace. Until then its contributions
// live.
void Engine::tell_weights(const Step& step)
{
    if (!options_.weights) return;
    const auto tell = [&](const Live& one, double weight) {
        trace_->add(trace::Weight{round_, one.event, one.arrival.part, weight / step.divisor});
    };
    for (const auto& term : step.placed) tell(live(term.contribution), term.weight);
    for (int slot = 0; step.table && slot < table_.slots(); ++slot)
        for (const auto& entry : table_.slot(slot).entries)
            tell(live(entry.id), table_.slot(slot).weight);
    for (const auto& term : step.terms) tell(live(term.contribution), term.weight);
}

void Engine::carry_out(const Step& step)
{
    const auto decided = fleet_->now();
    change(options_.churn.after_round(round_ + 1, members_));
    // Groups are added up where their workers are, and whoever decays with a step needs each of its
    // contributions.
    const bool one_by_one =
        step.table && (fleet_->groups() > 1 || step.displacement || other_ != nullptr);
    const auto terms = summands(step, one_by_one);
    const auto placed = summands(step.placed);
    auto* table = step.table && !one_by_one ? &table_ : nullptr;
    auto row = summary(step, placed, terms, table);
    try {
        if (fleet_->has_lost(event_ + 1)) throw LostContributions("");
        estimates_->form(needs_, *fleet_, step, placed, terms, table, row);
    } catch (const LostContributions& why) {
        lose_step(why.what());
        return;
    }
    const auto step_size = options_.schedule(batches_);
    if (!std::isfinite(row.gradient_norm))
        throw Failure(fmt::format(
            "the estimate of round {} is not finite: a worker sent NaN or infinity, the step of {} "
            "is too large, or numbers of the data are: use a smaller --step, import --scale, or a "
            "scheme that tolerates Byzantine workers",
            round_ + 1, step_size));
    auto& optimizer = *optimizers_[static_cast<std::size_t>(step.model)];
    // Local steps are made already. Their mean is a gradient that has a step size of its own.
    row.step_size = step.displacement ? step_size : step_size * step.scale;
    last_ = {.loss = row.loss_estimate};
    if (observer_.done) last_.at = points_.at(points_.newest(step.model));
    auto next = blanks_.blank();
    estimates_->update(optimizer, step.displacement ? step.scale : row.step_size, points_.next(),
                       next);
    last_.step_size = row.step_size = optimizer.taken(row.step_size);
    const auto version = points_.publish(std::move(next), step.model);
    const auto updates = ++updates_[static_cast<std::size_t>(step.model)];
    if (optimizers_.size() > 1) update_of_.push_back(updates);
    batches_ += step.share;
    if (step.table) use_table();
    ++round_;
    ++event_;
    row.time = fleet_->now();
    row.wait = decided - dispatched_;
    row.bytes_sent = fleet_->bytes_sent() - std::exchange(bytes_sent_, fleet_->bytes_sent());
    row.bytes_received =
        fleet_->bytes_received() - std::exchange(bytes_received_, fleet_->bytes_received());
    dispatched_ = row.time;
    trace_->add(row);
    tell_weights(step);
    last_.kept = options_.evaluate_every > 0 &&
                 (updates % options_.evaluate_every == 0 ||
                  round_ > options_.rounds - static_cast<std::int64_t>(optimizers_.size()));
    if (last_.kept) keep_model(step.model);
    updated_ = true;
    events_.push_back(Stepped{version, step.model, row.inner});
    drop_spent();
}

// Contributions were lost between the decision and the sum. The model is as before, but the scheme
// has gone on: so it is made again for the workers that are left, and the round begins anew.
void Engine::lose_step(const std::string& why)
{
    live_.for_each([this](Live& one) {
        if (one.last_use != round_ + 1) return;
        --one.use.times;
        if (use_of(one).times == 0) one.use.first = 0;
        one.last_use = 0;
        one.spent = false;
    });
    first_spent_ = 0;
    last_spent_ = -1;
    note_membership(trace::Change::lost, -1);
    receive_changes();
    undecodable_ = why;
    if (observer_.note) observer_.note(fmt::format("round {} begins anew: {}", round_ + 1, why));
    if (options_.on_loss != OnLoss::reencode) fail(why);
    step_lost_ = true;
}

void Engine::keep_model(int number)
{
    // A copy even where the model is the point just published: memory that workers read is needed
    // for the next points, and some of it is in a cache.
    auto kept = kept_.blank();
    copy(optimizers_[static_cast<std::size_t>(number)]->model(), *kept);
    if (observer_.kept) observer_.kept(round_, kept);
    trace_->keep(round_, std::move(kept));
}

}  // namespace quorate
