// SPDX-License-Identifier: BSD-2-Clause
#include "import/labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/formats.hpp"

namespace quorate {

void replace_labels(const std::string& path, const Reading& reading, std::int64_t first,
                    bool may_be_more, RawTable& table)
{
    const auto read = read_labels(path, reading);
    const auto end = first == 0 ? table.test_begin().value_or(table.rows()) : table.rows();
    const auto labels =
        std::span(table.label)
            .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    if (read.size() != labels.size() && !(may_be_more && read.size() > labels.size()))
        throw BadInput(fmt::format("{} has {} labels for {} rows: give one for each", path,
                                   read.size(), labels.size()));
    if (first == 0) table.forget_label_kind();
    table.set_label_kind(!read.words.empty(), path);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = read.words.empty() ? read.numbers[i] : table.label_words.number(read.words[i]);
}

Labels labels_of(const Settings& settings, const RawTable& table, std::int64_t train_rows,
                 const DataSet* like)
{
    std::vector<std::int64_t> all(static_cast<std::size_t>(table.rows())), rows;
    std::iota(all.begin(), all.end(), 0);
    std::ranges::set_difference(all, table.left_out(), std::back_inserter(rows));
    if (rows.empty())
        settings.refuse("missing", ", but every row has a missing value: drop columns instead");
    std::vector<double> theirs;
    for (const auto i : rows) {
        theirs.push_back(table.label[static_cast<std::size_t>(i)]);
        if (like || !std::isnan(theirs.back())) continue;
        const std::string set = i < train_rows ? "" : "test-";
        if (settings.on(set + "labels"))
            throw BadInput(fmt::format("{} has NaN for a label in row {} from 0: give a number",
                                       settings.text(set + "labels"),
                                       i < train_rows ? i : i - train_rows));
        throw BadInput(
            fmt::format("{} has no labels: give --{}labels", settings.text(set + "input"), set));
    }
    const auto& words = table.label_words.names();
    auto labels =
        like ? map_labels_like(theirs, settings, words, like->shape().task, like->class_names())
             : map_labels(theirs, settings, words,
                          std::ranges::lower_bound(rows, train_rows) - rows.begin());
    for (auto& row : labels.kept) row = rows[static_cast<std::size_t>(row)];
    return labels;
}

void warn_of_classes_to_test_only(const Labels& labels, const std::vector<std::int64_t>& train,
                                  const std::vector<std::int64_t>& test)
{
    if (labels.task == LearningTask::regression) return;
    const auto label = [&](std::int64_t i) { return labels.value[static_cast<std::size_t>(i)]; };
    std::set<double> seen;
    for (const auto i : train) seen.insert(label(i));
    std::set<std::string> unseen;
    for (const auto i : test)
        if (const auto value = label(i); !seen.contains(value))
            unseen.insert(labels.class_names[static_cast<std::size_t>(
                labels.task == LearningTask::binary ? value > 0 : value)]);
    if (unseen.empty()) return;
    log(LogLevel::warning,
        fmt::format("of these classes the split takes all rows for test, and leaves none to train "
                    "with: {}; another --split-seed or a smaller --test-fraction may leave some",
                    shown({unseen.begin(), unseen.end()})));
}

bool has_words(const Labels& labels)
{
    return !std::ranges::all_of(labels.class_names,
                                [](const auto& name) { return to_real(name).has_value(); });
}

std::string listed_classes(const Labels& labels)
{
    return fmt::format("{}", fmt::join(labels.class_names, has_words(labels) ? ", " : " "));
}

std::string balance(const Labels& labels)
{
    auto y = labels.value;
    const auto unlabelled = std::erase_if(y, [](double label) { return std::isnan(label); });
    if (y.empty()) return "no labels";
    if (unlabelled > 0) return fmt::format("{} rows without label", unlabelled);
    if (labels.task == LearningTask::regression) {
        const auto [least, most] = std::ranges::minmax(y);
        double mean = 0;  // of parts, whose sum does not overflow
        for (const double label : y) mean += label / static_cast<double>(y.size());
        return fmt::format("labels from {:g} to {:g}, mean {:g}", least, most, mean);
    }
    if (labels.task == LearningTask::binary)
        return fmt::format("{} of {} labels positive{}", std::ranges::count(y, 1.0), y.size(),
                           has_words(labels) ? " (" + shown(labels.class_names[1]) + ")" : "");
    std::vector<std::int64_t> count(labels.class_names.size());
    for (const double label : y) ++count[static_cast<std::size_t>(label)];
    constexpr std::size_t most = 20;  // classes that a line can hold
    if (count.size() > most) {
        const auto [least, greatest] = std::ranges::minmax(count);
        return fmt::format("{} classes of {} to {} rows", count.size(), least, greatest);
    }
    auto names = labels.class_names;
    for (auto& name : names) name = shown(name);
    return fmt::format("{} rows of the classes {}", fmt::join(count, " "),
                       fmt::join(names, has_words(labels) ? ", " : " "));
}

}  // namespace quorate
