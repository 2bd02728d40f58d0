// SPDX-License-Identifier: BSD-2-Clause
#include "study/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/values.hpp"
#include "data/folds.hpp"
#include "ranks/messages.hpp"
#include "run/defaults.hpp"
#include "run/initialiser.hpp"
#include "run/penalties.hpp"

namespace quorate {

std::vector<GridOption> grid_options(const Settings& settings)
{
    std::vector<GridOption> all;
    if (!settings.on("grid"))
        throw BadInput("quorate tune needs --grid NAME=V:V:...,...: the options to try");
    for (const auto& word : split(settings.text("grid"), ',')) {
        const auto equals = word.find('=');
        const auto name = trimmed(word.substr(0, equals));
        const auto values = equals == std::string::npos ? std::vector<std::string>()
                                                        : split(word.substr(equals + 1), ':');
        if (values.empty() || values[0].empty())
            settings.refuse("grid",
                            fmt::format(", where '{}' is not NAME=V:V:... or NAME=A..BxN: write "
                                        "l2=1e-5..1e-1x5,step=1:10",
                                        word));
        if (!settings.has(name) || name == "grid" || name == "folds" || name == "data" ||
            name == "metric" || name == "output" || name == "workers" || name == "average")
            settings.refuse("grid", fmt::format(", but {} is no option that a trial has", name));
        if (std::ranges::find(all, name, &GridOption::name) != all.end())
            settings.refuse("grid", fmt::format(", which names {} twice: name it once", name));
        auto& option = all.emplace_back(name);
        for (const auto& value : values) {
            const auto text = trimmed(value);
            if (auto range = values_of_range(text, fmt::format("--grid: {} is ", name)))
                std::ranges::move(*range, std::back_inserter(option.values));
            else
                option.values.push_back(text);
        }
    }
    return all;
}

std::vector<Choice> points_of(const std::vector<GridOption>& grid)
{
    std::vector<Choice> points = {{}};
    for (const auto& [name, values] : grid) {
        constexpr std::size_t most = 1'000'000;
        if (points.size() * values.size() > most)
            throw BadInput(
                fmt::format("--grid has more than {} combinations: leave values out", most));
        std::vector<Choice> more;
        for (const auto& point : points)
            for (const auto& value : values) {
                more.push_back(point);
                more.back().emplace_back(name, value);
            }
        points = std::move(more);
    }
    return points;
}

// The components of a point, made from its options.
struct Trials::Made {
    std::unique_ptr<Model> model;
    std::unique_ptr<Optimizer> optimizer;
    TrialOptions trial;
};

Trials::Trials(const Settings& settings, std::vector<Choice> points)
    : settings_(settings), points_(std::move(points)), data_(settings.text("data")),
      workers_(static_cast<int>(
          settings.integer("workers", 1, std::max<std::int64_t>(1, data_.rows(Split::train) / 2)))),
      folds_(static_cast<int>(settings.integer("folds", 2, data_.rows(Split::train) / workers_)))
{
    std::int64_t parameters = 0;  // of the first point
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const auto made = make(static_cast<std::int64_t>(i));
        const auto own = made.model->parameters(data_.columns());
        if (i == 0) {
            metrics_ = metrics_of(made.model->loss());
            parameters = own;
        } else if (workers_ > 1 && own != parameters) {
            settings.refuse("workers",
                            fmt::format(", whose models are averaged, but those of the grid have "
                                        "{} and {} parameters: leave options of their size out",
                                        parameters, own));
        }
    }
    const auto labels = data_.labels(Split::train);
    const auto task = data_.shape().task;
    const bool classes = task != LearningTask::regression;
    // The folds of all points are the same, also if the grid has seeds.
    part_of_ = stratified_folds(labels, classes, all_folds(),
                                static_cast<std::uint64_t>(settings.integer("seed", 0)));
    if (!classes) return;
    class_rows_.resize(static_cast<std::size_t>(data_.shape().classes));
    for (const double label : labels)
        ++class_rows_[static_cast<std::size_t>(task == LearningTask::binary ? label > 0 : label)];
}

// A metric that a model has is a number for rows of two classes, whatever their scores.
Quality Trials::metrics_of(const Loss& loss) const
{
    const auto first = data_.shape().task == LearningTask::binary ? -1.0 : 0.0;
    const std::vector<double> scores(static_cast<std::size_t>(2 * loss.outputs()));
    return loss.quality(scores, std::array{first, 1.0});
}

Trials::Scarce Trials::scarcest() const
{
    if (class_rows_.empty()) return {"", data_.rows(Split::train)};
    const auto least = std::ranges::min_element(class_rows_);
    return {data_.class_names()[static_cast<std::size_t>(least - class_rows_.begin())], *least};
}

const Shard& Trials::parts()
{
    if (!parts_) parts_.emplace(read_folds(data_, part_of_, all_folds()), data_.columns());
    return *parts_;
}

std::vector<std::size_t> Trials::parts_of(std::int64_t worker) const
{
    std::vector<std::size_t> parts(static_cast<std::size_t>(folds_));
    std::iota(parts.begin(), parts.end(), static_cast<std::size_t>(worker * folds_));
    return parts;
}

