// SPDX-License-Identifier: BSD-2-Clause
// quorate predict: scores rows with the final model of a trace.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

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

/// Writes scores to HDF5 or CSV. The file has a temporary name until all scores are there, so that
/// an incomplete one is never taken for the result.
class Scores {
public:
    /// Returns the first line of CSV, for so many scores of a row.
    static std::string columns(std::int64_t outputs)
    {
        std::string line = "row,label";
        for (std::int64_t c = 0; c < outputs; ++c)
            line += outputs == 1 ? ",score" : fmt::format(",score_{}", c);
        return line;
    }
    static bool is_hdf5(const std::string& path) { return path.ends_with(".h5"); }

    Scores(const std::string& path, std::int64_t outputs)
        : path_(path), temporary_(temporary_name(path))
    {
        if (is_hdf5(path)) {
            file_ = h5::create(temporary_);
            h5::write_attribute(file_.get(), "format", std::string("quorate scores"));
            score_ = h5::create_extendable<double>(file_.get(), "score", rows_at_once, outputs);
            label_ = h5::create_extendable<double>(file_.get(), "label", rows_at_once);
            return;
        }
        text_.open(temporary_);
        text_ << columns(outputs) << '\n';
    }
    Scores(const Scores&) = delete;
    Scores& operator=(const Scores&) = delete;
    ~Scores()
    {
        if (!temporary_.empty()) std::remove(temporary_.c_str());
    }

    /// Adds rows: their scores, row by row, and a label for each.
    void add(std::span<const double> scores, std::span<const double> labels)
    {
        if (file_) {
            h5::append<double>(score_, scores);
            h5::append<double>(label_, labels);
            return;
        }
        const auto outputs = scores.size() / labels.size();
        for (std::size_t i = 0; i < labels.size(); ++i) {
            text_ << fmt::format("{},{}", rows_++, labels[i]);
            for (std::size_t c = 0; c < outputs; ++c)
                text_ << fmt::format(",{}", scores[i * outputs + c]);
            text_ << '\n';
        }
    }
    /// Gives the file its name. @throws Failure if it cannot be written
    void finish()
    {
        if (file_) {
            score_ = {};
            label_ = {};
            file_.close("close " + temporary_);
        } else {
            text_.close();
        }
        if (text_.fail()) throw Failure("cannot write " + path_);
        move_into_place(temporary_, path_);
        temporary_.clear();
    }

private:
    std::string path_, temporary_;
    h5::File file_;
    h5::DataSet score_, label_;
    std::ofstream text_;
    std::int64_t rows_ = 0;
};

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
    if (Scores::is_hdf5(output))
        check_output(settings, "output", "scores");
    else
        check_text_output(settings, "output", Scores::columns(run.model->outputs()));
    Scores to(output, run.model->outputs());
    std::vector<double> scores;
    std::vector<double> all_scores, all_labels;
    for (std::int64_t first = 0; first < rows; first += rows_at_once) {
        const RowSet set{split, first, std::min(rows_at_once, rows - first)};
        const Shard shard(run.data, std::span(&set, 1));
        const auto support =
            shard.support().widened(run.model->per_column(), run.model->shared_parameters());
        std::vector<double> point(support.size());
        support.gather(final, point.data());
        const auto view = shard.block(0).view();
        scores.resize(static_cast<std::size_t>(view.rows * run.model->outputs()));
        run.model->score(view, point, scores);
        const std::span labels(view.label, static_cast<std::size_t>(view.rows));
        to.add(scores, labels);
        all_scores.insert(all_scores.end(), scores.begin(), scores.end());
        all_labels.insert(all_labels.end(), labels.begin(), labels.end());
    }
    to.finish();
    if (settings.on("quiet")) return exit_done;
    const auto quality = run.model->loss().quality(all_scores, all_labels);
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
