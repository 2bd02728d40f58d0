// SPDX-License-Identifier: BSD-2-Clause
#include "engine/scheme_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbered.hpp"
#include "compute/cached_gradients.hpp"
#include "compute/product.hpp"
#include "compute/task_queue.hpp"
#include "engine/engine.hpp"
#include "optimizer/optimizers.hpp"
#include "scheme/promises.hpp"
#include "scheme/whole_items.hpp"

namespace quorate {

namespace {

using Vector = SchemeCheck::Vector;

// Workers that finish in the order that the check says.
class ScriptedWorkers final : public Fleet {
public:
    ScriptedWorkers(SchemeCheck& check, const Needs& needs, std::mt19937& random)
        : check_(check), needs_(needs), random_(random), machines_(needs.shard.size()),
          support_(Support::all(static_cast<std::int64_t>(check.width)))
    {
        for (std::size_t i = 0; i < machines_.size(); ++i)
            info_.push_back({static_cast<int>(i) + 1, "here", 1, std::ssize(check.first)});
    }

    // Versions of the items of each contribution of the last message, from the first part on.
    const std::map<int, std::vector<Version>>& versions() const { return versions_; }

    const std::vector<WorkerInfo>& workers() const override { return info_; }
    Seconds now() const override { return now_; }
    void dispatch(const Dispatch& task, PointList inputs) override;
    void close(Worker worker, TaskId task) override
    {
        auto& machine = of(worker);
        machine.tasks.cancel(task, [] {});
        begin(machine);
    }
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>&) override;
    void change(const Change&) override {}
    std::vector<Change> changes(std::int64_t) override { return {}; }
    void reencode(std::shared_ptr<const Coding>, std::span<const Worker>) override {}
    const Support& support(Worker) override { return support_; }
    Values values(std::size_t handle) override { return {support_, sums_.at(handle), {}}; }
    void release(std::size_t handle) override { sums_.give_back(handle); }
    std::int64_t bytes_sent() const override { return 0; }
    std::int64_t bytes_received() const override { return 0; }

private:
    struct Order {
        Dispatch task;
        PointList inputs;
        Seconds sent;
        TaskId id() const { return task.task; }
        bool follows() const { return task.control.follows(); }
        bool repeats() const { return task.control.repeat; }
        const Vector at(std::size_t input) const { return ConstNumbers(*inputs[input]).doubles(); }
    };
    struct Cached {
        Version version;
        Vector gradient;
    };
    struct Machine {
        TaskQueue<Order> tasks;
        std::size_t part = 0;
        std::int64_t count = 0;
        std::map<int, Cached> cached;
        std::optional<std::pair<int, Version>> begun;
    };

    Machine& of(Worker worker) { return machines_[static_cast<std::size_t>(worker)]; }
    static void begin(Machine& machine);
    bool is_out_of_time() { return std::uniform_real_distribution()(random_) < check_.empty; }
    std::vector<Arrival> answer(Worker worker);
    Arrival contribution(Worker worker, const Order& order, std::size_t number);
    std::int64_t samples(const Budget& budget, const Part& part);
    Part first_items(const Part& part);
    std::int64_t rows_of(const Part& part) const;
    static std::vector<CacheUpdate> updates(const Machine& machine, const Order& order,
                                            const Part& part);
    Vector compute(Machine& machine, const Order& order, const Part& part,
                   std::vector<Version>& versions);

