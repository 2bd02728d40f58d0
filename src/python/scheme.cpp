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
#include "scheme/promises.hpp"
#include "scheme/rounds/synchronous.hpp"

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

// Refuses what breaks a promise, so that a mistake in Python is named and does not end the process.
class Checked final : public Scheme {
public:
    Checked(std::unique_ptr<Scheme> scheme, std::string name)
        : scheme_(std::move(scheme)), name_(std::move(name)), promises_(scheme_->needs(), name_)
    {
    }

    Needs needs() const override { return scheme_->needs(); }
    std::string warning() const override { return scheme_->warning(); }
    void handle(const Event& event, Seconds now, std::vector<Action>& out) override
    {
        promises_.note(event);
        const auto first = out.size();
        scheme_->handle(event, now, out);
        for (auto i = first; i < out.size(); ++i) {
            if (const auto* task = std::get_if<Dispatch>(&out[i])) expect_items(*task);
            std::visit([this](const auto& action) { promises_.check(action); }, out[i]);
        }
    }

private:
    // Random codes have parts without items; in Python they are mistakes.
    void expect_items(const Dispatch& task) const
    {
        const auto is_empty = [](const Part& part) { return part.items.empty(); };
        if (task.plan && std::ranges::any_of(task.plan->parts, is_empty))
            throw BadInput(fmt::format("{} gives task {} with an empty part", name_, task.task));
    }

    std::unique_ptr<Scheme> scheme_;
    std::string name_;
    Promises promises_;
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

    // Returns what the function says to the workers that have answered; nothing: wait on. With the
    // GIL.
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
