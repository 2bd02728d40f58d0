// SPDX-License-Identifier: BSD-2-Clause
#include "python/components.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "parts/components.hpp"
#include "python/arrays.hpp"
#include "python/model.hpp"
#include "python/object.hpp"
#include "python/running.hpp"
#include "python/sample_model.hpp"
#include "python/scheme.hpp"
#include "python/text.hpp"
#include "python/whole_optimizer.hpp"
#include "quorate/quorate.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

// An option that a component's constructor takes by keyword.
struct Keyword {
    Option option;
    std::string type;  // int, float, bool or str
};

struct Component {
    py::object make;  // called with what the kind gives, and the options by keyword
    std::vector<Keyword> keywords;
};

// By kind and name; an entry stays as it is. Never freed: the interpreter may be gone before this
// process ends.
std::map<std::string, Component>& components()
{
    static auto& all = *new std::map<std::string, Component>;
    return all;
}

py::object value_of(const Keyword& keyword, const Settings& settings)
{
    const auto& name = keyword.option.name;
    if (keyword.type == "int")
        return py::int_(settings.integer(name, std::numeric_limits<std::int64_t>::min()));
    if (keyword.type == "float")
        return py::float_(settings.real(name, std::numeric_limits<double>::lowest()));
    if (keyword.type == "bool") return py::bool_(settings.on(name));
    return py::cast(Text(settings.text(name)));
}

std::string with_underscores(std::string name)
{
    std::ranges::replace(name, '-', '_');
    return name;
}

// Whether Python's quorate._samples has made this, by the name of the class. With the GIL.
bool is_of_samples(const py::object& made, const char* name)
{
    return py::isinstance(made, py::module_::import("quorate._samples").attr(name));
}

// Makes a component: calls its constructor with the options that have a value. With the GIL.
// @param argument  what follows the colon of the name
template <class... Arguments>
py::object construct(const std::string& key, const Settings& settings, Arguments&&... arguments)
{
    const auto& component = components().at(key);
    py::dict options;
    for (const auto& keyword : component.keywords)
        if (settings.given(keyword.option.name) || settings.on(keyword.option.name))
            options[py::str(with_underscores(keyword.option.name))] = value_of(keyword, settings);
    return component.make(std::forward<Arguments>(arguments)..., **options);
}

// What follows the colon in an option's value.
std::string argument_of(const Settings& settings, const std::string& option)
{
    const auto& text = settings.text(option);
    const auto colon = text.find(':');
    return colon == std::string::npos ? "" : text.substr(colon + 1);
}

class PythonDelay final : public DelayModel {
public:
    explicit PythonDelay(py::object function) : function_(std::move(function)) {}

    double draw(int machine, std::int64_t draw, double load) override
    {
        // A value is asked for more than once, and must be the same then.
        const auto [at, is_new] = known_.try_emplace({machine, draw, load});
        if (is_new) {
            const py::gil_scoped_acquire gil;
            const auto ask = [&] {
                return as<double>(function_.get()(machine, draw, load), "the delay function",
                                  "seconds");
            };
            const auto value = ask();
            // A replay and the other ranks ask again. Asked twice at the 1st, 2nd, 4th, 8th, ...
            // time.
            if (const auto again = std::has_single_bit(++calls_) ? ask() : value;
                again != value && std::isfinite(value))
                throw BadInput(fmt::format(
                    "the delay function returned {:.6g} and then {:.6g} for worker {} in draw {}: "
                    "what it returns may depend on its arguments alone, as of "
                    "numpy.random.default_rng((SEED, worker, draw))",
                    value, again, machine, draw));
            if (!(value >= 0) || !std::isfinite(value)) {
                known_.erase(at);
                throw BadInput(fmt::format(
                    "the delay of worker {} in draw {} is {}: return seconds, 0 or more", machine,
                    draw, value));
            }
            at->second = value;
        }
        return at->second;
    }

private:
    Object function_;
    std::map<std::tuple<int, std::int64_t, double>, double> known_;
    std::uint64_t calls_ = 0;
};

class PythonOptimizer final : public Optimizer {
public:
    PythonOptimizer(py::object optimizer, std::vector<double> initial,
                    const Regularizer& regularizer)
        : optimizer_(std::move(optimizer)), update_(optimizer_.get().attr("update")),
          state_(py::module_::import("quorate._state").attr("State")(optimizer_.get())),
          w_(std::move(initial)), regularizer_(regularizer)
    {
        const auto more =
            as<int>(optimizer_.get().attr("memory"), "the optimizer's memory", "a whole number");
        for (int i = 0; i < more; ++i)
            memory_.push_back(std::make_shared<std::vector<double>>(w_.size()));
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        gradient_.assign(estimate.begin(), estimate.end());
        for (std::size_t i = 0; i < w_.size(); ++i) gradient_[i] += 2 * regularizer_.l2 * w_[i];
        const py::gil_scoped_acquire gil;
        py::list arguments;
        arguments.append(copied(w_));
        arguments.append(copied(gradient_));
        arguments.append(step);
        for (const auto& one : memory_) arguments.append(shared(one));
        const auto moved = numbers(update_.get()(*arguments), "update() of the optimizer",
                                   std::ssize(w_), "parameters");
        const auto* values = moved.data();
        for (std::size_t i = 0; i < w_.size(); ++i) {
            if (!std::isfinite(values[i]))
                throw Failure(fmt::format(
                    "update() of the optimizer returned {} for parameter {}: the step may be too "
                    "large",
                    values[i], i));
            next[i] = w_[i] = regularizer_.shrunk(values[i], step);
        }
        ++updates_;
        if (std::has_single_bit(++calls_)) check_state();
    }

