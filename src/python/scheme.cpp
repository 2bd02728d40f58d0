// SPDX-License-Identifier: BSD-2-Clause
#include "python/scheme.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <span>

#include "base/error.hpp"
#include "code/partition.hpp"
#include "python/arrays.hpp"
#include "python/language.hpp"
#include "python/object.hpp"
#include "quorate/quorate.hpp"
#include "scheme/rounds/synchronous.hpp"
#include "scheme/whole_items.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

std::string name_of(const py::object& object)
{
    return py::type::of(object).attr("__name__").cast<std::string>();
}

// Worker i stores partition i.
Needs one_partition_each(const Problem& problem)
{
    Needs needs;
    for (int i = 0; i < problem.workers; ++i) {
        const auto [first, count] = partition(problem.rows, problem.workers, i);
        needs.blocks.push_back({first, count});
        needs.shard.push_back({i});
    }
    return needs;
}

// Returns what a scheme's needs() says, checked. @param base  its class, whose needs() says nothing
Needs needs_of(const Object& scheme, const py::handle& base, const Problem& problem)
{
    const auto method = scheme.method("needs", base);
    if (!method) return one_partition_each(problem);
    auto needs = as<Needs>(method(), name_of(scheme.get()) + ".needs()", "quorate.Needs(...)");
    const auto wrong = [&](const std::string& what) {
        throw BadInput(fmt::format("{}.needs() {}", name_of(scheme.get()), what));
    };
    if (std::ssize(needs.shard) != problem.workers)
        wrong(fmt::format("lists what {} workers store, but there are {}", needs.shard.size(),
                          problem.workers));
    if (needs.models < 1)
        wrong(fmt::format("has {} models, but at least one is trained", needs.models));
    for (const auto& block : needs.blocks)
        if (block.first < 0 || block.count < 1 || block.count > problem.rows - block.first)
            wrong(fmt::format("has a block of {} rows from row {}, but there are {} rows",
                              block.count, block.first, problem.rows));
    for (const auto& stored : needs.shard) {
        if (stored.empty()) wrong("lists a worker that stores nothing");
        if (std::ranges::adjacent_find(stored, std::greater_equal{}) != stored.end())
            wrong("lists blocks of a worker that do not ascend");
        for (const int block : stored)
            if (block < 0 || block >= std::ssize(needs.blocks))
                wrong(fmt::format("names block {}, but there are {}", block, needs.blocks.size()));
    }
    return needs;
}

std::string warning_of(const Object& scheme)
{
    const py::gil_scoped_acquire gil;
    return as<std::string>(scheme.get().attr("warning")(), name_of(scheme.get()) + ".warning()",
                           "a text");
}

// Refuses what would break the engine, so that a mistake in Python is named and does not end the
// process. What a contribution or version must be beside is the engine's to check.
class Checked final : public Scheme {
public:
    Checked(std::unique_ptr<Scheme> scheme, std::string name)
        : scheme_(std::move(scheme)), name_(std::move(name)), needs_(scheme_->needs())
    {
    }

    Needs needs() const override { return needs_; }
    std::string warning() const override { return scheme_->warning(); }
    void handle(const Event& event, Seconds now, std::vector<Action>& out) override
    {
        if (const auto* stepped = std::get_if<Stepped>(&event)) newest_ = stepped->version;
        if (const auto* arrived = std::get_if<Arrived>(&event); arrived && needs_.kept > 0)
            for (const auto& one : arrived->contributions) task_of_[one.id] = one.task;
        if (const auto* arrived = std::get_if<Arrived>(&event))
            for (const auto& one : arrived->contributions)
                if (held_.contains({one.task, one.part})) heads_[one.id] = one.task;
        const auto first = out.size();
        scheme_->handle(event, now, out);
        for (auto i = first; i < out.size(); ++i)
            std::visit([this](const auto& action) { check(action); }, out[i]);
    }

private:
    template <class... Values>
    void expect(bool holds, fmt::format_string<Values...> broken, Values&&... values) const
    {
        if (!holds)
            throw BadInput(name_ + " " + fmt::format(broken, std::forward<Values>(values)...));
    }

