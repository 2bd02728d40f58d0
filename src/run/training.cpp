// SPDX-License-Identifier: BSD-2-Clause
#include "run/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/median.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/values.hpp"
#include "compute/loss_derivatives.hpp"
#include "parts/components.hpp"
#include "run/compression.hpp"
#include "run/defaults.hpp"
#include "run/evaluations.hpp"
#include "run/penalties.hpp"
#include "run/stopping.hpp"
#include "trace/reader.hpp"
#include "trace/recorded_times.hpp"

namespace quorate {

namespace {

// Reads --row-time: seconds, or a trace, for the median of what its workers took for a row.
Seconds row_time_of(const Settings& settings)
{
    const auto& text = settings.text("row-time");
    if (to_seconds(text) || to_real(text)) return settings.seconds("row-time");
    if (!std::filesystem::exists(text))
        settings.refuse("row-time",
                        ": give seconds a row, as 2e-6 or 2us, or a trace to take them from");
    std::vector<double> times;
    for (const auto& arrival : trace::read(text).arrivals)
        if (arrival.samples > 0)
            times.push_back(arrival.compute / static_cast<double>(arrival.samples));
    if (times.empty())
        settings.refuse("row-time", ", whose trace lists no contributions: give another one");
    return median(std::move(times));
}

// Reads --trace-arrivals. @param expected  contributions of the whole run, about
Arrivals arrivals_of(const Settings& settings, std::int64_t expected, bool dry)
{
    constexpr std::int64_t many = 1'000'000;  // writing them would take longer than the dry run
    if (!settings.on("trace-arrivals"))
        return dry && expected > many ? Arrivals::none : Arrivals::all;
    const auto& word = settings.one_of("trace-arrivals", {"all", "used", "none"});
    return word == "all" ? Arrivals::all : word == "used" ? Arrivals::used : Arrivals::none;
}

OnLoss on_loss_of(const Settings& settings)
{
    const auto& word = settings.one_of("on-loss", {"reencode", "wait", "stop"});
    return word == "reencode" ? OnLoss::reencode : word == "wait" ? OnLoss::wait : OnLoss::stop;
}

// Returns the settings of a scheme for fewer workers than the run began with. Options that count
// workers are lowered to the most that so few workers allow, and not refused.
// @param changed  receives what was lowered: ", --stragglers 2"
Settings fitted(Settings settings, int workers, std::string& changed)
{
    if (settings.on("shares")) {  // the numbers of workers are those of others now
        settings.set("shares", {"", "", true});
        changed += ", equal shares of rows";
    }
    for (const auto& option : chosen(schemes(), settings, "scheme").options) {
        if (!option.fewer_than_workers) continue;
        const auto most = workers - *option.fewer_than_workers;
        auto text = settings.text(option.name);
        // The number may stand behind a word and before others: quorum:3,0.02.
        const auto begin = text.find(':') + 1;
        const auto length = text.substr(begin).find(',');
        if (to_integer(text.substr(begin, length)).value_or(0) <= most) continue;
        text.replace(begin, std::min(length, text.size() - begin), std::to_string(most));
        settings.set(option.name, {text, "", true});
        changed += fmt::format(", --{} {}", option.name, text);
    }
    return settings;
}

// Returns the values that an option may have, for its help: "none, constant:SECONDS or ...".
template <class Entries>
std::string grammar(const Entries& entries)
{
    std::vector<std::string> forms;
    for (const auto& entry : entries) forms.push_back(entry.form());
    return alternatives(forms);
}

// Of slow, absent and lying workers.
std::vector<Option> straggler_options()
{
    return {
        {"delay", "MODEL", "none",
         "seconds each worker waits before a task, such as exponential:MEAN or trace:FILE; see "
         "quorate list delays"},
        {"row-delay", "MODEL", "none",
         "further seconds of each row that a worker computes; this and the next two are drawn from "
         "the models of --delay, independently of it"},
        {"uplink-delay", "MODEL", "none",
         "seconds by which each message to the coordinator is late"},
        {"downlink-delay", "MODEL", "none",
         "seconds by which each task is late; what follows it to its worker does not overtake it"},
        {"slowdown", "MODEL", "none",
         "factor of each worker's computing time, drawn from the same models as --delay; below 1 "
         "it needs --row-time"},
        {"row-time", "SECONDS|FILE", "0",
         "seconds that a worker takes for each row at least; FILE: as in that trace"},
        {"load-slope", "recorded|SECONDS", "recorded",
         "further seconds of a recorded delay for each unit of load, a share of the training rows; "
         "needs --delay trace:FILE"},
        byzantine_option(),
        events_option(),
        {"on-loss", "reencode|wait|stop", "reencode",
         "when the workers that are left can give no estimate: re-encode for them, who "
         "then load what they lack; or wait for workers that are to join; or stop"},
        {"standby", "N", "0", "spare workers, each of which takes the place of one that has died"},
        {"timeout", "SECONDS", "10", "silence after which a worker is taken for dead"}};
}

}  // namespace

std::vector<Option> training_options()
{
    std::vector<Option> all = {
        {"data", "FILE", "", "data set, from 'quorate import' or 'quorate generate'"},
        {"workers", "N", "", "workers; default: one for each rank but the coordinator's"},
        {"scheme", "NAME", "uncoded",
         "who computes what and when to stop waiting; see quorate list schemes"},
        {"model", "NAME", "logistic", "what is trained; see quorate list models"},
        {"optimizer", "NAME", "",
         "update rule; see quorate list optimizers. Default: agd for smooth linear models with "
         "exact estimates, else gd"},
        {"inner-optimizer", "NAME", "gd",
         "update rule of local steps (--scheme local-average, anytime-sgd). Its own options have "
         "their defaults"},
        {"inner-state", "kept|reset", "kept",
         "whether --inner-optimizer keeps its state in its worker from task to task, or begins "
         "without one in each"},
        {"step", "ETA|auto", "auto",
         "step size of the first round; auto: one over the curvature of a linear model, less "
         "for estimates that are not exact or stale; for networks a number that goes with the "
         "optimizer"},
        {"schedule", "NAME", "",
         "step size in later rounds: " + grammar(schedules()) +
             "; 30e counts epochs. Default: constant, for hinge inverse-sqrt:10"},
        {"warmup", "T|Te", "0",
         "the step size rises in a straight line to that of --schedule during T batches; 5e: "
         "epochs"},
        {"clip", "NORM", "0", "gradients with a larger norm are scaled down to it; 0: none are"},
        {"batch", "N", "0",
         "samples of a round, drawn anew from each partition; 0: all rows. Contributions are "
         "scaled so that their sum stands for all rows"},
        {"rounds", "N", "",
         "model updates at most; default: 5000 where --stop-at has one, else 1000 for linear "
         "models with exact estimates, and 100 for all else"},
        {"init", "zero|normal:SD|he|glorot|FILE", "",
         "initial model; FILE: the final one of a trace; default: zero for linear models, he for "
         "networks"},
        wire_option(),
        {"compressor", "NAME", "none",
         "what contributions are compressed to, with loss, before they travel: " +
             grammar(compressors())},
        {"error-feedback", "", "",
         "each worker keeps what its compressed contributions lack, and adds it to its next one"},
        {"threads", "N", "1", "threads of a worker"},
        {"coordinator-threads", "N|auto", "auto",
         "threads that add up contributions and update the model, which changes no bit; auto: one "
         "for each 65,536 parameters, as far as there are cores"},
        {"seed", "N", "0", "key of all random streams"},
        {"evaluate-every", "N", "1",
         "score the model of every N-th round, and the last, after the run; 0: none"},
        evaluate_rows_option(),
        {"trace-arrivals", "all|used|none", "",
         "contributions that the trace lists; default: all, but none if a dry run has a million"},
        {"trace-weights", "", "",
         "the trace has the weight of each contribution in each estimate: a row for each"},
    };
    add_options(all, straggler_options());
    add_options(all, stopping_options());
    add_options(all, penalty_options());
    add_options(all, component_options());
    return all;
}

namespace {

// Opens the data set, or takes the size of a dry run.
void open_data(Training& training, const std::optional<DrySize>& dry)
{
    const auto& settings = training.settings;
    if (dry) {
        training.rows = dry->rows;
        training.columns = dry->columns;
        return;
    }
    if (!settings.on("data"))
        throw BadInput(
            "quorate run needs --data FILE: make one with 'quorate import' or 'quorate generate'");
    training.data.emplace(settings.text("data"));
    training.scored = scored_rows_of(settings, *training.data);
    training.rows = training.data->rows(Split::train);
    training.columns = training.data->columns();
    training.model = chosen(models(), settings, "model").make(settings, training.data->shape());
    training.regularizer = regularizer_of(settings, training.rows);
}

// The most workers that there are at once.
int most_workers(const Training& training) { return std::max(training.workers, training.here); }

void count_workers(Training& training, int default_workers, const std::optional<int>& began_with)
{
    const auto& settings = training.settings;
    training.here =
        settings.on("workers")
            ? static_cast<int>(settings.integer("workers", 1, std::numeric_limits<int>::max()))
            : default_workers;
    training.workers = began_with.value_or(training.here);
    training.standby = static_cast<int>(settings.integer("standby", 0, 1'000'000));
    const auto most = most_workers(training);
    if (most > training.rows)
        throw BadInput(fmt::format(
            "{} has {} training rows, too few for {} workers: use --workers {} or fewer",
            training.data ? training.data->path() : "the dry run", training.rows, most,
            training.rows));
}

// Reads --batch.
std::int64_t batch_of(const Training& training)
{
    const auto batch = training.settings.integer("batch", 0);
    if (batch > training.rows)
        training.settings.refuse("batch",
                                 fmt::format(", more than the {} training rows: use at most that, "
                                             "or 0 for all of them",
                                             training.rows));
    return batch;
}

// Returns what makes the scheme for a number of workers, when the run begins and whenever it
// re-encodes.
MakeCoding code_maker(const Training& training, const Settings& given, std::int64_t batch)
{
    const Problem problem{.workers = training.workers,
                          .rows = training.rows,
                          .seed = training.seed,
                          .batch = batch,
                          .row_time = training.row_time,
                          .dense = !training.data || training.data->dense(),
                          .columns = training.columns,
                          .parameters = training.data ? training.width() : training.columns};
    return [problem, given](int workers) {
        std::string changed;
        const auto fitting = workers < problem.workers ? fitted(given, workers, changed) : given;
        auto of_these = problem;
        of_these.workers = workers;
        auto coding =
            std::make_shared<Coding>(chosen(schemes(), fitting, "scheme").make(fitting, of_these),
                                     problem.seed, problem.batch);
        coding->changed = std::move(changed);
        return coding;
    };
}

// Reads recorded times. @throws BadInput
WorkerTimes times_to_replay(const Settings& settings, const std::string& path)
{
    auto times = trace::read_times(path);
    if (settings.text("load-slope") != "recorded") times.slope = settings.seconds("load-slope");
    return times;
}

void make_stragglers(Training& training)
{
    const auto& settings = training.settings;
    if (settings.text("load-slope") != "recorded" && !settings.text("delay").starts_with("trace:"))
        settings.refuse("load-slope",
                        ", but only recorded delays have a load: leave it out, or give them as "
                        "--delay trace:FILE");
    for (const auto& one : delay_options) {
        const DelaySetup setup{
            .option = one.name,
            .neutral = one.neutral,
            .purpose = one.purpose,
            .seed = training.seed,
            .machines = most_workers(training) + training.standby,
            .read_times = [&](const auto& path) { return times_to_replay(settings, path); }};
        training.stragglers.add(one, chosen(delays(), settings, one.name).make(settings, setup));
    }
    training.byzantine = byzantine_workers(settings, training.seed, most_workers(training));
}

// Numbers travel in the type that they have in memory, or a shorter one.
void choose_wire(Training& training)
{
    auto& settings = training.settings;
    training.wire = wire_of(settings);
    if (training.precision() == Precision::binary64 || training.wire != Wire::binary64) return;
    if (settings.given("wire"))
        settings.refuse("wire",
                        ", but the numbers of this model are floats: use float or bfloat16");
    training.wire = Wire::binary32;
    settings.set("wire", {"float", "", false});
}

// Whether each worker has one block of rows, and nobody else has it.
bool has_own_blocks(const Needs& needs)
{
    std::set<int> blocks;
    return std::ranges::all_of(needs.shard, [&](const auto& own) {
        return own.size() == 1 && blocks.insert(own[0]).second;
    });
}

// Checks what the user gave for the scheme and the model that were made.
void check_fit(const Training& training)
{
    const auto& settings = training.settings;
    const auto& needs = training.coding->needs;
    if (training.wire != Wire::binary64 && needs.projection)
        settings.refuse(
            "wire", fmt::format(", but this scheme finds Byzantine workers by sums that "
                                "agree to more digits than that: use {}",
                                training.precision() == Precision::binary32 ? "a model of doubles"
                                                                            : "--wire double"));
    if (training.byzantine.collude() && !needs.aggregator)
        settings.refuse("byzantine",
                        ", but who lies so knows what the others send, for which the coordinator "
                        "must have all answers one by one: use --scheme robust; or random, "
                        "sign-flip or nan");
    if (settings.on("trace-weights") && needs.aggregator)
        settings.refuse(
            "trace-weights",
            fmt::format(", but the estimates of --scheme {} are no weighted sums: leave "
                        "it out",
                        settings.text("scheme")));
    refuse_unused_options(settings);
    check_search(settings, training.estimates, training.model.get());
    if (const auto& step = settings.text("step"); step != "auto") {
        if (!to_real(step))
            settings.refuse("step",
                            unless_several("step", step, ": give a number of at least 0, or auto"));
        settings.real("step", 0);
    }
    if (training.model && training.model->streams() && !has_own_blocks(needs))
        settings.refuse("scheme",
                        ", whose workers compute several partitions, which others may compute too, "
                        "but an IterableDataset gives a sample once: use uncoded, ignore, amb or "
                        "another scheme of one partition a worker, or a map-style dataset");
    if (!needs.coded.empty() && training.model && !training.model->linear())
        settings.refuse("model",
                        ", but coded storage serves linear models only: ridge, logistic, hinge, "
                        "squared-hinge or softmax");
    if (needs.displaces && training.regularizer.l1 > 0)
        settings.refuse("l1", ", but the local steps of this scheme know no L1 term: use --l2");
}

// The optimiser of local steps. Its options are not those of --optimizer.
void choose_inner(Training& training)
{
    const auto& settings = training.settings;
    const auto& name = settings.text("inner-optimizer");
    const auto& state = settings.one_of("inner-state", {"kept", "reset"});
    if (name == "gd") {
        if (state == "reset")
            settings.refuse("inner-state", ", but --inner-optimizer gd has no state: leave it out");
        return;
    }
    if (!training.coding->needs.displaces)
        settings.refuse("inner-optimizer",
                        fmt::format(", but --scheme {} makes no local steps: leave "
                                    "it out, or use local-average",
                                    settings.text("scheme")));
    const auto& entry = chosen(optimizers(), settings, "inner-optimizer");
    if (entry.properties.searches)
        settings.refuse("inner-optimizer",
                        ", which needs exact losses of all rows: use gd or adam");
    if (training.regularizer.l2 > 0)
        settings.refuse("l2",
                        fmt::format(", but the local steps of --inner-optimizer {} know no L2 "
                                    "term: use --l2 0, or gd",
                                    name));
    training.inner = [make = entry.make, own = make_settings(entry.options, {})](auto initial) {
        return make(own, std::move(initial), {});
    };
}

void choose_stopping(Training& training)
{
    const auto& settings = training.settings;
    training.stop_rules = stop_rules(settings, training.regularizer, training.estimates.exact);
    if (training.searches) training.stop_rules.every = 1, training.stop_rules.sparse = true;
    if (!training.model) return;
    const auto every = settings.integer("evaluate-every", 0),
               rounds = settings.integer("rounds", 1);
    check_reachable(settings, training.stop_rules,
                    {.models = every > 0 ? (rounds + every - 1) / every : 0,
                     .test_rows = training.data->rows(Split::test) > 0,
                     .classes = training.data->shape().task != LearningTask::regression});
}

}  // namespace

Training build_training(const Settings& given, int default_workers,
                        const std::optional<DrySize>& dry, const std::optional<int>& began_with)
{
    Training training{};
    auto& settings = training.settings = given;
    open_data(training, dry);
    count_workers(training, default_workers, began_with);
    training.seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
    training.row_time = row_time_of(settings);
    const auto batch = batch_of(training);
    const auto make_coding = code_maker(training, given, batch);
    training.coding = make_coding(training.workers);
    make_stragglers(training);
    training.threads = static_cast<int>(settings.integer("threads", 1, 1024));
    choose_wire(training);
    training.estimates = kind_of(training.coding->needs, training.rows, batch);
    training.compression = compression_of(settings, training.wire, *training.coding, make_coding);
    if (training.compression) training.estimates.exact = false;
    settings =
        with_defaults(settings, training.estimates, training.model.get(), training.regularizer);
    training.searches = chosen(optimizers(), settings, "optimizer").properties.searches;
    check_fit(training);
    choose_inner(training);
    choose_stopping(training);
    const auto rounds = settings.integer("rounds", 1);
    training.engine = {
        .rounds = rounds,
        .evaluate_every = dry ? 0 : settings.integer("evaluate-every", 0),
        .arrivals = arrivals_of(settings, rounds * training.workers, dry.has_value()),
        .weights = settings.on("trace-weights"),
        .churn = ChurnSchedule(settings, most_workers(training), training.seed),
        .on_loss = on_loss_of(settings),
        .reencode = make_coding,
        .keeps_inner = training.inner && settings.text("inner-state") == "kept",
        .keeps_unsent = training.compression.feedback,
        .estimates = {.clip = settings.real("clip", 0),
                      .l2 = training.regularizer.l2,
                      .seed = training.seed,
                      .byzantine = training.byzantine,
                      .wire = training.wire}};
    return training;
}

EngineOptions engine_options(const Training& training)
{
    auto options = training.engine;
    if (training.data && !training.coding->needs.coded.empty()) {
        options.estimates.loss_derivatives =
            loss_derivatives(*training.data, training.model->loss());
        options.estimates.rows = training.rows;
        options.estimates.outputs = training.model->outputs();
    }
    return options;
}

namespace {

int coordinator_threads(const Settings& settings, std::int64_t parameters)
{
    constexpr std::int64_t worth_a_thread = 65536;
    if (settings.text("coordinator-threads") != "auto")
        return static_cast<int>(settings.integer("coordinator-threads", 1, 1024));
    return static_cast<int>(
        std::clamp<std::int64_t>(parameters / worth_a_thread, 1, usable_cores()));
}

}  // namespace

Optimizers begin_training(Training& training, const std::optional<ShareRange>& share)
{
    auto& settings = training.settings;
    const bool displaces = training.coding->needs.displaces;
    if (settings.text("step") == "auto") {
        // The step size is that of local steps, whatever the optimiser makes of them.
        auto local = settings;
        if (displaces) local.set("optimizer", {settings.text("inner-optimizer"), "", false});
        const auto step = training.model ? automatic_step(local, *training.data, *training.model,
                                                          training.regularizer, training.estimates)
                                         : 1;
        settings.set("step", {fmt::format("{}", step), "", false});
    }
    training.engine.schedule =
        schedule_of(settings, settings.real("step", 0),
                    span_of(settings, training.engine.rounds, training.rows));
    Optimizers optimizers;
    for (int model = 0; model < training.coding->needs.models; ++model)
        optimizers.push_back(
            chosen(quorate::optimizers(), settings, "optimizer")
                .make(
                    settings,
                    training.model
                        ? initial_model(settings, training.seed + static_cast<std::uint64_t>(model),
                                        *training.model, training.columns, share)
                        : std::vector<double>(),
                    // What workers decay in their local steps is not decayed again.
                    displaces ? Regularizer() : training.regularizer));
    if (optimizers[0]->model().precision() != training.precision())
        settings.refuse(
            "optimizer",
            fmt::format(", which is not for the {} of --model {}",
                        training.precision() == Precision::binary64 ? "doubles" : "floats",
                        settings.text("model")));
    const auto threads = coordinator_threads(
        settings, share ? static_cast<std::int64_t>(share->second) : training.width());
    training.engine.estimates.threads = threads;
    for (const auto& optimizer : optimizers) optimizer->use_threads(threads);
    return optimizers;
}

}  // namespace quorate