    ConstNumbers model() const override { return w_; }
    /// @throws BadInput if the object remembers more than this, which a checkpoint would lack
    std::vector<Numbers> memory() override
    {
        check_state();
        std::vector<Numbers> all = {w_};
        for (const auto& one : memory_) all.emplace_back(*one);
        return all;
    }

private:
    // Refuses attributes that updates have changed. They may be large: looked at after the 1st,
    // 2nd, 4th, 8th, ... update, and before they would be missed.
    void check_state() const
    {
        const py::gil_scoped_acquire gil;
        const auto changed = state_.get().attr("changed")().cast<std::string>();
        if (!changed.empty())
            throw BadInput(fmt::format(
                "update() of the optimizer changes {}, which no checkpoint keeps: keep it in "
                "vectors that update() gets and changes, as many as the class's `memory` says",
                changed));
    }

    Object optimizer_, update_, state_;
    std::uint64_t calls_ = 0;
    std::vector<double> w_;
    Regularizer regularizer_;
    std::vector<double> gradient_;
    std::vector<std::shared_ptr<std::vector<double>>> memory_;  // shared with Python
};

struct Description {
    std::string name, text, source;
    std::vector<Option> options;
};

void add_to_registry(const std::string& kind, const Description& text, const std::string& key)
{
    const auto add = [&](auto add_entry, auto make) {
        add_entry({.name = text.name,
                   .arguments = "",
                   .text = text.text,
                   .source = text.source,
                   .options = text.options,
                   .make = std::move(make)});
    };
    if (kind == "scheme")
        add(add_scheme, [key](const Settings& settings, const Problem& problem) {
            const py::gil_scoped_acquire gil;
            return make_scheme(construct(key, settings, problem), problem);
        });
    else if (kind == "code")
        add(add_code, [key](const Settings& settings, const Problem& problem) {
            const py::gil_scoped_acquire gil;
            return make_code(construct(key, settings, Text(argument_of(settings, "scheme"))),
                             problem);
        });
    else if (kind == "model")
        add(add_model, [key](const Settings& settings, const DataShape& data) {
            const py::gil_scoped_acquire gil;
            auto made = construct(key, settings);
            return is_of_samples(made, "SampleModel") ? make_sample_model(std::move(made), data)
                                                      : make_model(std::move(made), data);
        });
    else if (kind == "delay")
        add(add_delay,
            [key](const Settings& settings,
                  const DelaySetup& setup) -> std::unique_ptr<DelayModel> {
                const py::gil_scoped_acquire gil;
                auto function = construct(key, settings, Text(argument_of(settings, setup.option)),
                                          setup.machines);
                return std::make_unique<PythonDelay>(std::move(function));
            });
    else if (kind == "optimizer")
        add(add_optimizer,
            [key](const Settings& settings, std::vector<double> initial,
                  const Regularizer& regularizer) -> std::unique_ptr<Optimizer> {
                const py::gil_scoped_acquire gil;
                auto made = construct(key, settings);
                if (is_of_samples(made, "WholeOptimizer"))
                    return make_whole_optimizer(std::move(made), initial, regularizer);
                return std::make_unique<PythonOptimizer>(std::move(made), std::move(initial),
                                                         regularizer);
            });
    else
        throw py::value_error("there is no kind of component " + kind);
}

// Refuses an option that another component has with another default, because values of runs do not
// say whose they are.
void check_shared(const Option& own)
{
    for (const auto& known : component_options())
        if (known.name == own.name && known.fallback != own.fallback && !known.fallback.empty())
            throw BadInput(fmt::format(
                "the option {} is '{}' by default, but '{}' for other components: take that "
                "default, or another name",
                own.name, own.fallback, known.fallback));
}

void add_component(const std::string& kind, const std::string& name, const std::string& text,
                   const std::string& source, const std::vector<std::vector<std::string>>& keywords,
                   const py::object& make)
{
    Component component{make, {}};
    Description entry{name, text, source, {}};
    for (const auto& words : keywords) {
        Keyword keyword{{words.at(0), words.at(1), words.at(2), words.at(3)}, words.at(4)};
        check_shared(keyword.option);
        entry.options.push_back(keyword.option);
        component.keywords.push_back(std::move(keyword));
    }
    const auto key = kind + ' ' + name;
    const Exclusive exclusive;
    add_to_registry(kind, entry, key);
    components().emplace(key, std::move(component));
}

}  // namespace

void add_components(py::module_& module)
{
    module.def("add_component", &add_component, py::arg("kind"), py::arg("name"), py::arg("text"),
               py::arg("source"), py::arg("options"), py::arg("make"));
    module.def("components", [] {
        py::list all;
        for (const auto& kind : run_components())
            for (const auto& one : kind.all) {
                py::list options;
                for (const auto& option : one.options)
                    options.append(
                        py::make_tuple(option.name, option.argument, option.fallback, option.text));
                all.append(py::make_tuple(kind.option, one.name, one.arguments, one.text,
                                          one.source, options));
            }
        return all;
    });
}

}  // namespace quorate::bindings
