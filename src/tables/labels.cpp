// SPDX-License-Identifier: BSD-2-Clause
#include "tables/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/formats.hpp"
#include "tables/label_map.hpp"

namespace quorate {

namespace {

// A label, or the text that a number of `words` stands for.
std::string text_of(double label, const std::vector<std::string>& words)
{
    return words.empty() ? fmt::format("{}", label) : words[static_cast<std::size_t>(label)];
}

// What becomes of each label of a file, as text; nothing: its row is dropped.
using Texts = std::unordered_map<double, std::optional<std::string>>;

// Applies --label-map, which must name every label. Without it all labels stay as they are.
Texts texts_of(const std::vector<double>& labels, const std::vector<std::string>& words,
               const Settings& settings)
{
    std::optional<LabelMap> map;
    if (settings.on("label-map")) map.emplace(settings);
    Texts texts;
    for (const double label : labels) {
        if (std::isnan(label) || texts.contains(label)) continue;
        const auto text = text_of(label, words);
        texts[label] = map ? (*map)(text) : text;
    }
    return texts;
}

// Labels as numbers: what they are, or if they are words the places of these in the alphabet.
struct Numbered {
    std::vector<double> value;       // of each kept row
    std::vector<std::int64_t> kept;  // the numbers of these rows
    std::vector<std::string> words;  // by number; empty: labels are numbers
};

Numbered numbered(const std::vector<double>& labels, const Settings& settings,
                  const std::vector<std::string>& words)
{
    Numbered all;
    if (words.empty() && !settings.on("label-map")) {
        all.value = labels;
        all.kept.resize(labels.size());
        std::iota(all.kept.begin(), all.kept.end(), 0);
        return all;
    }
    const auto texts = texts_of(labels, words, settings);
    std::set<std::string> found;
    for (const auto& [label, text] : texts)
        if (text) found.insert(*text);
    std::unordered_map<std::string, double> number;
    if (!std::ranges::all_of(found, [](const auto& text) { return to_real(text).has_value(); }))
        all.words.assign(found.begin(), found.end());
    for (const auto& text : found)
        number[text] = all.words.empty() ? *to_real(text) : static_cast<double>(number.size());
    for (std::size_t row = 0; row < labels.size(); ++row)
        if (const auto& text = texts.at(labels[row])) {
            all.value.push_back(number.at(*text));
            all.kept.push_back(static_cast<std::int64_t>(row));
        }
    if (all.value.empty()) settings.refuse("label-map", ", which drops every row");
    return all;
}

// The value of --label-scale, with which labels are multiplied.
double label_scale(const Settings& settings)
{
    return settings.real("label-scale", -std::numeric_limits<double>::max());
}

// @throws BadInput if a label does not fit then
double scaled(double label, double factor, const Settings& settings)
{
    const auto product = label * factor;
    if (std::isinf(product) || (product == 0 && label != 0))
        settings.refuse("label-scale", fmt::format(", which makes {:g} of the label {:g}: use a "
                                                   "factor nearer to 1",
                                                   product, label));
    return product;
}

// Refuses classes that are numbers so large that others were rounded to them.
void check_distinct(const std::set<double>& classes)
{
    constexpr double exact = 1LL << 53;  // below it each whole number has a double of its own
    for (const double value : classes)
        if (std::abs(value) >= exact)
            throw BadInput(fmt::format(
                "label {:.0f} has more digits than a number tells apart: write labels as words, or "
                "give --task regression",
                value));
}

// Writes a label as others may write it: 1.0 is 1, "Yes." is yes.
std::string alike(const std::string& label)
{
    auto text = label_text(label);
    text.resize(text.find_last_not_of(" .,;'") + 1);
    boost::algorithm::to_lower(text);
    return text;
}

// Compares the classes of test rows with those of the training rows.
// @param train  the number of the first test row
void check_test_classes(const Numbered& labels, std::int64_t train, const std::string& task)
{
    constexpr double few = 0.1;  // of the test rows, may be of classes that are rare
    std::map<double, std::int64_t> seen, unseen;
    std::int64_t tested = 0;
    for (std::size_t i = 0; i < labels.value.size(); ++i) {
        const bool is_test = labels.kept[i] >= train;
        tested += is_test ? 1 : 0;
        ++(is_test ? unseen : seen)[labels.value[i]];
    }
    std::erase_if(unseen, [&](const auto& one) { return seen.contains(one.first); });
    if (unseen.empty() || seen.empty()) return;
    std::vector<std::string> texts, theirs;
    std::set<std::string> likenesses;
    for (const auto& [value, rows] : seen) {
        theirs.push_back(text_of(value, labels.words));
        likenesses.insert(alike(theirs.back()));
    }
    std::int64_t rows_of_unseen = 0;
    bool likened = false;
    for (const auto& [value, rows] : unseen) {
        texts.push_back(fmt::format("'{}' ({} rows)", shown(text_of(value, labels.words)), rows));
        rows_of_unseen += rows;
        likened |= likenesses.contains(alike(text_of(value, labels.words)));
    }
    const auto said = fmt::format(
        "the test rows have labels that no training row has: {}; the training rows have "
        "{}",
        shown(texts), shown(theirs));
    if ((seen.size() <= 2 && task != "multiclass") || likened ||
        static_cast<double>(rows_of_unseen) > few * static_cast<double>(tested))
        throw BadInput(said + ": write them alike, or use --label-map, which maps or drops labels");
    log(LogLevel::warning, said);
}

// Returns the label that a data set stores for a class.
double stored(LearningTask task, std::size_t number)
{
    const auto value = static_cast<double>(number);
    return task == LearningTask::binary ? 2 * value - 1 : value;
}

}  // namespace

std::vector<Option> label_options()
{
    return {{"task", "auto|binary|multiclass|regression", "auto",
             "what labels mean; auto: binary for two values, else multiclass for words or up to "
             "1000 whole numbers"},
            {"label-map", "FROM:TO,...", "",
             "labels to others, or to drop; other:drop drops all others; default for two values: "
             "the smaller to -1, the other to 1, words by the alphabet"},
            {"label-scale", "FACTOR", "1", "labels of a regression are multiplied with it"}};
}

Labels map_labels(const std::vector<double>& labels, const Settings& settings,
                  const std::vector<std::string>& words, std::int64_t train)
{
    constexpr std::size_t most_classes = 1000;
    const auto& word = settings.one_of("task", {"auto", "binary", "multiclass", "regression"});
    const auto factor = label_scale(settings);  // a number, whatever the task is
    auto numbers = numbered(labels, settings, words);
    const std::set<double> found(numbers.value.begin(), numbers.value.end());
    const bool whole = std::ranges::all_of(found, [](double x) { return x == std::floor(x); });
    if (word != "regression" && whole && found.size() <= most_classes)
        check_test_classes(numbers, train, word);
    Labels mapped;
    mapped.kept = std::move(numbers.kept);
    mapped.value = std::move(numbers.value);
    if (word == "regression") {
        if (!numbers.words.empty())
            settings.refuse("task", fmt::format(", but the labels are words: {}; map them to "
                                                "numbers with --label-map, or leave it out",
                                                shown(numbers.words)));
        mapped.task = LearningTask::regression;
        for (auto& value : mapped.value) value = scaled(value, factor, settings);
        return mapped;
    }
    if (settings.given("label-scale"))
        settings.refuse("label-scale",
                        ", but only --task regression has labels that are numbers: "
                        "leave it out");
    check_distinct(found);
    for (const double value : found) mapped.class_names.push_back(text_of(value, numbers.words));
    if (word == "multiclass" ||
        (word == "auto" && found.size() > 2 && whole && found.size() <= most_classes)) {
        if (found.size() > most_classes || found.size() < 2)
            throw BadInput(
                fmt::format("the labels are {} values, not 2 to {} classes: {}; use "
                            "--task regression, or map them with --label-map",
                            found.size(), most_classes, shown(mapped.class_names)));
        mapped.task = LearningTask::multiclass;
    } else if (found.size() != 2) {
        throw BadInput(
            fmt::format("the labels are not two classes but {}: {}; map them with "
                        "--label-map, or give --task multiclass or regression",
                        found.size(), shown(mapped.class_names)));
    }
    std::map<double, double> number;
    for (const double value : found) number.emplace(value, stored(mapped.task, number.size()));
    for (auto& value : mapped.value) value = number.at(value);
    return mapped;
}

Labels map_labels_like(const std::vector<double>& labels, const Settings& settings,
                       const std::vector<std::string>& words, LearningTask task,
                       const std::vector<std::string>& class_names)
{
    Labels mapped{.task = task, .value = labels, .kept = {}, .class_names = class_names};
    mapped.kept.resize(labels.size());
    std::iota(mapped.kept.begin(), mapped.kept.end(), 0);
    const auto factor = label_scale(settings);
    if (task == LearningTask::regression && words.empty() && !settings.on("label-map")) {
        for (auto& value : mapped.value) value = scaled(value, factor, settings);
        return mapped;
    }
    std::optional<LabelMap> map;
    if (settings.on("label-map")) map.emplace(settings);
    std::unordered_map<double, double> number;
    std::set<std::string> unknown;  // labels that are no classes
    std::int64_t known = 0;
    for (const double label : labels) {
        if (std::isnan(label) || !number.try_emplace(label, not_given).second) continue;
        const auto text = text_of(label, words);
        const bool is_foreign = map && !map->knows(text) && task != LearningTask::regression;
        const auto to = map && !is_foreign ? (*map)(text) : text;
        if (!to) continue;
        if (task == LearningTask::regression) {
            const auto value = to_real(*to);
            if (!value)
                throw BadInput(
                    fmt::format("label {} is no number, but the data set that --like "
                                "names has numbers: map it with --label-map",
                                shown(*to)));
            number[label] = scaled(*value, factor, settings);
            continue;
        }
        const auto at = std::ranges::find(class_names, *to);
        if (is_foreign || at == class_names.end()) {
            unknown.insert(text);
            continue;
        }
        ++known;
        number[label] = stored(task, static_cast<std::size_t>(at - class_names.begin()));
    }
    if (!unknown.empty()) {
        const std::vector<std::string> texts(unknown.begin(), unknown.end());
        const auto what = fmt::format("{} none of the classes {} of the data set that --like names",
                                      texts.size() == 1 ? "label " + shown(texts[0]) + " is"
                                                        : "labels " + shown(texts) + " are",
                                      shown(class_names));
        if (known > 0 || !words.empty())
            throw BadInput(what +
                           ": write them alike, use --label-map of quorate import, or leave "
                           "the labels out");
        log(LogLevel::warning, what + ", nor is another: the rows count as without labels");
    }
    for (auto& value : mapped.value) value = std::isnan(value) ? not_given : number.at(value);
    return mapped;
}

}  // namespace quorate
