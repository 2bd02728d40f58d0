// SPDX-License-Identifier: BSD-2-Clause
// Multi-layer perceptrons: dense layers with an activation between them, softmax or squared loss.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Core>
#include <algorithm>

#include "base/text.hpp"
#include "model/learning_task.hpp"
#include "model/linear.hpp"
#include "model/models.hpp"

namespace quorate {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Bias = Eigen::Map<const Eigen::RowVectorXd>;

using Activation = MlpOptions::Activation;

// Layer l maps widths_[l - 1] values to widths_[l]; layer 0 maps the columns of the data.
// Parameters: W_0 (columns x widths_[0]), b_0, W_1, b_1, ...; each W row by row.
class Mlp final : public Model {
public:
    Mlp(std::unique_ptr<Loss> loss, std::vector<std::int64_t> hidden, Activation activation)
        : Model(std::move(loss)), widths_(std::move(hidden)), activation_(activation)
    {
        widths_.push_back(outputs());
    }

    std::int64_t per_column() const override { return widths_.front(); }
    std::int64_t shared_parameters() const override
    {
        auto sum = widths_[0];
        for (std::size_t l = 1; l < widths_.size(); ++l) sum += (widths_[l - 1] + 1) * widths_[l];
        return sum;
    }
    bool linear() const override { return false; }

    std::vector<Layer> layers(std::int64_t columns) const override
    {
        std::vector<Layer> all;
        auto in = columns;
        for (const auto out : widths_) {
            all.push_back({in * out, in, out, out});
            in = out;
        }
        return all;
    }

    double add_gradient(const RowView& rows, std::span<const double> point, double coefficient,
                        std::span<double> gradient) const override
    {
        double sum = 0;
        for (std::int64_t first = 0; first < rows.rows; first += linear::tile)
            sum += add_tile(rows.slice(first, std::min(linear::tile, rows.rows - first)), point,
                            coefficient, gradient);
        return sum;
    }

    void score(const RowView& rows, std::span<const double> point,
               std::span<double> scores) const override
    {
        for (std::int64_t first = 0; first < rows.rows; first += linear::tile) {
            const auto part = rows.slice(first, std::min(linear::tile, rows.rows - first));
            const auto values = forward(part, point);
            std::copy_n(values.back().data(), values.back().size(),
                        scores.data() + first * outputs());
        }
    }

    // Each weight is read and written once in a chunk. With 32 rows that is little beside the
    // products.
    std::int64_t chunk_rows(const DataShape&) const override { return 32; }

private:
    // Returns the output of each layer after its activation. The last one's are the scores.
    std::vector<Matrix> forward(const RowView& rows, std::span<const double> point) const
    {
        std::vector<Matrix> values;
        const double* w = point.data();
        auto in = rows.columns;
        for (std::size_t l = 0; l < widths_.size(); ++l) {
            const auto out = widths_[l];
            Matrix z(rows.rows, out);
            if (l == 0)
                linear::product(rows, w, out, z.data());
            else
                z.noalias() = values.back() * Eigen::Map<const Matrix>(w, in, out);
            w += in * out;
            z.rowwise() += Bias(w, out);
            w += out;
            if (l + 1 < widths_.size()) {
                if (activation_ == Activation::relu)
                    z = z.cwiseMax(0.0);
                else
                    z = z.array().tanh();
            }
            in = out;
            values.push_back(std::move(z));
        }
        return values;
    }

    double add_tile(const RowView& rows, std::span<const double> point, double coefficient,
                    std::span<double> gradient) const
    {
        const auto values = forward(rows, point);
        Matrix delta(rows.rows, outputs());  // derivatives by a layer's output before activation
        const double sum =
            loss().evaluate(values.back().data(), rows.label, rows.rows, delta.data());
        if (coefficient != 1) delta *= coefficient;
        auto at = static_cast<std::int64_t>(point.size());  // behind the layer's parameters
        for (auto l = widths_.size(); l-- > 0;) {
            const auto out = widths_[l], in = l > 0 ? widths_[l - 1] : rows.columns;
            at -= out;
            // Summed row by row, because the bits of Eigen's sums of columns depend on the address
            // that they are written to.
            for (std::int64_t i = 0; i < delta.rows(); ++i)
                Eigen::Map<Eigen::RowVectorXd>(gradient.data() + at, out) += delta.row(i);
            at -= in * out;
            if (l == 0) {
                linear::add_transpose_product(rows, delta.data(), out, gradient.data() + at);
                break;
            }
            const auto& below = values[l - 1];
            Eigen::Map<Matrix>(gradient.data() + at, in, out).noalias() +=
                below.transpose() * delta;
            Matrix back = delta * Eigen::Map<const Matrix>(point.data() + at, in, out).transpose();
            if (activation_ == Activation::relu)
                back = (below.array() > 0).select(back, 0.0);
            else
                back.array() *= 1 - below.array().square();
            delta = std::move(back);
        }
        return sum;
    }

    std::vector<std::int64_t> widths_;
    Activation activation_;
};

std::unique_ptr<Model> make_mlp(const MlpOptions& given, const DataShape& data)
{
    const bool squared = given.loss == MlpOptions::Loss::squared;
    require_task(data, {LearningTask::binary,
                        squared ? LearningTask::regression : LearningTask::multiclass});
    return std::make_unique<Mlp>(
        squared ? squared_loss(data.task, given.threshold) : softmax_loss(data, given.top_k),
        given.hidden, given.activation);
}

}  // namespace

void read_option(std::vector<std::int64_t>& widths, const GivenWords& given)
{
    widths.clear();
    for (const auto& word : split(given.text(), ',')) {
        const auto width = to_integer(trimmed(word));
        if (!width || *width < 1)
            given.refuse(": write the widths of the hidden layers, as in 256,128");
        widths.push_back(*width);
    }
}

std::string written(const std::vector<std::int64_t>& widths, const OptionRow&)
{
    return fmt::format("{}", fmt::join(widths, ","));
}

ModelEntry<MlpOptions> MlpOptions::entry()
{
    return {.name = "mlp",
            .text = "multi-layer perceptron: dense layers and an activation between them",
            .source = "textbook",
            .options = {{&MlpOptions::hidden,
                         {"hidden", "N,...", "256", "widths of the hidden layers"}},
                        {&MlpOptions::activation,
                         {"activation", "relu|tanh", "relu", "of the hidden layers"}},
                        {&MlpOptions::loss,
                         {"loss", "softmax|squared", "softmax",
                          "loss of the scores: for classes, or for numbers"}},
                        {&MlpOptions::threshold, threshold_row()},
                        {&MlpOptions::top_k, top_k_row()}},
            .make = make_mlp};
}

}  // namespace quorate
