// SPDX-License-Identifier: BSD-2-Clause
// quorate predict: scores rows with the final model of a trace.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <span>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "cli/command.hpp"
#include "commands/options.hpp"
#include "data/shard.hpp"
#include "import/import.hpp"
#include "import/predictions.hpp"
#include "process/session.hpp"
#include "run/initialiser.hpp"
#include "run/output.hpp"
#include "run/quality_words.hpp"
#include "run/recorded.hpp"
#include "run/same_data.hpp"

namespace quorate {

namespace {

bool is_hdf5(const std::string& path) { return path.ends_with(".h5"); }

// Imports a file like a data set, and opens what became of it, whose file is gone at once.
DataSet imported(const Settings& settings, const std::string& like)
{
    const auto& output = settings.text("output");
    const auto path =
        temporary_name(output.empty() ? (temporary_folder() / "quorate-rows").string() : output);
    auto options = import_options();
    options.push_back({"quiet", "", "", ""});
    auto import = make_settings(options, {{"input", settings.text("data")},
                                          {"like", like},
                                          {"output", path},
                                          {"quiet", settings.on("quiet") ? "on" : "off"}});
    import.command_line = settings.command_line;
    const std::shared_ptr<void> removal(nullptr, [&](void*) { std::filesystem::remove(path); });
    import_files(import);
    return DataSet(path, Unlabelled::accepted);
}

// Opens the rows that --data names: a data set, or a file to import like the run's.
DataSet open_rows(const Settings& settings, const trace::Trace& trace, const std::string& of_run)
{
    const auto& data = settings.text("data");
    if (!data.empty() && is_a("data set", data)) return DataSet(data, Unlabelled::accepted);
    DataSet own(of_run, Unlabelled::accepted);
    check_same_data(own, trace.text(data_attribute), settings.text("TRACE"),
                    data.empty() ? "put that back, or give the rows to predict as --data"
                                 : "put that back, as the rows are to be imported like it");
    return data.empty() ? std::move(own) : imported(settings, of_run);
}

// Returns the split to score: test rows, if --split does not say it and there are some.
Split split_of(const Settings& settings, const DataSet& data)
{
    if (!settings.on("split")) return data.rows(Split::test) > 0 ? Split::test : Split::train;
    const auto split =
        settings.one_of("split", {"train", "test"}) == "train" ? Split::train : Split::test;
    if (data.rows(split) == 0)
        settings.refuse("split",
                        fmt::format(", but {} has no such rows: give the other, or other "
                                    "--data",
                                    settings.on("data") ? settings.text("data") : data.path()));
    return split;
}

Predictions predictions_of(const Recorded& run, Split split, const std::vector<double>& model)
{
    constexpr std::int64_t at_once = 4096;
    std::vector<double> scores, labels;
    const auto rows = run.data.rows(split);
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const RowSet set{split, first, std::min(at_once, rows - first)};
        const Shard shard(run.data, std::span(&set, 1));
        const auto support =
            shard.support().widened(run.model->per_column(), run.model->shared_parameters());
        std::vector<double> point(support.size());
        support.gather(model, point.data());
        const auto view = shard.block(0).view();
        const auto before = scores.size();
        scores.resize(before + static_cast<std::size_t>(view.rows * run.model->outputs()));
        run.model->score(view, point, std::span(scores).subspan(before));
        labels.insert(labels.end(), view.label, view.label + view.rows);
    }
    return {*run.model, run.data.shape().task, std::move(scores), std::move(labels),
            run.data.class_names()};
}

int predict(const Settings& settings)
{
    const auto& output = settings.text("output");
    if (output.empty() && !settings.on("json"))
        throw BadInput("quorate predict needs --output FILE, .csv or .h5, or --json");
    start_mpi();
    if (is_hdf5(output))
        check_output(settings, "output", "scores");
    else if (!output.empty())
        check_text_output(settings, "output", "row,label,score");
    const auto run = read_recorded(settings.text("TRACE"), options_of_runs(),
                                   [&](const trace::Trace& trace, const std::string& of_run) {
                                       return open_rows(settings, trace, of_run);
                                   });
    const auto model = final_model(settings.text("TRACE"), run.width());
    const auto predictions = predictions_of(run, split_of(settings, run.data), model);
    if (is_hdf5(output))
        write_whole(output, [&](const std::string& path) { predictions.write_hdf5(path); });
    else if (!output.empty())
        write_file(output, predictions.csv());
    if (settings.on("json"))
        fmt::print("{}\n", json_text(predictions.json()));
    else if (!settings.on("quiet"))
        say(fmt::format("{}: {} rows{}\n", output, predictions.rows(),
                        quality_words(predictions.quality())));
    return exit_done;
}

}  // namespace

Command predict_command()
{
    return {
        .name = "predict",
        .text = "scores, classes and probabilities of rows by the final model of a trace",
        .operand = "TRACE",
        .options =
            {{"data", "FILE", "",
              "rows: a data set with the columns of the run's; or a file, CSV for one, which is "
              "imported like the run's; default: the run's"},
             {"split", "train|test", "", "which of its rows; default: test, if there are some"},
             {"output", "FILE", "", "the table to write: .h5, or else CSV"},
             {"json", "", "", "print the table as JSON"}},
        .run = predict,
        .examples = {"quorate predict frc.h5 --data data.h5 --output scores.csv"}};
}

}  // namespace quorate