    void check(const Dispatch& task)
    {
        expect(task.worker >= 0 && task.worker < std::ssize(needs_.shard),
               "gives task {} to worker {}, but there are {}", task.task, task.worker,
               needs_.shard.size());
        expect(task.plan && !task.plan->parts.empty(), "gives task {} without a part", task.task);
        expect(task.task > last_, "gives task {} after task {}: numbers must ascend", task.task,
               last_);
        last_ = task.task;
        for (const auto version : task.inputs)
            expect(version >= 0 && version <= std::max<Version>(newest_, needs_.models - 1),
                   "gives task {} the point of version {}, but the newest is {}", task.task,
                   version, newest_);
        const auto& stored = needs_.shard[static_cast<std::size_t>(task.worker)];
        for (const auto& part : task.plan->parts) {
            expect(!part.items.empty(), "gives task {} with an empty part", task.task);
            for (const auto& item : part.items) {
                expect(std::ranges::binary_search(stored, item.block),
                       "gives task {} with block {}, which worker {} does not store", task.task,
                       item.block, task.worker);
                expect(item.input >= 0 && item.input < std::ssize(task.inputs),
                       "gives task {} with input {}, but it has {}", task.task, item.input,
                       task.inputs.size());
                expect(!item.is_product() && item.operation == part.items[0].operation,
                       "gives task {} with products, or operations that differ in a part",
                       task.task);
                expect(std::isfinite(item.coefficient), "gives task {} a coefficient of {}",
                       task.task, item.coefficient);
            }
            const auto operation = part.items[0].operation;
            const bool separate =
                operation == Item::Operation::gradient || operation == Item::Operation::held;
            const bool held = part.held || operation == Item::Operation::held;
            expect(!held || (separate && task.control.draw != own_count),
                   "gives task {} a part that is held and not of gradients, or whose samples its "
                   "worker's count keys",
                   task.task);
            expect(!part.held || part.fold.empty(), "gives task {} a part that is held and folded",
                   task.task);
            if (part.held)
                held_.emplace(task.task, static_cast<int>(&part - task.plan->parts.data()));
            if (part.fold.empty()) continue;
            expect(needs_.places, "gives task {} a fold: its Needs must say places=True",
                   task.task);
            expect(separate && part.fold.size() % part.items.size() == 0,
                   "gives task {} a fold of {} coefficients for {} items: give as many for each "
                   "gradient",
                   task.task, part.fold.size(), part.items.size());
            for (const double coefficient : part.fold)
                expect(std::isfinite(coefficient), "gives task {} a coefficient of {}", task.task,
                       coefficient);
        }
        const auto& budget = task.control.budget;
        expect(budget.samples >= 0 && budget.micro_batch >= 0 && budget.seconds > 0,
               "gives task {} {} samples and {} seconds", task.task, budget.samples,
               budget.seconds);
        expect(!budget.limited() || can_be_limited(budget, *task.plan),
               "limits task {}, which has more than one part; or more than one item, to samples or "
               "micro-batches, or not of gradients",
               task.task);
    }
    void check(const Close& close)
    {
        expect(close.first <= close.last, "closes tasks {} to {}", close.first, close.last);
        const auto closed = [&](const auto& one) {
            return close.first <= one.second && one.second <= close.last;
        };
        std::erase_if(task_of_, closed);
        std::erase_if(heads_, closed);
        std::erase_if(held_, [&](const auto& part) {
            return close.first <= part.first && part.first <= close.last;
        });
        std::erase_if(kept_, [this](ContributionId id) { return !task_of_.contains(id); });
    }
    void check(const Step& step)
    {
        expect(!step.terms.empty() || !step.placed.empty(), "makes a step without contributions");
        expect(std::isfinite(step.divisor) && step.divisor > 0, "makes a step that divides by {}",
               step.divisor);
        expect(step.model >= 0 && step.model < needs_.models, "makes a step of model {}, of {}",
               step.model, needs_.models);
        expect(std::isfinite(step.scale) && std::isfinite(step.share) && !std::isnan(step.error),
               "makes a step with scale {}, share {} and error {}", step.scale, step.share,
               step.error);
        const auto expect_values = [this](const auto& term) {
            expect(!heads_.contains(term.contribution),
                   "makes a step of contribution {}, whose part is held: its values are at its "
                   "worker",
                   term.contribution);
        };
        std::ranges::for_each(step.terms, expect_values);
        std::ranges::for_each(step.placed, expect_values);
        for (const auto& term : step.terms)
            expect(std::isfinite(term.weight), "makes a step with the weight {}", term.weight);
        for (const auto& term : step.terms) {
            if (term.keep)
                kept_.insert(term.contribution);
            else if (needs_.kept > 0) {
                kept_.erase(term.contribution);
                task_of_.erase(term.contribution);
            }
        }
        expect(std::ssize(kept_) <= needs_.kept,
               "keeps {} contributions, but its needs say at most {}: give Needs(..., kept=N)",
               kept_.size(), needs_.kept);
        expect(step.placed.empty() || needs_.places,
               "places contributions: its Needs must say places=True");
        for (const auto& term : step.placed)
            expect(std::isfinite(term.weight) && term.from.first >= 0 && term.from.count >= 0 &&
                       term.at >= 0,
                   "places elements {} to {} at {} with the weight {}", term.from.first,
                   term.from.first + term.from.count, term.at, term.weight);
    }
    void check(const Combine&) const
    {
        expect(false, "combines products, which only coded storage has");
    }
    void check(const Fill&) const { expect(false, "fills slots, which only schemes of C++ have"); }
    void check(const SetTimer& timer) const
    {
        expect(!std::isnan(timer.at), "sets timer {} to no time", timer.timer);
    }
    void check(const Note&) const {}
    void check(const Undecodable&) const {}

