// SPDX-License-Identifier: BSD-2-Clause
#include "import/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/version.hpp"
#include "code/tight_frame.hpp"
#include "data/data_set.hpp"
#include "data/data_set_writer.hpp"
#include "process/session.hpp"
#include "run/output.hpp"

namespace quorate {

namespace {

// Adds the rows of a data set to a matrix of dense rows, whose last column is the label.
std::vector<double> dense_rows(const DataSet& data, Split split)
{
    const auto rows = data.read(split, 0, data.rows(split));
    const auto columns = static_cast<std::size_t>(data.columns()), width = columns + 1;
    std::vector<double> all(rows.label.size() * width);
    for (std::size_t i = 0; i < rows.label.size(); ++i) {
        auto* row = all.data() + i * width;
        row[columns] = rows.label[i];
        if (rows.start.empty()) {
            std::copy_n(rows.dense.data() + i * columns, columns, row);
            continue;
        }
        for (auto k = static_cast<std::size_t>(rows.start[i]);
             k < static_cast<std::size_t>(rows.start[i + 1]); ++k)
            row[rows.column[k]] = rows.value.empty() ? 1 : rows.value[k];
    }
    return all;
}

// Encodes a matrix column by column.
std::vector<double> encoded_rows(const std::vector<double>& rows, std::size_t width,
                                 const TightFrame& frame)
{
    const auto count = rows.size() / width, more = static_cast<std::size_t>(frame.rows());
    std::vector<double> all(more * width);
    in_parallel(width, usable_cores(), [&](std::size_t column) {
        std::vector<double> from(count), to(more);
        for (std::size_t i = 0; i < count; ++i) from[i] = rows[i * width + column];
        frame.encode(from, to);
        for (std::size_t i = 0; i < more; ++i) all[i * width + column] = to[i];
    });
    return all;
}

void add(DataSetWriter& writer, Split split, const std::vector<double>& rows, std::size_t width)
{
    writer.begin(split);
    for (std::size_t first = 0; first < rows.size(); first += width)
        writer.add(std::span(rows).subspan(first, width - 1), rows[first + width - 1]);
}

}  // namespace

std::string encode_data(const Settings& settings)
{
    const auto& output = settings.text("output");
    if (!settings.on("data") || output.empty())
        throw BadInput("quorate encode needs --data FILE and --output FILE");
    const DataSet data(settings.text("data"));
    check_new_data_set(settings);
    if (data.shape().task != LearningTask::regression)
        settings.refuse("data",
                        ", whose labels are classes: only least squares can be encoded, so give "
                        "a regression");
    const auto rows = data.rows(Split::train);
    const auto seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
    const bool steiner = settings.one_of("frame", {"hadamard", "steiner"}) == "steiner";
    if (steiner && settings.given("redundancy"))
        settings.refuse("redundancy",
                        ", but that of --frame steiner follows from the rows: leave "
                        "it out");
    const auto frame = steiner ? steiner_frame(rows, seed)
                               : hadamard_frame(rows, settings.real("redundancy", 1, 64), seed);
    start_mpi();  // PETSc measures the curvature
    auto shape = data.shape();
    shape.dense = true;
    shape.channels = shape.height = shape.width = 0;
    const auto width = static_cast<std::size_t>(data.columns()) + 1;
    DataSetWriter writer(output, std::filesystem::path(output).stem(), shape, false, false);
    add(writer, Split::train, encoded_rows(dense_rows(data, Split::train), width, *frame), width);
    add(writer, Split::test, dense_rows(data, Split::test), width);
    writer.finish(data.features(), {{"command_line", settings.command_line},
                                    {"quorate_version", version},
                                    {"options", settings.ini()},
                                    {"sources", data.path()},
                                    {"sha256", data.attributes().at("content_sha256")}});
    return fmt::format("{}: {} x {} training rows, {:.3g} times those of {}, {} test rows\n",
                       output, frame->rows(), data.columns(),
                       static_cast<double>(frame->rows()) / static_cast<double>(rows), data.path(),
                       data.rows(Split::test));
}

}  // namespace quorate