    SchemeCheck& check_;
    const Needs& needs_;
    std::mt19937& random_;
    std::vector<Machine> machines_;
    std::vector<WorkerInfo> info_;
    Support support_;
    Numbered<Vector> sums_;
    std::map<int, std::vector<Version>> versions_;
    Seconds now_ = 0;
};

void ScriptedWorkers::begin(Machine& machine)
{
    if (machine.tasks.is_running() || !machine.tasks.has_next()) return;
    machine.tasks.begin();
    machine.part = 0;
    ++machine.count;
}

void ScriptedWorkers::dispatch(const Dispatch& task, PointList inputs)
{
    Order order{task, std::move(inputs), now_};
    for (std::size_t i = 0; i < task.inputs.size(); ++i)
        check_.points.try_emplace(task.inputs[i], order.at(i));
    auto& machine = of(task.worker);
    machine.tasks.add(std::move(order), [&] {
        // Who is interrupted may have begun a gradient to be cached.
        const auto& running = machine.tasks.running();
        const auto& part = running.task.plan->parts[0];
        if (!is_cached(part) || random_() % 2 == 0) return;
        if (const auto left = updates(machine, running, part); !left.empty())
            machine.begun = {left[0].item->block, left[0].version};
    });
    begin(machine);
}

std::vector<Arrival> ScriptedWorkers::wait(Seconds until, const std::atomic<bool>&)
{
    std::vector<Worker> busy;
    for (Worker i = 0; i < std::ssize(machines_); ++i)
        if (of(i).tasks.is_running()) busy.push_back(i);
    const bool time_is_up =
        until <= now_ || (until != never && (busy.empty() || random_() % 8 == 0));
    now_ += std::exponential_distribution(1.0)(random_);
    const auto worker = time_is_up ? -1 : check_.choose(busy, std::ssize(check_.steps));
    if (worker >= 0) return answer(worker);
    if (until == never) throw Failure("all workers stand still, and no timer runs");
    now_ = std::max(now_, until);
    return {};
}

std::vector<Arrival> ScriptedWorkers::answer(Worker worker)
{
    auto& machine = of(worker);
    const auto& order = machine.tasks.running();
    const auto& plan = *order.task.plan;
    std::vector<Arrival> message;
    versions_.clear();
    for (bool more = true; more; ++machine.part) {
        message.push_back(contribution(worker, order, machine.part));
        more = machine.part + 1 < plan.parts.size() && !plan.each_when_ready;
    }
    if (machine.part == plan.parts.size()) {
        machine.tasks.finish();
        begin(machine);
    }
    return message;
}

Arrival ScriptedWorkers::contribution(Worker worker, const Order& order, std::size_t number)
{
    auto& machine = of(worker);
    const auto& control = order.task.control;
    const auto& asked = order.task.plan->parts[number];
    const bool whole = takes_whole_items(control.budget, asked);
    const auto part = whole ? first_items(asked) : asked;
    auto& versions = versions_[static_cast<int>(number)];
    const auto handle = sums_.take();
    sums_.at(handle) = compute(machine, order, part, versions);
    const auto [oldest, newest] = std::ranges::minmax(versions);
    return {{.worker = worker,
             .part = static_cast<int>(number),
             .task = order.task.task,
             .draw = control.draw == own_count ? machine.count - 1 : control.draw,
             .samples = whole ? rows_of(part) : samples(control.budget, part),
             .oldest = oldest,
             .newest = newest,
             .items = whole ? static_cast<int>(part.items.size()) : 0,
             .compute = 1},
            is_cached(part) ? versions : std::vector<Version>(),
            order.sent,
            now_,
            0,
            handle};
}

std::int64_t ScriptedWorkers::samples(const Budget& budget, const Part& part)
{
    if (!budget.limited()) return rows_of(part);
    if (budget.seconds == never) return budget.samples;
    if (is_out_of_time()) return 0;
    // All that are asked for, or those that there was time for.
    if (budget.samples > 0 && random_() % 2 == 0) return budget.samples;
    const auto most = budget.samples > 0 ? budget.samples : 100;
    return std::uniform_int_distribution(std::int64_t{1}, most)(random_);
}

// The items that a task is done with when its time is over, from the first on.
Part ScriptedWorkers::first_items(const Part& part)
{
    if (is_out_of_time()) return {};
    const auto count = 1 + random_() % part.items.size();
    return {{part.items.begin(), part.items.begin() + static_cast<std::ptrdiff_t>(count)}};
}

std::int64_t ScriptedWorkers::rows_of(const Part& part) const
{
    std::int64_t rows = 0;
    for (const auto& item : part.items)
        rows += item.is_product() ? item.rows.count
                                  : needs_.blocks[static_cast<std::size_t>(item.block)].count;
    return rows;
}

std::vector<CacheUpdate> ScriptedWorkers::updates(const Machine& machine, const Order& order,
                                                  const Part& part)
{
    std::map<int, Version> versions;
    for (const auto& [of, cached] : machine.cached) versions[of] = cached.version;
    return cache_updates(part, order.task.inputs, versions, machine.begun);
}

// @param versions  receives those of the items
Vector ScriptedWorkers::compute(Machine& machine, const Order& order, const Part& part,
                                std::vector<Version>& versions)
{
    const auto& inputs = order.task.inputs;
    Vector sum(length_of(part, check_.width, check_.width, 1));
    if (is_cached(part)) {
        for (const auto& [item, version] : updates(machine, order, part)) {
            const auto input = std::ranges::find(inputs, version) - inputs.begin();
            const auto point = order.at(static_cast<std::size_t>(input));
            machine.cached[item->block] = {version, check_.gradient(item->block, point)};
        }
        machine.begun.reset();
    }
    const auto pieces = pieces_of(part);
    for (std::size_t i = 0; i < part.items.size(); ++i) {
        const auto& item = part.items[i];
        if (item.is_product()) continue;  // zeros will do
        const auto input = static_cast<std::size_t>(item.input);
        const auto one = is_cached(part)
                             ? machine.cached.at(item.block)
                             : Cached{inputs[input], check_.gradient(item.block, order.at(input))};
        versions.push_back(one.version);
        if (!part.fold.empty())
            add_folded(std::span(part.fold).subspan(i * pieces, pieces), support_, one.gradient,
                       sum);
        else
            for (std::size_t e = 0; e < sum.size(); ++e)
                sum[e] += item.coefficient * one.gradient[e];
    }
    if (versions.empty()) versions.assign(inputs.begin(), inputs.end());
    return sum;
}

// A scheme whose promises are checked, and whose actions are noted.
class Watched final : public Scheme {
public:
    Watched(SchemeCheck& check, Scheme& scheme, const Needs& needs, const ScriptedWorkers& workers)
        : check_(check), scheme_(scheme), needs_(needs), workers_(workers), promises_(needs, "it")
    {
    }
    // Whether it was told last that nothing can come.
    bool stands_still() const { return stands_still_; }

