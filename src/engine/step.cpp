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

// Returns how many updates of its model a version is behind.
std::int64_t Engine::staleness(Version version, int model) const
{
    if (optimizers_.size() == 1) return points_.newest() - version;
    return updates_[static_cast<std::size_t>(model)] -
           update_of_[static_cast<std::size_t>(version)];
}

// Marks a contribution as used in this round.
void Engine::use(Live& one, bool keep) const
{
    if (one.use.times == 0) one.use.first = round_ + 1;
    if (std::exchange(one.last_use, round_ + 1) != round_ + 1) ++one.use.times;
    one.spent = !keep;
}

// Returns the terms in the order of summation, and marks their contributions as used in this round.
std::vector<Summand> Engine::summands(const std::vector<Term>& terms)
{
    std::vector<Summand> all;
    all.reserve(terms.size());
    for (const auto& term : terms) {
        auto& one = live(term.contribution);
        all.push_back({.arrival = &one.arrival, .weight = term.weight, .descent_step = one.step});
        use(one, term.keep);
    }
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

// Begins the trace's row of a round, with all that follows from the contributions it uses. Those that are placed count
// once, however many of their pieces are; not at all where scores were combined, which are of all rows.
trace::Round Engine::summary(const Step& step, std::span<const Summand> placed,
                             std::span<const Summand> terms)
{
    trace::Round row{};
    double stale = 0;
    std::vector<const Arrival*> used;
    for (const auto& term : terms) used.push_back(term.arrival);
    if (!has_combined_)
        for (const auto& term : placed)
            if (!term.used_before) used.push_back(term.arrival);
    for (const auto* one : used) {
        const auto& arrival = *one;
        row.samples += arrival.samples;
        double sum = 0;
        for (const auto version : arrival.versions)
            sum += static_cast<double>(staleness(version, step.model));
        stale += arrival.versions.empty()
                     ? static_cast<double>(staleness(arrival.newest, step.model))
                     : sum / static_cast<double>(arrival.versions.size());
        row.staleness_max = std::max(row.staleness_max, staleness(arrival.oldest, step.model));
    }
    row.staleness_mean = used.empty() ? 0 : stale / static_cast<double>(used.size());
    if (std::exchange(has_combined_, false)) {
        row.samples = options_.estimates.rows;
        for (const auto& term : terms) combined_.insert(term.arrival->worker);
        row.used = std::ssize(combined_);
    } else {
        // Terms of one worker, who may have sent several parts, stand side by side.
        for (std::size_t i = 0; i < used.size(); ++i)
            row.used += i == 0 || used[i]->worker != used[i - 1]->worker;
    }
    combined_.clear();
    row.erased = workers_ - row.used;
    row.decode_error = step.error;
    row.model = step.model;
    row.waste = step.waste;
    return row;
}

void Engine::carry_out(const Step& step)
{
    const auto decided = fleet_->now();
    change(options_.churn.after_round(round_ + 1, members_));
    const auto terms = summands(step.terms);
    const auto placed = summands(step.placed);
    auto row = summary(step, placed, terms);
    try {
        if (fleet_->has_lost(event_ + 1)) throw LostContributions("");
        estimates_->form(needs_, *fleet_, step, placed, terms, row);
    } catch (const LostContributions& why) {
        lose_step(why.what());
        return;
    }
    const auto step_size = options_.schedule(batches_);
    if (!std::isfinite(row.gradient_norm))
        throw Failure(fmt::format(
            "the estimate of round {} is not finite: a worker sent NaN or infinity, or the step of "
            "{} is too large: use a smaller --step, or a scheme that tolerates Byzantine workers",
            round_ + 1, step_size));
    auto& optimizer = *optimizers_[static_cast<std::size_t>(step.model)];
    row.step_size = step_size * step.scale;
    last_ = {.loss = row.loss_estimate};
    if (observer_.done) last_.at = points_.at(points_.newest(step.model));
    auto next = blanks_.blank();
    estimates_->update(optimizer, step.displacement, row.step_size, points_.next(), next);
    last_.step_size = row.step_size = optimizer.taken(row.step_size);
    const auto version = points_.publish(std::move(next), step.model);
    const auto updates = ++updates_[static_cast<std::size_t>(step.model)];
    if (optimizers_.size() > 1) update_of_.push_back(updates);
    batches_ += step.share;
    ++round_;
    ++event_;
    row.time = fleet_->now();
    row.wait = decided - dispatched_;
    row.bytes_sent = fleet_->bytes_sent() - std::exchange(bytes_sent_, fleet_->bytes_sent());
    row.bytes_received =
        fleet_->bytes_received() - std::exchange(bytes_received_, fleet_->bytes_received());
    dispatched_ = row.time;
    trace_->add(row);
    last_.kept = options_.evaluate_every > 0 &&
                 (updates % options_.evaluate_every == 0 ||
                  round_ > options_.rounds - static_cast<std::int64_t>(optimizers_.size()));
    if (last_.kept) keep_model(step.model);
    updated_ = true;
    events_.push_back(Stepped{version, step.model, row.inner});
    // Contributions that the step has used and does not keep are needed no more.
    live_.for_each([this](Live& one) {
        if (!one.spent) return;
        finish(one);
        live_.drop(one);
    });
}

// Contributions were lost between the decision and the sum. The model is as before, but the scheme
// has gone on: so it is made again for the workers that are left, and the round begins anew.
void Engine::lose_step(const std::string& why)
{
    live_.for_each([this](Live& one) {
        if (one.last_use != round_ + 1) return;
        if (--one.use.times == 0) one.use.first = 0;
        one.last_use = 0;
        one.spent = false;
    });
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
    std::ranges::copy(optimizers_[static_cast<std::size_t>(number)]->model(), kept->begin());
    if (observer_.kept) observer_.kept(round_, kept);
    trace_->keep(round_, std::move(kept));
}

}  // namespace quorate
