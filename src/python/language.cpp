// SPDX-License-Identifier: BSD-2-Clause
// The language between schemes and the engine, as Python classes of the same names and fields.
#include "python/language.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "base/error.hpp"
#include "code/partition.hpp"
#include "python/arrays.hpp"
#include "python/text.hpp"
#include "scheme/sample_mean.hpp"
#include "scheme/scheme.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

using Operation = Item::Operation;

const std::vector<std::pair<std::string, Operation>> operations = {
    {"gradient", Operation::gradient},
    {"cached", Operation::cached},
    {"held", Operation::held},
    {"descent", Operation::descent},
    {"product", Operation::product},
    {"transpose_product", Operation::transpose_product},
    {"column_product", Operation::column_product}};

Operation operation_of(const std::string& name)
{
    for (const auto& [known, operation] : operations)
        if (known == name) return operation;
    throw py::value_error("an item has the operation '" + name +
                          "': use gradient, cached, held, descent or a product");
}

// Rows are written as (first, count).
Rows rows_of(const py::handle& rows)
{
    const auto [first, count] = rows.cast<std::pair<std::int64_t, std::int64_t>>();
    return {first, count};
}

double number_of(const py::handle& value, const char* what)
{
    py::detail::make_caster<Real> number;
    if (number.load(value, true)) return py::detail::cast_op<Real>(number);
    throw py::type_error(fmt::format("{} is {}: give a number", what, in_short(value)));
}

// A block's number, (block, coefficient), or an Item.
Item item_of(const py::handle& item)
{
    if (py::isinstance<Item>(item)) return item.cast<Item>();
    if (py::isinstance<py::int_>(item)) return {.block = item.cast<int>()};
    const auto [block, coefficient] = item.cast<std::pair<int, py::object>>();
    return {.block = block, .coefficient = number_of(coefficient, "the coefficient of an item")};
}

// A list of items, or a Part.
Part part_of(const py::handle& part)
{
    if (py::isinstance<Part>(part)) return part.cast<Part>();
    Part made;
    for (const auto item : part.cast<py::sequence>()) made.items.push_back(item_of(item));
    return made;
}

Versions versions_of(const py::object& inputs)
{
    if (py::isinstance<py::int_>(inputs)) return {inputs.cast<Version>()};
    const auto versions = inputs.cast<std::vector<Version>>();
    return {versions.begin(), versions.end()};
}

// (contribution or its number, weight, whether it outlives the step), or less of it.
Term term_of(const py::handle& term)
{
    const auto id = [](const py::handle& one) {
        return py::isinstance<Contribution>(one) ? one.cast<const Contribution&>().id
                                                 : one.cast<ContributionId>();
    };
    if (!py::isinstance<py::tuple>(term)) return {id(term)};
    const auto pair = term.cast<py::tuple>();
    if (pair.size() != 2 && pair.size() != 3)
        throw py::value_error("a term is a contribution with its weight, and whether it is kept");
    return {id(pair[0]), number_of(pair[1], "the weight of a term"),
            pair.size() == 3 && pair[2].cast<bool>()};
}

std::vector<Placed> placed_of(const py::sequence& terms)
{
    std::vector<Placed> placed;
    for (const auto term : terms) placed.push_back(term.cast<Placed>());
    return placed;
}

Dispatch dispatch_of(TaskId task, Worker worker, std::shared_ptr<Plan> plan,
                     const py::object& inputs, const py::object& draw, const std::string& begin,
                     bool repeat, std::int64_t samples, Real seconds, std::int64_t micro_batch,
                     const std::vector<Operand>& operands)
{
    if (begin != "now" && begin != "after")
        throw py::value_error("a task begins '" + begin + "': use now or after");
    Dispatch made{task, worker, std::move(plan), versions_of(inputs), {}, {}};
    if (!operands.empty()) made.operands = std::make_shared<const std::vector<Operand>>(operands);
    if (made.inputs.empty()) throw py::value_error("a task names no point: give it inputs");
    made.control = {.draw = draw.is_none() ? made.inputs.back() : draw.cast<std::int64_t>(),
                    .begin = begin == "now" ? TaskControl::Begin::now : TaskControl::Begin::after,
                    .repeat = repeat,
                    .budget = {samples, seconds, micro_batch}};
    return made;
}

