// SPDX-License-Identifier: BSD-2-Clause
#include "import/predictions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/quoted.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"

namespace quorate {

namespace {

// Writes a field of CSV, in quotes if it needs them.
std::string field(const std::string& text)
{
    if (text.find_first_of(",;\"\r\n") == std::string::npos) return text;
    return double_quoted(text);
}

// Computes the metrics of the rows that have labels.
Quality quality_of(const Loss& loss, const std::vector<double>& scores,
                   const std::vector<double>& labels)
{
    std::vector<double> theirs, known;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (std::isnan(labels[i])) continue;
        known.push_back(labels[i]);
        const auto first = scores.begin() + static_cast<std::int64_t>(i) * loss.outputs();
        theirs.insert(theirs.end(), first, first + loss.outputs());
    }
    return known.empty() ? Quality{} : loss.quality(theirs, known);
}

}  // namespace

Predictions::Predictions(const Model& model, LearningTask task, std::vector<double> scores,
                         std::vector<double> labels, std::vector<std::string> classes)
    : task_(task), outputs_(model.outputs()), scores_(std::move(scores)),
      labels_(std::move(labels)), classes_(std::move(classes)),
      quality_(quality_of(model.loss(), scores_, labels_))
{
    if (task_ == LearningTask::regression) return;
    predicted_ = model.loss().classes(scores_);
    probabilities_ = model.loss().probabilities(scores_);
}

std::string Predictions::label(std::size_t row) const
{
    const double label = labels_[row];
    if (std::isnan(label)) return "";
    if (task_ == LearningTask::regression) return fmt::format("{}", label);
    return classes_[static_cast<std::size_t>(task_ == LearningTask::binary ? label > 0 : label)];
}

std::string Predictions::header() const
{
    std::string line = "row,label";
    for (std::int64_t c = 0; c < outputs_; ++c)
        line += outputs_ == 1 ? ",score" : fmt::format(",score_{}", c);
    if (!predicted_.empty()) line += ",predicted";
    if (!probabilities_.empty())
        for (const auto& name : classes_) line += "," + field("probability_" + name);
    return line;
}

std::string Predictions::csv() const
{
    auto text = header() + '\n';
    const auto outputs = static_cast<std::size_t>(outputs_), classes = classes_.size();
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        text += fmt::format("{},{},{}", i, field(label(i)),
                            fmt::join(std::span(scores_).subspan(i * outputs, outputs), ","));
        if (!predicted_.empty())
            text += "," + field(classes_[static_cast<std::size_t>(predicted_[i])]);
        if (!probabilities_.empty())
            text += fmt::format(
                ",{}", fmt::join(std::span(probabilities_).subspan(i * classes, classes), ","));
        text += '\n';
    }
    return text;
}

nlohmann::ordered_json Predictions::json() const
{
    nlohmann::ordered_json all;
    all["rows"] = rows();
    if (!classes_.empty()) all["classes"] = classes_;
    for (const auto& [name, value] :
         {std::pair("loss", quality_.loss), {"accuracy", quality_.accuracy}, {"auc", quality_.auc}})
        if (std::isfinite(value)) all[name] = value;
    auto& rows = all["predictions"] = nlohmann::ordered_json::array();
    const auto outputs = static_cast<std::size_t>(outputs_);
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        auto& row = rows.emplace_back();
        row["row"] = i;
        if (!std::isnan(labels_[i])) {
            if (task_ == LearningTask::regression)
                row["label"] = labels_[i];
            else
                row["label"] = label(i);
        }
        if (outputs == 1)
            row["score"] = scores_[i];
        else
            row["scores"] =
                std::vector<double>(scores_.begin() + static_cast<std::int64_t>(i * outputs),
                                    scores_.begin() + static_cast<std::int64_t>((i + 1) * outputs));
        if (!predicted_.empty())
            row["predicted"] = classes_[static_cast<std::size_t>(predicted_[i])];
        if (!probabilities_.empty())
            for (std::size_t c = 0; c < classes_.size(); ++c)
                row["probabilities"][classes_[c]] = probabilities_[i * classes_.size() + c];
    }
    return all;
}

void Predictions::write_hdf5(const std::string& path) const
{
    constexpr std::int64_t chunk = 4096;  // rows
    auto file = h5::create(path);
    const auto root = file.get();
    h5::write_attribute(root, "format", std::string("quorate scores"));
    h5::append<double>(h5::create_extendable<double>(root, "score", chunk, outputs_), scores_);
    h5::append<double>(h5::create_extendable<double>(root, "label", chunk), labels_);
    if (!predicted_.empty())
        h5::append<std::int64_t>(h5::create_extendable<std::int64_t>(root, "predicted", chunk),
                                 predicted_);
    if (!probabilities_.empty())
        h5::append<double>(
            h5::create_extendable<double>(root, "probability", chunk, std::ssize(classes_)),
            probabilities_);
    if (!classes_.empty()) {
        const auto group = h5::create_group(root, "class");
        h5::write_strings(group.get(), "name", classes_);
    }
    file.close("close " + path);
}

}  // namespace quorate
