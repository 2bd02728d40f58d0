// SPDX-License-Identifier: BSD-2-Clause
// What a model says of rows, as CSV, JSON or HDF5.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace quorate {

/// The scores of rows, with what follows from them.
class Predictions {
public:
    /// @param scores  of the rows, row by row  @param labels  as data sets store them; NaN: none
    /// @param classes names of the classes; empty for a regression
    Predictions(const Model& model, LearningTask task, std::vector<double> scores,
                std::vector<double> labels, std::vector<std::string> classes);

    std::int64_t rows() const { return static_cast<std::int64_t>(labels_.size()); }
    /// Metrics of the rows that have labels.
    const Quality& quality() const { return quality_; }
    /// Returns a table: row (from 0), label as the imported file had it, score, and of classes also
    /// the predicted one and the probabilities, if the model has some, which add up to one.
    std::string csv() const;
    /// Returns metrics and rows.
    nlohmann::ordered_json json() const;
    /// Writes arrays: score, label, predicted (numbers of classes), probability, and class/name.
    /// @throws Failure
    void write_hdf5(const std::string& path) const;

private:
    std::string header() const;
    std::string label(std::size_t row) const;

    LearningTask task_;
    std::int64_t outputs_;
    std::vector<double> scores_, labels_;
    std::vector<std::string> classes_;
    std::vector<std::int64_t> predicted_;  // empty for a regression
    std::vector<double> probabilities_;    // rows x classes; empty if the model has none
    Quality quality_;
};

}  // namespace quorate