    std::unique_ptr<Scheme> scheme_;
    std::string name_;
    Needs needs_;
    TaskId last_ = -1;
    Version newest_ = 0;
    // If it keeps contributions: the tasks of those in use, and those that it has kept.
    std::map<ContributionId, TaskId> task_of_;
    std::set<ContributionId> kept_;
    std::set<std::pair<TaskId, int>> held_;   // parts of open tasks
    std::map<ContributionId, TaskId> heads_;  // of these
};

class PythonScheme final : public Scheme {
public:
    PythonScheme(py::object scheme, const py::handle& base, const Problem& problem)
        : scheme_(std::move(scheme)), needs_(needs_of(scheme_, base, problem)),
          handle_(scheme_.get().attr("handle"))
    {
    }

    Needs needs() const override { return needs_; }
    std::string warning() const override { return warning_of(scheme_); }
    void handle(const Event& event, Seconds now, std::vector<Action>& out) override
    {
        const py::gil_scoped_acquire gil;
        append_actions(handle_.get()(event, now), out);
    }

private:
    Object scheme_;
    Needs needs_;
    Object handle_;
};

class PythonSynchronous final : public SynchronousScheme {
public:
    PythonSynchronous(py::object scheme, const py::handle& base, const Problem& problem)
        : scheme_(std::move(scheme)), needs_(needs_of(scheme_, base, problem)),
          begin_(scheme_.get().attr("begin")), receive_(scheme_.get().attr("receive")),
          plan_(scheme_.method("plan", base)), order_(scheme_.method("order", base)),
          limit_(scheme_.method("limit", base)), expire_(scheme_.method("expire", base)),
          stepped_(scheme_.method("stepped", base))
    {
        py::setattr(scheme_.get(), "_needs", py::cast(needs_));
        if (plan_.get()) return;
        for (const auto& stored : needs_.shard) {
            Part part;
            for (const int block : stored) part.items.push_back({.block = block});
            plans_.push_back(std::make_shared<const Plan>(Plan{{std::move(part)}}));
        }
    }

    Needs needs() const override { return needs_; }
    std::string warning() const override { return warning_of(scheme_); }

protected:
    std::shared_ptr<const Plan> plan(Worker worker) const override
    {
        if (worker < 0 || worker >= std::ssize(needs_.shard)) {
            const py::gil_scoped_acquire gil;
            throw BadInput(fmt::format("{}.order() names worker {}, but there are {}",
                                       name_of(scheme_.get()), worker, needs_.shard.size()));
        }
        if (!plan_.get()) return plans_[static_cast<std::size_t>(worker)];
        const py::gil_scoped_acquire gil;
        const auto made = as<std::shared_ptr<Plan>>(
            plan_.get()(worker), name_of(scheme_.get()) + ".plan()", "quorate.Plan(...)");
        if (!made) throw BadInput(name_of(scheme_.get()) + ".plan() returned None: return a Plan");
        return made;
    }
    std::vector<Worker> order(std::vector<Worker> active) const override
    {
        if (!order_.get()) return active;
        const py::gil_scoped_acquire gil;
        return as<std::vector<Worker>>(order_.get()(active), name_of(scheme_.get()) + ".order()",
                                       "a list of workers");
    }
    void begin(Version version) override
    {
        const py::gil_scoped_acquire gil;
        begin_.get()(version);
    }
    std::optional<Step> receive(const Contribution& contribution) override
    {
        const py::gil_scoped_acquire gil;
        return step(receive_.get()(contribution));
    }
    Seconds limit() const override
    {
        if (!limit_.get()) return never;
        const py::gil_scoped_acquire gil;
        const auto seconds =
            as<Seconds>(limit_.get()(), name_of(scheme_.get()) + ".limit()", "seconds");
        if (!(seconds > 0))
            throw BadInput(fmt::format("{}.limit() is {}: return seconds, more than 0",
                                       name_of(scheme_.get()), seconds));
        return seconds;
    }
    std::optional<Step> expire() override
    {
        if (!expire_.get()) return std::nullopt;
        const py::gil_scoped_acquire gil;
        return step(expire_.get()());
    }
    void stepped(const Stepped& event) override
    {
        if (!stepped_.get()) return;
        const py::gil_scoped_acquire gil;
        stepped_.get()(event);
    }

private:
    std::optional<Step> step(const py::object& returned) const
    {
        if (returned.is_none()) return std::nullopt;
        if (!py::isinstance<Step>(returned))
            throw py::type_error(fmt::format("{} returned {}: return a Step, or None to wait on",
                                             name_of(scheme_.get()), in_short(returned)));
        return returned.cast<Step>();
    }

