// SPDX-License-Identifier: BSD-2-Clause
#include "python/sample_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "python/arrays.hpp"
#include "python/object.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

// What score() says of a sample: its loss, and whether the answer is right (NaN: nobody knows).
enum : std::int64_t { of_loss, of_right, scores_of_sample };

// Takes losses from the scores, in which the model has put them.
class SampleLoss final : public Loss {
public:
    std::int64_t outputs() const override { return scores_of_sample; }
    double evaluate(const double* scores, const double*, std::int64_t rows,
                    double* weights) const override
    {
        if (weights)
            throw BadInput(
                "this scheme needs the derivatives of losses by scores, which samples of Python do "
                "not have: use a scheme that adds up gradients");
        return sum(scores, rows, of_loss);
    }
    double hits(std::span<const double> scores, std::span<const double> labels) const override
    {
        return sum(scores.data(), std::ssize(labels), of_right);
    }
    Quality quality(std::span<const double> scores, std::span<const double> labels) const override
    {
        Quality quality;
        if (labels.empty()) return quality;
        quality.loss = mean(scores, labels);
        quality.accuracy = hits(scores, labels) / static_cast<double>(labels.size());
        return quality;
    }

private:
    static double sum(const double* scores, std::int64_t rows, std::int64_t which)
    {
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i) sum += scores[i * scores_of_sample + which];
        return sum;
    }
};

// An iterator of Python over the numbers of the samples that come. A block is a range of samples.
class UpcomingSamples {
public:
    UpcomingSamples(std::span<const RowView> blocks, std::shared_ptr<UpcomingRows> rows)
        : rows_(std::move(rows))
    {
        for (const auto& block : blocks)
            first_.push_back(block.rows > 0 ? static_cast<std::int64_t>(block.dense[0]) : 0);
    }
    py::array_t<std::int64_t> next()
    {
        const auto next = rows_->next();
        if (!next) throw py::stop_iteration();
        py::array_t<std::int64_t> samples(std::ssize(next->rows));
        std::ranges::transform(next->rows, samples.mutable_data(),
                               [first = first_[next->item]](auto row) { return first + row; });
        return samples;
    }

private:
    std::vector<std::int64_t> first_;  // sample of each item's block
    std::shared_ptr<UpcomingRows> rows_;
};

class SampleModel final : public Model {
public:
    SampleModel(Object model, std::int64_t parameters, std::int64_t samples_at_once,
                Precision precision)
        : Model(std::make_unique<SampleLoss>()), model_(std::move(model)), parameters_(parameters),
          samples_at_once_(samples_at_once), precision_(precision),
          add_gradient_(model_.get().attr("add_gradient")), score_(model_.get().attr("score")),
          initial_(model_.get().attr("initial")),
          expect_(py::getattr(model_.get(), "expect", py::none())),
          streams_(py::cast<bool>(py::getattr(model_.get(), "streams", py::cast(false))))
    {
    }

    std::int64_t per_column() const override { return 0; }
    std::int64_t shared_parameters() const override { return parameters_; }
    bool linear() const override { return false; }
    Precision precision() const override { return precision_; }
    std::vector<Layer> layers(std::int64_t) const override { return {{0, 1, 1, parameters_}}; }
    std::optional<std::vector<double>> initial(std::int64_t, std::uint64_t seed) const override
    {
        const py::gil_scoped_acquire gil;
        const auto first =
            numbers(initial_.get()(seed), "initial() of the model", parameters_, "parameters");
        return std::vector<double>(first.data(), first.data() + first.size());
    }

    double add_gradient(const RowView& rows, std::span<const double> point, double coefficient,
                        std::span<double> gradient) const override
    {
        return ask_for_gradient(rows, point, coefficient, gradient);
    }
    double add_gradient_floats(const RowView& rows, std::span<const float> point,
                               double coefficient, std::span<float> gradient) const override
    {
        return ask_for_gradient(rows, point, coefficient, gradient);
    }

    bool streams() const override { return streams_; }
    bool looks_ahead() const override { return !expect_.get().is_none(); }
    void expect(std::span<const RowView> blocks,
                const std::shared_ptr<UpcomingRows>& upcoming) const override
    {
        const py::gil_scoped_acquire gil;
        expect_.get()(UpcomingSamples(blocks, upcoming));
    }

    // What is told of a sample may be the mean of those that were computed with it. So the cuts are
    // those of tiles, which do not depend on how many ranks share the rows.
    void score(const RowView& rows, std::span<const double> point,
               std::span<double> scores) const override
    {
        const py::gil_scoped_acquire gil;
        for (std::int64_t first = 0, count = 0; first < rows.rows; first += count) {
            count =
                std::min({samples_at_once_, score_tile - first % score_tile, rows.rows - first});
            const auto [loss, right] = as<std::pair<double, double>>(
                score_.get()(samples(rows.slice(first, count)), lent(point)),
                "score() of the model", "the sum of the losses, and how many answers are right");
            for (auto i = first; i < first + count; ++i) {
                auto* const of = scores.data() + i * scores_of_sample;
                of[of_loss] = loss / static_cast<double>(count);
                of[of_right] = right / static_cast<double>(count);
            }
        }
    }

    std::int64_t chunk_rows(const DataShape&) const override { return samples_at_once_; }

private:
    template <class T>
    double ask_for_gradient(const RowView& rows, std::span<const T> point, double coefficient,
                            std::span<T> gradient) const
    {
        const py::gil_scoped_acquire gil;
        return as<double>(
            add_gradient_.get()(samples(rows), lent(point), coefficient, lent(gradient)),
            "add_gradient() of the model", "the sum of the losses");
    }

    static py::array_t<std::int64_t> samples(const RowView& rows)
    {
        py::array_t<std::int64_t> numbers(rows.rows);
        std::transform(rows.dense, rows.dense + rows.rows, numbers.mutable_data(),
                       [](double number) { return static_cast<std::int64_t>(number); });
        return numbers;
    }

    Object model_;
    std::int64_t parameters_, samples_at_once_;
    Precision precision_;
    Object add_gradient_, score_, initial_, expect_;
    bool streams_;
};

}  // namespace

void add_sample_models(py::module_& module)
{
    py::class_<UpcomingSamples>(module, "UpcomingSamples")
        .def("__iter__", [](UpcomingSamples& self) -> UpcomingSamples& { return self; })
        .def("__next__", &UpcomingSamples::next);
}

std::unique_ptr<Model> make_sample_model(py::object object, const DataShape& data)
{
    if (!data.dense || data.columns != 1)
        throw BadInput(fmt::format(
            "a model of samples is for a data set whose one column numbers them, but this one has "
            "{} columns: give a Task as the data",
            data.columns));
    Object model(std::move(object));
    const auto number = [&](const char* name) {
        const auto value = as<std::int64_t>(model.get().attr(name), name, "a whole number");
        if (value < 1) throw BadInput(fmt::format("{} is {}: use 1 or more", name, value));
        return value;
    };
    const auto type = as<std::string>(model.get().attr("dtype"), "dtype", "float64 or float32");
    if (type != "float64" && type != "float32")
        throw BadInput("the dtype of a model is '" + type + "': use float64 or float32");
    const auto parameters = number("parameters"), at_once = number("samples_at_once");
    return std::make_unique<SampleModel>(
        std::move(model), parameters, at_once,
        type == "float64" ? Precision::binary64 : Precision::binary32);
}

}  // namespace quorate::bindings
