// SPDX-License-Identifier: BSD-2-Clause
// quorate generate: a synthetic data set.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "data/data_set_writer.hpp"
#include "process/session.hpp"
#include "run/output.hpp"
#include "tables/synthetic.hpp"

namespace quorate {

namespace {

SyntheticSize size_of(const Settings& settings)
{
    SyntheticSize size;
    size.seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
    if (settings.text("model") == "samples") {
        for (const auto* option : {"columns", "nnz-per-row"})
            if (settings.given(option))
                settings.refuse(option,
                                ", but --model samples has one column, the number of each "
                                "sample: leave it out");
        size.columns = 1;
        return size;
    }
    size.columns = settings.integer("columns", 1, std::numeric_limits<Index>::max());
    size.entries = settings.integer("nnz-per-row", 0, size.columns);
    size.classes = settings.integer("classes", 2, 1000);
    size.noise = settings.real("noise", 0);
    return size;
}

// Returns the numbers of the first rows in the order of their labels.
std::vector<std::int64_t> by_label(const Synthetic& made, std::int64_t rows)
{
    std::vector<double> labels;
    Synthetic::Row row;
    for (std::int64_t number = 0; number < rows; ++number) {
        made.make(number, row);
        labels.push_back(row.label);
    }
    std::vector<std::int64_t> numbers(labels.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    std::ranges::stable_sort(numbers, {},
                             [&](auto i) { return labels[static_cast<std::size_t>(i)]; });
    return numbers;
}

int generate(const Settings& settings)
{
    const auto& output = settings.text("output");
    if (output.empty()) throw BadInput("quorate generate needs --output FILE");
    const auto rows = settings.integer("rows", 1), test_rows = settings.integer("test-rows", 0);
    const auto size = size_of(settings);
    const auto made = chosen(synthetics(), settings, "model").make(size);
    auto shape = made.shape;
    if (settings.given("classes") && shape.task != LearningTask::multiclass)
        settings.refuse("classes", ", but only --model softmax has classes: leave it out");
    if (shape.task != LearningTask::regression && size.noise > 1)
        settings.refuse("noise", ": the share of labels that are random is at most 1");
    check_new_data_set(settings);
    start_mpi();  // PETSc measures the curvature
    shape.columns = size.columns;
    shape.dense = size.entries == 0 && !made.ones;
    DataSetWriter writer(output, std::filesystem::path(output).stem(), shape, made.ones,
                         settings.on("float32"));
    Synthetic::Row row;
    const auto order = settings.on("sorted") ? by_label(made, rows) : std::vector<std::int64_t>{};
    for (const auto split : {Split::train, Split::test}) {
        writer.begin(split);
        const auto first = split == Split::train ? 0 : rows;
        const auto last = split == Split::train ? rows : rows + test_rows;
        for (auto number = first; number < last; ++number) {
            const bool sorted = split == Split::train && !order.empty();
            made.make(sorted ? order[static_cast<std::size_t>(number)] : number, row);
            if (shape.dense)
                writer.add(row.dense, row.label);
            else
                writer.add(row.entries, row.label);
        }
    }
    const auto entries = writer.entries();
    writer.finish({}, {{"command_line", settings.command_line},
                       {"quorate_version", version},
                       {"options", settings.ini()},
                       {"sources", ""},
                       {"sha256", ""}});
    if (!settings.on("quiet"))
        say(fmt::format("{}: {} x {} training rows, {} test rows, {} entries, {}\n", output, rows,
                        size.columns, test_rows, entries, shape.dense ? "dense" : "sparse"));
    return exit_done;
}

}  // namespace

Command generate_command()
{
    return {
        .name = "generate",
        .text = "a synthetic data set of any size",
        .options =
            {{"model", fmt::format("{}", fmt::join(names(synthetics()), "|")), "logistic",
              "kind of data: two Gaussians with logistic labels, or normal numbers with linear "
              "labels or classes, or one-hot features, or numbers of samples for quorate.torch"},
             {"rows", "N", "10000", "training rows"},
             {"columns", "P", "100", "columns"},
             {"test-rows", "N", "2000", "test rows"},
             {"nnz-per-row", "N", "0",
              "entries of a row, the others being zeros; 0: all columns, or 10 one-hot features"},
             {"classes", "N", "10", "of softmax"},
             {"noise", "X", "0",
              "share of labels that are random or turned; ridge: standard deviation of the noise"},
             {"sorted", "", "",
              "training rows in the order of their labels, which makes partitions unlike"},
             {"float32", "", "", "store values in single precision"},
             {"seed", "N", "0", "key of the random stream"},
             {"output", "FILE", "", "the data set to write"},
             {"overwrite", "", "", "replace a data set of that name"}},
        .run = generate,
        .examples = {"quorate generate --rows 2000 --columns 20 --test-rows 500 "
                     "--output data.h5"}};
}

}  // namespace quorate