Quality Trials::run(std::int64_t trial)
{
    const auto of_worker = trial / folds_;
    const auto made = make(of_worker % std::ssize(points_));
    auto trained = parts_of(of_worker / std::ssize(points_));
    const auto at = trained.begin() + trial % folds_;
    const auto held_out = *at;
    trained.erase(at);
    const auto support = parameters_of(parts(), *made.model);
    if (!train(parts(), support, trained, data_.shape(), made.trial, *made.optimizer)) return {};
    return quality_on(parts(), support, held_out, *made.model, made.optimizer->model());
}

std::vector<double> Trials::model(int worker, std::int64_t point)
{
    const auto made = make(point);
    const auto support = parameters_of(parts(), *made.model);
    if (!train(parts(), support, parts_of(worker), data_.shape(), made.trial, *made.optimizer))
        throw Failure(
            fmt::format("the model of worker {} diverges when it is trained on all of "
                        "its rows: use smaller steps",
                        worker));
    return made.optimizer->model().doubles();
}

Quality Trials::tested(std::span<const double> model, std::int64_t point) const
{
    if (data_.rows(Split::test) == 0) return {};
    std::vector<RawRows> rows;
    rows.push_back(data_.read(Split::test, 0, data_.rows(Split::test)));
    const Shard test(std::move(rows), data_.columns());
    const auto made = make(point);
    return quality_on(test, parameters_of(test, *made.model), 0, *made.model, model);
}

Trials::Made Trials::make(std::int64_t point) const
{
    auto settings = settings_;
    for (const auto& [name, value] : points_[static_cast<std::size_t>(point)])
        settings.set(name, {value, "--grid: ", true});
    const auto seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
    const auto rounds = settings.integer("rounds", 1);
    auto model = chosen(models(), settings, "model").make(settings, data_.shape());
    const auto rows = data_.rows(Split::train) / workers_;
    const auto kept = rows - rows / folds_;  // the n of --l2 1/n: only these rows are trained on
    const auto regularizer = regularizer_of(settings, kept);
    const auto batch = settings.integer("batch", 0, rows);
    const EstimateKind estimates{.exact = batch == 0, .samples = batch};
    settings = with_defaults(settings, estimates, model.get(), regularizer);
    check_search(settings, estimates, model.get());
    const auto step = step_of(settings, data_, *model, regularizer, estimates);
    auto initial = initial_model(settings, seed, *model, data_.columns());
    auto optimizer =
        chosen(optimizers(), settings, "optimizer").make(settings, std::move(initial), regularizer);
    TrialOptions trial{*model,
                       seed,
                       batch,
                       rounds,
                       schedule_of(settings, step, span_of(settings, rounds, kept)),
                       settings.real("clip", 0)};
    return {std::move(model), std::move(optimizer), std::move(trial)};
}

namespace {

// The message of a rank that asks for a trial, with the result of the one before.
struct Result {
    std::int64_t task;  // number of the trial; -1: there was none before
    Quality quality;
};

// Hands out trials to the ranks that ask for one, and takes their results. The answer -1 tells a
// rank that there are no more. Without other ranks it does all trials itself.
std::vector<Quality> lead(transport::Endpoint& endpoint, Trials& trials,
                          const std::function<void(std::int64_t)>& done)
{
    std::vector<Quality> results(static_cast<std::size_t>(trials.count()));
    if (endpoint.size() == 1) {
        for (std::int64_t task = 0; task < trials.count(); ++task) {
            results[static_cast<std::size_t>(task)] = trials.run(task);
            done(task + 1);
        }
        return results;
    }
    std::int64_t next = 0, finished = 0;
    for (int working = endpoint.size() - 1; working > 0;) {
        const auto message = endpoint.receive_any();
        const auto result = MessageReader(*message.bytes).get<Result>();
        if (result.task >= 0) {
            results[static_cast<std::size_t>(result.task)] = result.quality;
            done(++finished);
        }
        const auto task = next < trials.count() ? next++ : std::int64_t{-1};
        if (task < 0) --working;
        endpoint.send(message.from, transport::Tag::task, encode_values(endpoint.pool(), task));
    }
    endpoint.flush();
    return results;
}

// Asks rank 0 for trials and does them until there are no more.
void follow(transport::Endpoint& endpoint, Trials& trials)
{
    Result result{-1, {}};
    for (;;) {
        endpoint.send(0, transport::Tag::scores, encode_values(endpoint.pool(), result));
        const auto task = MessageReader(*endpoint.receive_from(0).bytes).get<std::int64_t>();
        if (task < 0) return;
        result = {task, trials.run(task)};
    }
}

}  // namespace

std::vector<Quality> cross_validate(transport::Endpoint& endpoint, Trials& trials,
                                    const std::function<void(std::int64_t)>& done)
{
    if (endpoint.rank() == 0) return lead(endpoint, trials, done);
    follow(endpoint, trials);
    return {};
}

}  // namespace quorate
