// SPDX-License-Identifier: BSD-2-Clause
// quorate tune: cross-validation over a grid of options. Each fold of each point is a task, and whoever
// is free takes the next one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "base/path.hpp"
#include "cli/command.hpp"
#include "code/partition.hpp"
#include "compute/trial.hpp"
#include "driver/initialiser.hpp"
#include "driver/launch.hpp"
#include "driver/output.hpp"
#include "driver/penalties.hpp"
#include "driver/session.hpp"
#include "driver/training.hpp"
#include "mpi/blocking.hpp"
#include "mpi/clock.hpp"
#include "mpi/messages.hpp"

namespace quorate {

namespace {

// Of a run's options, those that a trial without stragglers knows.
constexpr const char* of_trials[] = {"data",  "model", "optimizer", "step",   "schedule", "clip",
                                     "batch", "l2",    "l1",        "rounds", "init",     "seed"};

std::vector<Option> options()
{
    std::vector<Option> all = {
        {"grid", "NAME=V:V:...,...", "",
         "values of options to try, in all combinations: l2=1e-5:1e-4,step=0.1:1"},
        {"folds", "K", "5", "each K-th part of the training rows in turn is held out"},
        {"metric", "NAME", "",
         "what decides, its mean over the folds: loss, accuracy, auc, f1, mse; default: loss"},
        {"output", "FILE", "", "CSV with a line for each point; default: none"}};
    std::set<std::string> known(std::begin(of_trials), std::end(of_trials));
    for (const auto& entry : models())
        for (const auto& option : entry.options) known.insert(option.name);
    for (const auto& entry : optimizers())
        for (const auto& option : entry.options) known.insert(option.name);
    for (const auto& option : training_options())
        if (known.contains(option.name)) all.push_back(option);
    return all;
}

struct GridPoint {
    std::vector<std::pair<std::string, std::string>> values;
    std::string text() const
    {
        std::string words;
        for (const auto& [name, value] : values) words += fmt::format(" --{} {}", name, value);
        return words;
    }
};

std::vector<GridPoint> grid_of(const Settings& settings)
{
    std::vector<GridPoint> points = {{}};
    if (!settings.on("grid"))
        throw BadInput("quorate tune needs --grid NAME=V:V:...,...: the options to try");
    for (const auto& word : split(settings.text("grid"), ',')) {
        const auto equals = word.find('=');
        const auto name = trimmed(word.substr(0, equals));
        const auto values = equals == std::string::npos ? std::vector<std::string>()
                                                        : split(word.substr(equals + 1), ':');
        if (values.empty() || values[0].empty())
            settings.refuse("grid", fmt::format(": '{}' is not NAME=V:V:...", word));
        if (!settings.has(name) || name == "grid" || name == "folds" || name == "data" ||
            name == "metric" || name == "output")
            settings.refuse("grid", fmt::format(", but {} is no option that a trial has", name));
        std::vector<GridPoint> more;
        for (const auto& point : points)
            for (const auto& value : values) {
                more.push_back(point);
                more.back().values.emplace_back(name, trimmed(value));
            }
        points = std::move(more);
    }
    return points;
}

using Metric = double Quality::*;

struct Measure {
    std::string name;
    Metric metric;
    bool less_is_better;
};

Measure measure_of(const Settings& settings)
{
    const std::vector<Measure> known = {{"loss", &Quality::loss, true},
                                        {"accuracy", &Quality::accuracy, false},
                                        {"auc", &Quality::auc, false},
                                        {"f1", &Quality::f1, false},
                                        {"mse", &Quality::mse, true}};
    if (!settings.on("metric")) return known[0];
    std::vector<std::string> names;
    for (const auto& one : known) names.push_back(one.name);
    const auto& name = settings.one_of("metric", names);
    return *std::ranges::find(known, name, &Measure::name);
}

/// Does trials on the folds, which it reads once.
class Trials {
public:
    Trials(const Settings& settings, std::vector<GridPoint> points)
        : settings_(settings), points_(std::move(points)), data_(settings.text("data")),
          folds_(static_cast<int>(settings.integer("folds", 2, data_.rows(Split::train))))
    {
        // What is wrong with a point is found before any work.
        for (std::size_t i = 0; i < points_.size(); ++i) make(static_cast<std::int64_t>(i));
    }
    std::int64_t count() const { return std::ssize(points_) * folds_; }
    int folds() const { return folds_; }
    const std::vector<GridPoint>& points() const { return points_; }

    Quality run(std::int64_t task)
    {
        if (!shard_) {
            std::vector<RowSet> sets;
            for (int fold = 0; fold < folds_; ++fold) {
                const auto [first, rows] = partition(data_.rows(Split::train), folds_, fold);
                sets.push_back({Split::train, first, rows});
            }
            shard_.emplace(data_, sets);
        }
        const auto made = make(task / folds_);
        return run_trial(
            *shard_, static_cast<int>(task % folds_), data_.shape(),
            {*made.model, made.seed, made.batch, made.rounds, made.schedule, made.clip},
            *made.optimizer);
    }

private:
    struct Made {
        std::unique_ptr<Model> model;
        std::unique_ptr<Optimizer> optimizer;
        std::uint64_t seed;
        std::int64_t batch, rounds;
        Schedule schedule;
        double clip;
    };
    Made make(std::int64_t point) const
    {
        auto settings = settings_;
        for (const auto& [name, value] : points_[static_cast<std::size_t>(point)].values)
            settings.set(name, {value, "--grid: ", true});
        const auto seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
        const auto rounds = settings.integer("rounds", 1);
        auto model = chosen(models(), settings, "model").make(settings, data_.shape());
        auto initial = initial_model(settings, seed, *model, data_.columns());
        const auto rows = data_.rows(Split::train);
        const auto kept = rows - rows / folds_;  // 1/n: of the rows that are trained on
        auto optimizer = chosen(optimizers(), settings, "optimizer")
                             .make(settings, std::move(initial), regularizer_of(settings, kept));
        return {std::move(model),
                std::move(optimizer),
                seed,
                settings.integer("batch", 0, rows),
                rounds,
                chosen(schedules(), settings, "schedule")
                    .make(settings, settings.real("step", 0), rounds),
                settings.real("clip", 0)};
    }

