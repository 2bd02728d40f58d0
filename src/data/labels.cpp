// SPDX-License-Identifier: BSD-2-Clause
#include "data/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/formats.hpp"
#include "data/idx.hpp"
#include "data/petsc_binary.hpp"

namespace quorate {

namespace {

std::string listed(const std::set<double>& values)
{
    std::vector<std::string> some;
    for (const double value : values) {
        if (some.size() == 5) {
            some.emplace_back("more");
            break;
        }
        some.push_back(fmt::format("{}", value));
    }
    return fmt::format("{}", fmt::join(some, ", "));
}

// The map "FROM:TO,FROM:drop,other:drop". It maps a label to another, or to nothing if its row is
// dropped.
class LabelMap {
public:
    explicit LabelMap(const Settings& settings) : settings_(settings)
    {
        for (const auto& pair : split(settings.text("label-map"), ',')) {
            const auto ends = split(trimmed(pair), ':');
            const auto from = to_real(ends[0]),
                       to = ends.size() == 2 ? to_real(ends[1]) : std::nullopt;
            const bool drops = ends.size() == 2 && ends[1] == "drop";
            if (ends[0] == "other" && drops)
                drops_others_ = true;
            else if (from && (to || drops))
                to_[*from] = drops ? std::nullopt : to;
            else
                throw BadInput(fmt::format(
                    "--label-map has '{}': write FROM:TO or FROM:drop, separated by commas, and "
                    "other:drop if the rows of all others are to go",
                    pair));
        }
    }
    std::optional<double> operator()(double label) const
    {
        if (const auto at = to_.find(label); at != to_.end()) return at->second;
        if (!drops_others_)
            throw BadInput(fmt::format("label {} is not in --label-map {}: add it, or other:drop",
                                       label, settings_.text("label-map")));
        return std::nullopt;
    }

private:
    const Settings& settings_;
    std::map<double, std::optional<double>> to_;
    bool drops_others_ = false;
};

// Applies --label-map, which must name every label. Without it all labels stay as they are.
Labels with_label_map(const std::vector<double>& labels, const Settings& settings)
{
    std::optional<LabelMap> map;
    if (settings.on("label-map")) map.emplace(settings);
    Labels mapped;
    for (std::size_t row = 0; row < labels.size(); ++row)
        if (const auto to = map ? (*map)(labels[row]) : labels[row]) {
            mapped.value.push_back(*to);
            mapped.kept.push_back(static_cast<std::int64_t>(row));
        }
    if (map && mapped.value.empty()) settings.refuse("label-map", ", which drops every row");
    return mapped;
}

// Turns labels of a file into what the task wants: scaled numbers, or the numbers of their classes.
Labels with_meaning(Labels mapped, const Settings& settings)
{
    if (mapped.task == LearningTask::regression) {
        const double scale = settings.real("label-scale", -1e300);
        for (auto& value : mapped.value) value *= scale;
        return mapped;
    }
    for (auto& value : mapped.value) {
        const auto at = std::ranges::lower_bound(mapped.class_values, value);
        if (at == mapped.class_values.end() || *at != value)
            throw BadInput(
                fmt::format("label {} is none of the classes {} of the data set that "
                            "--like names: map it with --label-map",
                            value, fmt::join(mapped.class_values, ", ")));
        const auto number = static_cast<double>(at - mapped.class_values.begin());
        value = mapped.task == LearningTask::binary ? 2 * number - 1 : number;
    }
    return mapped;
}

}  // namespace

Labels map_labels_like(const std::vector<double>& labels, const Settings& settings,
                       LearningTask task, const std::vector<double>& class_values)
{
    auto mapped = with_label_map(labels, settings);
    mapped.task = task;
    mapped.class_values = class_values;
    return with_meaning(std::move(mapped), settings);
}

std::vector<Option> label_options()
{
    return {{"task", "auto|binary|multiclass|regression", "auto",
             "what labels mean; auto: binary for two values, else multiclass for up to 1000 whole "
             "numbers"},
            {"label-map", "FROM:TO,...", "",
             "labels to others, or to drop; other:drop drops all others; default for two values: "
             "the smaller to -1, the other to 1"},
            {"label-scale", "FACTOR", "1", "labels of a regression are multiplied with it"}};
}

Labels map_labels(const std::vector<double>& labels, const Settings& settings)
{
    auto mapped = with_label_map(labels, settings);
    constexpr std::size_t most_classes = 1000;
    const auto& word = settings.one_of("task", {"auto", "binary", "multiclass", "regression"});
    settings.real("label-scale", -1e300);  // a number, whatever the task is
    if (word == "regression") {
        mapped.task = LearningTask::regression;
        return with_meaning(std::move(mapped), settings);
    }
    if (settings.given("label-scale"))
        settings.refuse("label-scale",
                        ", but only --task regression has labels that are numbers: "
                        "leave it out");
    const std::set<double> found(mapped.value.begin(), mapped.value.end());
    const bool whole = std::ranges::all_of(found, [](double x) { return x == std::floor(x); });
    if (word == "multiclass" ||
        (word == "auto" && found.size() > 2 && whole && found.size() <= most_classes)) {
        if (found.size() > most_classes || found.size() < 2)
            throw BadInput(
                fmt::format("the labels are {} values, not 2 to {} classes: {}; use "
                            "--task regression, or map them with --label-map",
                            found.size(), most_classes, listed(found)));
        mapped.task = LearningTask::multiclass;
    } else if (found.size() != 2) {
        throw BadInput(
            fmt::format("the labels are not two classes but {}: {}; map them with "
                        "--label-map, or give --task multiclass or regression",
                        found.size(), listed(found)));
    }
    mapped.class_values.assign(found.begin(), found.end());
    return with_meaning(std::move(mapped), settings);
}

std::vector<double> read_labels(const std::string& path, const Reading& reading)
{
    std::string first(8, '\0');
    {
        ByteSource source(path, reading);
        first.resize(source.read(first.data(), first.size()));
    }
    std::vector<double> labels;
    if (is_idx(first)) {
        IdxReader idx(path, reading);
        if (idx.shape().size() != 1)
            throw BadInput(
                fmt::format("{} has {} dimensions: labels have one", path, idx.shape().size()));
        std::vector<double> one;
        for (std::int64_t row = 0; row < idx.rows(); ++row) {
            idx.next(one);
            labels.push_back(one[0]);
        }
        idx.end();
        return labels;
    }
    if (is_petsc_vector(first)) return read_petsc_vector(path, reading);
    TextBlocks blocks(path, reading, false);
    for (TextBlock block; blocks.next(block);) {
        std::istringstream in(std::move(block.text));
        Lines lines(in, path, block.first_line - 1);
        for (std::string line; lines.next(line);) {
            const auto word = trimmed(line);
            if (word.empty()) continue;
            const auto label = to_real(word);
            if (!label)
                lines.refuse(1, fmt::format("expected a label, a finite number, got '{}'",
                                            word.substr(0, 20)));
            labels.push_back(*label);
        }
    }
    return labels;
}

}  // namespace quorate