    Object scheme_;
    Needs needs_;
    Object begin_, receive_, plan_, order_, limit_, expire_, stepped_;
    std::vector<std::shared_ptr<const Plan>> plans_;  // unless the class has a plan()
};

// Weights from a Python function, tested by their residual.
class PythonDecoder final : public Decoder {
public:
    // @param collect  answers after which the function is called once a round; 0: it is called
    //                 after each, and what it returns must be exact
    PythonDecoder(Encoding encoding, int collect, py::object decode)
        : encoding_(std::move(encoding)), collect_(collect), decode_(std::move(decode))
    {
    }

    void begin() override { received_.clear(); }

    const Decoding* receive(int worker) override
    {
        received_.insert(std::ranges::lower_bound(received_, worker), worker);
        return std::ssize(received_) < collect_ ? nullptr : decode();
    }

    bool exact() const override { return collect_ == 0; }

    const Decoding* expire() override
    {
        return collect_ > 0 && !received_.empty() ? decode() : nullptr;
    }

private:
    using Weights = std::optional<std::vector<double>>;

    // Returns what the function says to the workers that have answered; nothing: wait on. With the GIL.
    Weights answer() const
    {
        const py::object returned = decode_.get()(received_);
        if (returned.is_none()) return std::nullopt;
        const auto array = numbers(returned, "decode()", "weights, or None");
        return std::vector<double>(array.data(), array.data() + array.size());
    }

    static bool same(const Weights& one, const Weights& other)
    {
        const auto equal = [](double a, double b) {
            return a == b || (std::isnan(a) && std::isnan(b));
        };
        return one.has_value() == other.has_value() &&
               (!one || std::ranges::equal(*one, *other, equal));
    }

    const Decoding* decode()
    {
        const py::gil_scoped_acquire gil;
        const auto answered = answer();
        // A replay and a resumed run ask again. Asked twice at the 1st, 2nd, 4th, 8th, ... time.
        if (std::has_single_bit(++calls_) && !same(answer(), answered))
            throw BadInput(
                "decode() returned two answers for the same workers: what it returns may depend on "
                "its argument alone");
        if (!answered) return nullptr;
        const auto& weights = *answered;
        if (weights.size() != received_.size())
            throw BadInput(
                fmt::format("decode() returned {} weights for the answers of {} workers: "
                            "return one for each, in their order",
                            weights.size(), received_.size()));
        decoding_ = {};
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (weights[i] != 0) decoding_.weights.push_back({received_[i], 0, weights[i]});
        decoding_.error = decode_error(encoding_, decoding_.weights, 1);
        const bool good = collect_ > 0 ? std::isfinite(decoding_.error) : decoding_.error <= 1e-9;
        if (good && !decoding_.weights.empty()) return &decoding_;
        throw BadInput(fmt::format(
            "decode() returned weights a with |B'a - 1|^2 = {:.3g}: return None until they are "
            "exact, or give the code collect=R for approximate ones",
            decoding_.error));
    }

    Encoding encoding_;
    int collect_;
    Object decode_;
    std::vector<int> received_;
    std::uint64_t calls_ = 0;
    Decoding decoding_;
};

}  // namespace

std::unique_ptr<Scheme> make_scheme(const py::object& object, const Problem& problem)
{
    const auto package = py::module_::import("quorate");
    if (const auto base = package.attr("SynchronousScheme"); py::isinstance(object, base))
        return std::make_unique<Checked>(std::make_unique<PythonSynchronous>(object, base, problem),
                                         name_of(object));
    if (const auto base = package.attr("Scheme"); py::isinstance(object, base))
        return std::make_unique<Checked>(std::make_unique<PythonScheme>(object, base, problem),
                                         name_of(object));
    throw BadInput(name_of(object) + " is no scheme: derive it from quorate.Scheme");
}

GradientCode make_code(const py::object& code, const Problem& problem)
{
    const auto matrix = code.attr("matrix").cast<std::vector<std::vector<double>>>();
    if (std::ssize(matrix) != problem.workers)
        throw BadInput(
            fmt::format("the code has {} rows, one for each worker, but there are {} "
                        "workers: give workers={}",
                        matrix.size(), problem.workers, matrix.size()));
    const auto collect = code.attr("collect");
    const int answers = collect.is_none() ? 0 : as<int>(collect, "collect", "a whole number");
    auto made = code_from_matrix(matrix, answers);
    if (const py::object decode = code.attr("decode"); !decode.is_none())
        made.decoder = std::make_unique<PythonDecoder>(made.encoding, answers, decode);
    return made;
}

}  // namespace quorate::bindings