    Needs needs() const override { return needs_; }
    void handle(const Event& event, Seconds now, std::vector<Action>& out) override
    {
        stands_still_ = std::holds_alternative<Quiescent>(event);
        promises_.note(event);
        if (const auto* arrived = std::get_if<Arrived>(&event))
            for (const auto& one : arrived->contributions)
                versions_[one.id] = workers_.versions().at(one.part);
        check_.most_alive = std::max(check_.most_alive, promises_.in_use().size());
        const auto first = out.size();
        scheme_.handle(event, now, out);
        for (auto i = first; i < out.size(); ++i)
            std::visit([this](const auto& action) { check(action); }, out[i]);
    }

private:
    template <class Other>
    void check(const Other& action)
    {
        promises_.check(action);
    }
    void check(const Dispatch& task)
    {
        check_.log.push_back(fmt::format("dispatch {} to {}", task.task, task.worker));
        promises_.check(task);
    }
    void check(const Close& close)
    {
        check_.log.push_back(fmt::format("close {} {}", close.first, close.last));
        promises_.check(close);
    }
    void check(const Undecodable& end) { check_.undecodable = end.why; }
    void check(const Step& step)
    {
        auto whole = step;
        if (step.table) add_table(whole);
        promises_.check(step);
        std::vector<ContributionId> used;
        for (const auto& term : whole.terms) used.push_back(term.contribution);
        for (const auto& term : whole.placed)
            if (!std::ranges::count(used, term.contribution)) used.push_back(term.contribution);
        auto& newest = check_.published_at.emplace_back();
        for (const auto id : used) {
            check_.versions.push_back(versions_.at(id));
            newest.push_back(std::ranges::max(versions_.at(id)));
        }
        check_.log.push_back(fmt::format("step with {}", whole.terms.size()));
        check_.steps.push_back(std::move(whole));
    }
    // Adds to a step what the table holds.
    void add_table(Step& step) const
    {
        for (const auto& [id, one] : promises_.in_use()) {
            if (one.slot < 0) continue;
            const auto term = std::ranges::find(step.terms, id, &Term::contribution);
            if (term == step.terms.end())
                step.terms.push_back({id, one.weight, true});
            else
                term->weight += one.weight;
        }
    }

    SchemeCheck& check_;
    Scheme& scheme_;
    const Needs& needs_;
    const ScriptedWorkers& workers_;
    Promises promises_;
    std::map<ContributionId, std::vector<Version>> versions_;
    bool stands_still_ = false;
};

}  // namespace

SchemeCheck::SchemeCheck(Scheme& scheme, unsigned seed) : scheme_(scheme), random_(seed)
{
    choose = [this](const std::vector<Worker>& busy, std::int64_t) {
        return busy.empty() ? -1 : busy[random_() % busy.size()];
    };
}

void SchemeCheck::run(std::int64_t rounds)
{
    const auto needs = scheme_.needs();
    first.resize(width);
    std::vector<std::unique_ptr<Optimizer>> rules;
    for (int model = 0; model < needs.models; ++model)
        rules.push_back(GradientDescentOptions::entry().made({}, first, {}));
    ScriptedWorkers workers(*this, needs, random_);
    Watched scheme(*this, scheme_, needs, workers);
    trace::NoSink nowhere;
    Engine engine({.rounds = rounds,
                   .schedule = [this](double) { return step_size; },
                   .evaluate_every = 0,
                   .arrivals = Arrivals::none,
                   .keeps_unsent = keeps_unsent},
                  scheme, workers, rules, nowhere);
    const std::atomic<bool> stop = false;
    try {
        engine.run(stop, {.done = [this](const Update& update) {
                       estimates.push_back(update.estimate.doubles());
                       return false;
                   }});
    } catch (const NoMemory& why) {
        no_memory = why.what();
    } catch (const BadInput& promise) {
        broken.emplace_back(promise.what());
    } catch (const std::logic_error& promise) {
        broken.emplace_back(promise.what());
    } catch (const Failure& failure) {
        if (undecodable.empty())
            broken.emplace_back(scheme.stands_still() ? "no worker has a task, and no timer runs"
                                                      : failure.what());
    }
    for (const auto& rule : rules) models.push_back(rule->model().doubles());
}

}  // namespace quorate