Step step_of(const py::sequence& terms, Real divisor, Real error, Real scale, Real share, int model,
             bool displacement, std::int64_t waste, const py::sequence& placed)
{
    Step step{.terms = {},
              .divisor = divisor,
              .error = error,
              .scale = scale,
              .share = share,
              .model = model,
              .displacement = displacement,
              .waste = waste,
              .placed = placed_of(placed)};
    for (const auto term : terms) step.terms.push_back(term_of(term));
    return step;
}

Needs needs_of(const py::sequence& blocks, const std::vector<std::vector<int>>& shard,
               const py::dict& others)
{
    Needs needs;
    for (const auto block : blocks) needs.blocks.push_back(rows_of(block));
    needs.shard = shard;
    std::size_t taken = 0;
    const auto take = [&](const char* name, auto& field) {
        if (!others.contains(name)) return;
        field = others[name].cast<std::decay_t<decltype(field)>>();
        ++taken;
    };
    take("models", needs.models);
    take("limits_time", needs.limits_time);
    take("displaces", needs.displaces);
    take("places", needs.places);
    take("membership", needs.membership);
    take("exact", needs.exact);
    take("kept", needs.kept);
    take("points", needs.points);
    take("staleness", needs.staleness);
    take("stable_step", needs.stable_step);
    take("fingerprint", needs.fingerprint);
    take("projection", needs.projection);
    take("inner_product", needs.inner_product);
    if (taken != others.size())
        throw py::type_error("Needs has no such keyword: " + in_short(others));
    return needs;
}

void add_requests(py::module_& module)
{
    py::class_<Item>(module, "Item", "What a worker does with the rows of a block.")
        .def(py::init([](int block, Real coefficient, int input, const std::string& operation,
                         const py::object& rows) {
                 return Item{.block = block,
                             .input = input,
                             .coefficient = coefficient,
                             .operation = operation_of(operation),
                             .rows = rows.is_none() ? Rows{} : rows_of(rows)};
             }),
             py::arg("block"), py::arg("coefficient") = 1.0, py::arg("input") = 0,
             py::arg("operation") = "gradient", py::arg("rows") = py::none())
        .def_readonly("block", &Item::block)
        .def_readonly("coefficient", &Item::coefficient)
        .def_readonly("input", &Item::input);
    py::class_<Part>(
        module, "Part",
        "A list of items whose gradients are folded: fold has m coefficients for each item, the\n"
        "contribution the ceil(p / m) elements that are the sum of the m pieces of each gradient, "
        "each\n"
        "times its coefficient. Or one that is held: its worker sends no values, until items of a\n"
        "later task, with the operation 'held', name these blocks at this point.")
        .def(py::init([](const py::sequence& items, const std::vector<Real>& fold, bool held) {
                 auto part = part_of(items);
                 part.fold.assign(fold.begin(), fold.end());
                 part.held = held;
                 return part;
             }),
             py::arg("items"), py::arg("fold") = py::list(), py::arg("held") = false);
    py::class_<Plan, std::shared_ptr<Plan>>(module, "Plan",
                                            "What a worker computes: parts, each a list of items "
                                            "or a Part. An item is a block's number,\n"
                                            "(block, coefficient) or an Item.")
        .def(py::init([](const py::sequence& parts, bool each_when_ready) {
                 auto plan = std::make_shared<Plan>();
                 plan->each_when_ready = each_when_ready;
                 for (const auto part : parts) plan->parts.push_back(part_of(part));
                 return plan;
             }),
             py::arg("parts"), py::arg("each_when_ready") = false);
}