    const Settings& settings_;
    std::vector<GridPoint> points_;
    DataSet data_;
    int folds_;
    std::optional<Shard> shard_;
};

struct Result {
    std::int64_t task;
    Quality quality;
};

// Hands out tasks to ranks that ask, and takes their results.
std::vector<Quality> lead(const mpi::Comm& comm, Trials& trials,
                          const std::function<void(std::int64_t)>& done)
{
    std::vector<Quality> results(static_cast<std::size_t>(trials.count()));
    if (comm.size() == 1) {
        for (std::int64_t task = 0; task < trials.count(); ++task) {
            results[static_cast<std::size_t>(task)] = trials.run(task);
            done(task + 1);
        }
        return results;
    }
    mpi::Pool pool;
    std::int64_t next = 0, finished = 0;
    for (int working = comm.size() - 1; working > 0;) {
        const auto mail = mpi::receive_blocking(comm, MPI_ANY_SOURCE, pool);
        const auto result = Reader(*mail.bytes).get<Result>();
        if (result.task >= 0) {
            results[static_cast<std::size_t>(result.task)] = result.quality;
            done(++finished);
        }
        const auto task = next < trials.count() ? next++ : std::int64_t{-1};
        if (task < 0) --working;
        mpi::send_blocking(comm, mail.peer, mpi::Tag::task, encode_values(pool, task));
    }
    return results;
}

void follow(const mpi::Comm& comm, Trials& trials)
{
    mpi::Pool pool;
    Result result{-1, {}};
    for (;;) {
        mpi::send_blocking(comm, 0, mpi::Tag::scores, encode_values(pool, result));
        const auto task = Reader(*mpi::receive_blocking(comm, 0, pool).bytes).get<std::int64_t>();
        if (task < 0) return;
        result = {task, trials.run(task)};
    }
}

struct Mean {
    double value = 0, deviation = 0;
};

Mean mean_of(std::span<const Quality> folds, Metric metric)
{
    Mean mean;
    const auto count = static_cast<double>(folds.size());
    for (const auto& one : folds) mean.value += one.*metric / count;
    for (const auto& one : folds)
        mean.deviation += (one.*metric - mean.value) * (one.*metric - mean.value) / (count - 1);
    mean.deviation = std::sqrt(mean.deviation);
    return mean;
}

std::string columns_of(const Trials& trials)
{
    std::string line;
    for (const auto& [name, value] : trials.points()[0].values) line += name + ',';
    return line + "fold,loss,accuracy,auc,f1,mse";
}

void write_csv(const std::string& path, const Trials& trials, const std::vector<Quality>& results)
{
    auto text = columns_of(trials) + '\n';
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto folds = static_cast<std::size_t>(trials.folds());
        for (const auto& [name, value] : trials.points()[i / folds].values) text += value + ',';
        const auto& q = results[i];
        text +=
            fmt::format("{},{},{},{},{},{}\n", i % folds, q.loss, q.accuracy, q.auc, q.f1, q.mse);
    }
    write_file(path, text);
}

int tune(const Settings& settings)
{
    start_mpi();
    const mpi::Comm comm(MPI_COMM_WORLD);
    std::optional<Measure> measured;
    std::optional<Trials> made;
    const bool good = all_agree([&] {
        if (!settings.on("data"))
            throw BadInput("quorate tune needs --data FILE: make one with 'quorate import'");
        measured = measure_of(settings);
        made.emplace(settings, grid_of(settings));
        if (settings.on("output")) check_text_output(settings, "output", columns_of(*made));
    });
    if (!good) return exit_bad_input;
    auto& trials = *made;
    const auto& measure = *measured;
    if (comm.rank() != 0) {
        follow(comm, trials);
        return exit_done;
    }
    const bool quiet = settings.on("quiet");
    Seconds next = clock_seconds() + 2;
    const auto results = lead(comm, trials, [&](std::int64_t done) {
        const auto now = clock_seconds();
        if (quiet || now < next) return;
        next = now + 5;
        fmt::print(stderr, "trial {}/{}\n", done, trials.count());
    });
    if (settings.on("output")) write_csv(settings.text("output"), trials, results);
    const auto folds = static_cast<std::size_t>(trials.folds());
    std::size_t best = 0;
    std::vector<Mean> means;
    for (std::size_t i = 0; i < trials.points().size(); ++i) {
        means.push_back(mean_of(std::span(results).subspan(i * folds, folds), measure.metric));
        const double value = means[i].value, leader = means[best].value;
        if (std::isnan(leader) || (measure.less_is_better ? value < leader : value > leader))
            best = i;
        if (!quiet)
            fmt::print("{} {:.6f} +- {:.6f} {}\n", measure.name, value, means[i].deviation,
                       trials.points()[i].text());
    }
    if (std::isnan(means[best].value))
        throw Failure(fmt::format("no trial has a finite {}: use smaller steps, or another metric",
                                  measure.name));
    fmt::print("best: {} {:.6f} with{}\n", measure.name, means[best].value,
               trials.points()[best].text());
    return exit_done;
}

}  // namespace

Command tune_command()
{
    return {"tune", "cross-validation over a grid of options; alone or under mpiexec", "",
            options(), tune};
}

}  // namespace quorate
