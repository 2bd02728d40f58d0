// SPDX-License-Identifier: BSD-2-Clause
// quorate predict: scores rows with the final model of a trace.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <span>

#include "base/error.hpp"
#include "base/path.hpp"
#include "cli/command.hpp"
#include "data/hdf5_attributes.hpp"
#include "data/hdf5_data_sets.hpp"
#include "data/shard.hpp"
#include "driver/initialiser.hpp"
#include "driver/output.hpp"
#include "driver/recorded.hpp"
#include "driver/session.hpp"

namespace quorate {

namespace {

constexpr std::int64_t rows_at_once = 4096;

bool is_hdf5(const std::string& path) { return path.ends_with(".h5"); }

// Returns the first line of CSV, for so many scores of a row.
std::string columns_of(std::int64_t outputs)
{
    std::string line = "row,label";
    for (std::int64_t c = 0; c < outputs; ++c)
        line += outputs == 1 ? ",score" : fmt::format(",score_{}", c);
    return line;
}

// @param scores  row by row
void write_hdf5(const std::string& path, std::span<const double> scores,
                std::span<const double> labels)
{
    const auto outputs = std::ssize(scores) / std::ssize(labels);
    auto file = h5::create(path);
    const auto root = file.get();
    h5::write_attribute(root, "format", std::string("quorate scores"));
    h5::append<double>(h5::create_extendable<double>(root, "score", rows_at_once, outputs), scores);
    h5::append<double>(h5::create_extendable<double>(root, "label", rows_at_once), labels);
    file.close("close " + path);
}

std::string as_csv(std::span<const double> scores, std::span<const double> labels)
{
    const auto outputs = scores.size() / labels.size();
    auto text = columns_of(std::ssize(scores) / std::ssize(labels)) + '\n';
    for (std::size_t i = 0; i < labels.size(); ++i)
        text += fmt::format("{},{},{}\n", i, labels[i],
                            fmt::join(scores.subspan(i * outputs, outputs), ","));
    return text;
}

int predict(const Settings& settings)
{
    start_mpi();
    const auto run = read_recorded(settings.text("TRACE"), settings.text("data"));
    const auto final = final_model(settings, "TRACE", run.width());
    const auto split =
        settings.one_of("split", {"train", "test"}) == "train" ? Split::train : Split::test;
    const auto rows = run.data.rows(split);
    if (rows == 0)
        settings.refuse("split", fmt::format(", but {} has no such rows: give the other, or other "
                                             "--data",
                                             run.data.path()));
    const auto& output = settings.text("output");
    if (output.empty()) throw BadInput("quorate predict needs --output FILE, .csv or .h5");
    if (is_hdf5(output))
        check_output(settings, "output", "scores");
    else
        check_text_output(settings, "output", columns_of(run.model->outputs()));
    std::vector<double> scores, labels;
    for (std::int64_t first = 0; first < rows; first += rows_at_once) {
        const RowSet set{split, first, std::min(rows_at_once, rows - first)};
        const Shard shard(run.data, std::span(&set, 1));
        const auto support =
            shard.support().widened(run.model->per_column(), run.model->shared_parameters());
        std::vector<double> point(support.size());
        support.gather(final, point.data());
        const auto view = shard.block(0).view();
        const auto before = scores.size();
        scores.resize(before + static_cast<std::size_t>(view.rows * run.model->outputs()));
        run.model->score(view, point, std::span(scores).subspan(before));
        labels.insert(labels.end(), view.label, view.label + view.rows);
    }
    write_whole(output, [&](const std::string& temporary) {
        if (is_hdf5(output)) return write_hdf5(temporary, scores, labels);
        std::ofstream file(temporary);
        file << as_csv(scores, labels);
        file.close();
        if (!file) throw Failure("cannot write " + output);
    });
    if (settings.on("quiet")) return exit_done;
    const auto quality = run.model->loss().quality(scores, labels);
    fmt::print("{}: {} rows, loss {:.6f}, accuracy {:.4f}, AUC {:.4f}\n", output, rows,
               quality.loss, quality.accuracy, quality.auc);
    return exit_done;
}

}  // namespace

Command predict_command()
{
    return {"predict",
            "scores of rows by the final model of a trace, as CSV or HDF5",
            "TRACE",
            {{"data", "FILE", "", "data set with the columns of the run's; default: the run's"},
             {"split", "train|test", "test", "which of its rows"},
             {"output", "FILE", "", "the scores: .h5, or else CSV"}},
            predict};
}

}  // namespace quorate