void add_needs(py::module_& module)
{
    py::class_<Needs>(module, "Needs",
                      "What a scheme needs: blocks [(first row, rows), ...], the blocks that each\n"
                      "worker stores, and by keyword what else scheme/scheme.hpp lists.")
        .def(py::init([](const py::sequence& blocks, const std::vector<std::vector<int>>& shard,
                         const py::kwargs& others) { return needs_of(blocks, shard, others); }),
             py::arg("blocks"), py::arg("shard"))
        .def_property_readonly("blocks",
                               [](const Needs& needs) {
                                   py::list blocks;
                                   for (const auto& block : needs.blocks)
                                       blocks.append(py::make_tuple(block.first, block.count));
                                   return blocks;
                               })
        .def_readonly("shard", &Needs::shard);
    py::class_<Problem>(module, "Problem", "What a scheme is made for.")
        .def_readonly("workers", &Problem::workers)
        .def_readonly("rows", &Problem::rows)
        .def_readonly("seed", &Problem::seed)
        .def_readonly("batch", &Problem::batch)
        .def_readonly("row_time", &Problem::row_time)
        .def_readonly("dense", &Problem::dense)
        .def_readonly("columns", &Problem::columns)
        .def_readonly("parameters", &Problem::parameters)
        .def(
            "partitions",
            [](const Problem& problem, const std::optional<int>& count) {
                const int k = count.value_or(problem.workers);
                std::vector<std::pair<std::int64_t, std::int64_t>> all;
                for (int j = 0; j < k; ++j) all.push_back(partition(problem.rows, k, j));
                return all;
            },
            py::arg("count") = py::none(),
            "Returns so many partitions of the rows (default: one a worker) as (first, rows).");
}

void add_actions(py::module_& module)
{
    py::class_<Dispatch>(module, "Dispatch", "Gives a worker a task.")
        .def(py::init(&dispatch_of), py::arg("task"), py::arg("worker"), py::arg("plan"),
             py::arg("inputs"), py::arg("draw") = py::none(), py::arg("begin") = "now",
             py::arg("repeat") = false, py::arg("samples") = 0, py::arg("seconds") = never,
             py::arg("micro_batch") = 0, py::arg("operands") = std::vector<Operand>());
    py::class_<Close>(module, "Close", "Closes the tasks first to last.")
        .def(py::init([](TaskId first, TaskId last) {
                 return Close{first, last};
             }),
             py::arg("first"), py::arg("last"));
    py::class_<Slice>(module, "Slice", "Elements of the formed vector, times a weight.")
        .def(py::init([](const py::object& rows, Real weight) {
                 return Slice{rows_of(rows), weight};
             }),
             py::arg("rows"), py::arg("weight") = 1.0);
    py::class_<Placed>(module, "Placed", "Where rows of a product belong.")
        .def(py::init([](const py::object& contribution, Real weight, const py::object& rows,
                         std::int64_t at) {
                 return Placed{term_of(contribution).contribution, weight, rows_of(rows), at};
             }),
             py::arg("contribution"), py::arg("weight"), py::arg("rows"), py::arg("at"));
    py::class_<Combine>(module, "Combine", "Adds up products to the scores of all rows.")
        .def(py::init([](const py::sequence& terms) { return Combine{placed_of(terms)}; }),
             py::arg("terms"));
    py::class_<Step>(module, "Step",
                     "An update: the sum of weighted contributions / divisor. A term is a\n"
                     "contribution, (contribution, weight), or (contribution, weight, keep): a\n"
                     "contribution that is kept outlives the step, until its task is closed.")
        .def(py::init(&step_of), py::arg("terms"), py::arg("divisor"), py::arg("error") = 0.0,
             py::arg("scale") = 1.0, py::arg("share") = 1.0, py::arg("model") = 0,
             py::arg("displacement") = false, py::arg("waste") = 0, py::arg("placed") = py::list())
        .def_readonly("divisor", &Step::divisor)
        .def_readonly("error", &Step::error);
    py::class_<SetTimer>(module, "SetTimer", "Asks for a Deadline; at=inf: not any more.")
        .def(py::init([](int timer, Real at) {
                 return SetTimer{timer, at};
             }),
             py::arg("timer"), py::arg("at"));
    py::class_<Note>(module, "Note", "Tells the user something.")
        .def(py::init([](Text text) { return Note{std::move(text)}; }), py::arg("text"));
    py::class_<Undecodable>(module, "Undecodable", "No decode is possible any more.")
        .def(py::init([](Text why) { return Undecodable{std::move(why)}; }), py::arg("why"));
}

