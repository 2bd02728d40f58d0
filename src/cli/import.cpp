// SPDX-License-Identifier: BSD-2-Clause
// quorate import: files -> data set.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "data/data_set_writer.hpp"
#include "data/formats.hpp"
#include "data/source.hpp"
#include "data/split_rows.hpp"

namespace quorate {

namespace {

std::vector<Option> options()
{
    std::vector<Option> all = {
        {"input", "FILE", "", "rows to import; plain, .gz, .bz2 or .xz"},
        {"labels", "FILE", "", "their labels, one a line, in place of those in the input"},
        {"test-input", "FILE", "", "test rows; else see --test-fraction"},
        {"test-labels", "FILE", "", "their labels, likewise"},
        {"output", "FILE", "", "the data set to write"},
        {"format", "auto|NAME", "auto",
         "see quorate list formats; auto: csv if the first line has a comma"},
        {"label-map", "FROM:TO,...", "",
         "labels to -1 and 1; default: the smaller of two values to -1"},
        {"test-fraction", "F", "0", "share of the input's rows for test, chosen by --split-seed"},
        {"split-seed", "N", "0",
         "the split is NumPy's legacy permutation of the rows for this seed"},
        {"name", "WORD", "", "name of the data set; default: the output's"},
    };
    for (const auto& format : formats())
        all.insert(all.end(), format.options.begin(), format.options.end());
    return all;
}

const Entry<ReadFormat>& format_of(const Settings& settings)
{
    if (settings.text("format") != "auto") return chosen(formats(), settings, "format");
    const auto& path = settings.text("input");
    const auto in = open_source(path);
    Lines lines(*in, path);
    std::string line;
    lines.next(line);
    const std::string name = line.find(',') != std::string::npos ? "csv" : "libsvm";
    return *std::find_if(formats().begin(), formats().end(),
                         [&](const auto& entry) { return entry.name == name; });
}

void refuse_options_of_others(const Settings& settings, const Entry<ReadFormat>& used)
{
    for (const auto& format : formats())
        for (const auto& option : format.options)
            if (format.name != used.name && settings.given(option.name))
                settings.refuse(option.name, ", but the input is " + used.name + " and only " +
                                                 format.name + " uses it: leave it out");
}

// Replaces labels [first, first + count) by those of a file.
void replace_labels(const std::string& path, std::vector<double>& labels, std::int64_t first,
                    std::int64_t count)
{
    const auto in = open_source(path);
    Lines lines(*in, path);
    std::int64_t row = 0;
    for (std::string line; lines.next(line);) {
        const auto word = trimmed(line);
        if (word.empty()) continue;
        const auto label = to_real(word);
        if (!label)
            lines.refuse(
                1, fmt::format("expected a label, a finite number, got '{}'", word.substr(0, 20)));
        if (row < count) labels[static_cast<std::size_t>(first + row)] = *label;
        ++row;
    }
    if (row != count)
        throw BadInput(
            fmt::format("{} has {} labels for {} rows: give one for each", path, row, count));
}

void check_files(const Settings& settings)
{
    const auto& output = settings.text("output");
    if (output.empty()) throw BadInput("quorate import needs --output FILE");
    for (const auto* option : {"input", "labels", "test-input", "test-labels"}) {
        std::error_code error;
        if (settings.on(option) &&
            std::filesystem::equivalent(output, settings.text(option), error))
            settings.refuse("output",
                            fmt::format(", which is --{} as well: give another name", option));
    }
    check_output(settings, "output", "data set");
}

int import(const Settings& settings)
{
    const auto began = std::chrono::steady_clock::now();
    if (!settings.on("input")) throw BadInput("quorate import needs --input FILE");
    if (settings.on("test-labels") && !settings.on("test-input"))
        throw BadInput("--test-labels needs --test-input FILE: the rows that they belong to");
    check_files(settings);
    const double fraction = settings.real("test-fraction", 0, 0.99);
    const auto seed = settings.integer("split-seed", 0, std::numeric_limits<std::uint32_t>::max());
    if (fraction > 0 && settings.on("test-input"))
        settings.refuse("test-fraction", " beside --test-input: give one of them");

    const auto& format = format_of(settings);
    refuse_options_of_others(settings, format);
    auto [examples, test_rows] = format.make(settings);
    const auto train_rows = examples.rows() - test_rows;
    if (settings.on("labels"))
        replace_labels(settings.text("labels"), examples.label, 0, train_rows);
    if (settings.on("test-labels"))
        replace_labels(settings.text("test-labels"), examples.label, train_rows, test_rows);
    map_labels(examples.label, settings.text("label-map"));

    std::vector<std::int64_t> train, test;
    if (fraction > 0) {
        std::tie(train, test) =
            split_rows(examples.rows(), fraction, static_cast<std::uint32_t>(seed));
    } else {
        train.resize(static_cast<std::size_t>(train_rows));
        test.resize(static_cast<std::size_t>(test_rows));
        std::iota(train.begin(), train.end(), std::int64_t{0});
        std::iota(test.begin(), test.end(), train_rows);
    }
    if (train.empty()) settings.refuse("test-fraction", ", which leaves no training row: use less");

    if (!examples.feature.empty()) number_by_first_use(examples, train);

    std::vector<std::string> sources, digests;
    for (const auto* option : {"input", "labels", "test-input", "test-labels"})
        if (settings.on(option)) {
            sources.push_back(std::filesystem::path(settings.text(option)).filename());
            digests.push_back(sha256(settings.text(option)));
        }
    const auto& output = settings.text("output");
    const auto name =
        settings.on("name") ? settings.text("name") : std::filesystem::path(output).stem().string();
    write_data_set(output, name, examples, train, test,
                   {{"command_line", settings.command_line},
                    {"quorate_version", version},
                    {"options", settings.ini()},
                    {"sources", fmt::format("{}", fmt::join(sources, " "))},
                    {"sha256", fmt::format("{}", fmt::join(digests, " "))}});

    if (settings.on("quiet")) return exit_done;
    const auto positive = std::count(examples.label.begin(), examples.label.end(), 1.0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    fmt::print(
        "{}: {} x {} training rows, {} test rows, {} entries, {} of {} labels positive, {:.2f} s\n",
        output, train.size(), examples.columns, test.size(), examples.column.size(), positive,
        examples.label.size(), took.count());
    for (std::size_t i = 0; i < sources.size(); ++i)
        fmt::print("  from {} (SHA-256 {})\n", sources[i], digests[i]);
    return exit_done;
}

}  // namespace

Command import_command() { return {"import", "text files to a data set", "", options(), import}; }

}  // namespace quorate