void add_events(py::module_& module)
{
    py::class_<Contribution>(module, "Contribution", "A contribution, without its vector.")
        .def_readonly("id", &Contribution::id)
        .def_readonly("worker", &Contribution::worker)
        .def_readonly("part", &Contribution::part)
        .def_readonly("task", &Contribution::task)
        .def_readonly("draw", &Contribution::draw)
        .def_readonly("samples", &Contribution::samples)
        .def_readonly("oldest", &Contribution::oldest)
        .def_readonly("newest", &Contribution::newest)
        .def_readonly("items", &Contribution::items)
        .def_readonly("compute", &Contribution::compute)
        .def_readonly("delay", &Contribution::delay)
        .def_readonly("idle", &Contribution::idle)
        .def_readonly("send", &Contribution::send)
        .def_readonly("sent", &Contribution::sent)
        .def_readonly("arrived", &Contribution::arrived)
        .def_readonly("fingerprint", &Contribution::fingerprint)
        .def_readonly("projection", &Contribution::projection);
    py::class_<Start>(module, "Start").def_readonly("active", &Start::active);
    py::class_<Arrived>(module, "Arrived").def_readonly("contributions", &Arrived::contributions);
    py::class_<Deadline>(module, "Deadline").def_readonly("timer", &Deadline::timer);
    py::class_<Stepped>(module, "Stepped")
        .def_readonly("version", &Stepped::version)
        .def_readonly("model", &Stepped::model)
        .def_readonly("inner_with_last", &Stepped::inner_with_last);
    const py::class_<Quiescent> quiescent(module, "Quiescent");
    py::class_<WorkerLost>(module, "WorkerLost").def_readonly("worker", &WorkerLost::worker);
    py::class_<WorkerJoined>(module, "WorkerJoined").def_readonly("worker", &WorkerJoined::worker);
}

// Appends the action if it is of one of these types.
template <class... Actions>
bool append(const py::handle& action, std::vector<Action>& out, std::variant<Actions...>*)
{
    return ((py::isinstance<Actions>(action) &&
             (out.emplace_back(action.cast<const Actions&>()), true)) ||
            ...);
}

// The mean of samples: a step of contributions, each of which is the plain sum over one block.
Step mean_of(const Needs& needs, const py::sequence& contributions)
{
    SampleMean mean(needs.blocks);
    for (const auto one : contributions) {
        const auto& contribution = one.cast<const Contribution&>();
        const auto& stored = needs.shard.at(static_cast<std::size_t>(contribution.worker));
        if (stored.size() != 1 || contribution.part != 0)
            throw BadInput(
                "mean() is for workers that store one block each: give quorate.Step(terms, "
                "divisor, "
                "error)");
        mean.add(contribution, stored[0]);
    }
    if (mean.samples() == 0) throw BadInput("mean() of no samples: give it contributions");
    return mean.step();
}

}  // namespace

void append_actions(const py::object& actions, std::vector<Action>& out)
{
    if (actions.is_none()) return;
    if (!py::isinstance<py::list>(actions) && !py::isinstance<py::tuple>(actions))
        throw py::type_error("handle() returned " + in_short(actions) +
                             ": return a list of actions, or None");
    for (const auto action : actions.cast<py::sequence>())
        if (!append(action, out, static_cast<Action*>(nullptr)))
            throw py::type_error("a scheme returned " + in_short(action) + ", which is no action");
}

void add_language(py::module_& module)
{
    add_requests(module);
    add_needs(module);
    add_actions(module);
    add_events(module);
    module.def(
        "mean", &mean_of, py::arg("needs"), py::arg("contributions"),
        "Returns the step that is the mean over the samples of these contributions, each of\n"
        "which is the plain sum over one block.");
}

}  // namespace quorate::bindings
