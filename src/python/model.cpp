// SPDX-License-Identifier: BSD-2-Clause
#include "python/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "python/arrays.hpp"
#include "python/object.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

constexpr double threshold = 0;  // rows with a higher score are called positive

// One score a row is a vector, several are a matrix.
std::vector<py::ssize_t> score_shape(std::int64_t rows, std::int64_t outputs)
{
    if (outputs == 1) return {rows};
    return {rows, outputs};
}

std::unique_ptr<Loss> loss_of(const std::string& name, const DataShape& data)
{
    if (name == "logistic") return logistic_loss(threshold);
    if (name == "hinge") return hinge_loss(threshold);
    if (name == "squared-hinge") return squared_hinge_loss(threshold);
    if (name == "squared") return squared_loss(data.task, threshold);
    if (name == "softmax") return softmax_loss(data, 5);
    throw BadInput("a model has the loss '" + name +
                   "': use logistic, hinge, squared-hinge, squared, softmax, or define loss()");
}

std::string usual_loss(LearningTask task)
{
    switch (task) {
        case LearningTask::binary: return "logistic";
        case LearningTask::multiclass: return "softmax";
        case LearningTask::regression: return "squared";
    }
    return "";
}

// Metrics of a usual loss, with the loss itself from Python if the model defines one.
class PythonLoss final : public Loss {
public:
    PythonLoss(std::unique_ptr<Loss> usual, py::object own)
        : usual_(std::move(usual)), own_(std::move(own))
    {
    }

    std::int64_t outputs() const override { return usual_->outputs(); }
    double evaluate(const double* scores, const double* labels, std::int64_t rows,
                    double* weights) const override
    {
        if (!own_.get() || weights) return usual_->evaluate(scores, labels, rows, weights);
        const py::gil_scoped_acquire gil;
        const auto count = static_cast<std::size_t>(rows);
        const auto z = std::span(scores, count * static_cast<std::size_t>(outputs()));
        return as<double>(
            own_.get()(copied(z, score_shape(rows, outputs())), copied(std::span(labels, count))),
            "loss()", "a number");
    }
    double hits(std::span<const double> scores, std::span<const double> labels) const override
    {
        return usual_->hits(scores, labels);
    }
    Quality quality(std::span<const double> scores, std::span<const double> labels) const override
    {
        auto quality = usual_->quality(scores, labels);
        if (own_.get() && !labels.empty())
            quality.loss = evaluate(scores.data(), labels.data(), std::ssize(labels), nullptr) /
                           static_cast<double>(labels.size());
        return quality;
    }

private:
    std::unique_ptr<Loss> usual_;
    Object own_;
};

class PythonModel final : public Model {
public:
    /// @param scored_as  what says the loss with which models are scored, for messages; empty: a
    ///                   loss that the user has named, which may be another one than is trained
    PythonModel(Object model, std::unique_ptr<Loss> loss, std::string scored_as,
                std::int64_t per_column, std::int64_t shared, std::int64_t rows_at_once)
        : Model(std::move(loss)), model_(std::move(model)), scored_as_(std::move(scored_as)),
          per_column_(per_column), shared_(shared), rows_at_once_(rows_at_once),
          gradient_(model_.get().attr("loss_and_gradient")), scores_(model_.get().attr("scores")),
          initial_(model_.method("initial", py::module_::import("quorate").attr("Model")))
    {
    }

    std::int64_t per_column() const override { return per_column_; }
    std::int64_t shared_parameters() const override { return shared_; }
    bool linear() const override { return false; }
    std::vector<Layer> layers(std::int64_t columns) const override
    {
        return {{0, 1, 1, parameters(columns)}};
    }
    std::optional<std::vector<double>> initial(std::int64_t columns,
                                               std::uint64_t seed) const override
    {
        if (!initial_.get()) return {};
        const py::gil_scoped_acquire gil;
        const auto ask = [&] {
            const auto w = numbers(initial_.get()(columns, seed), name() + ".initial()",
                                   parameters(columns), "parameters");
            return std::vector<double>(w.data(), w.data() + w.size());
        };
        auto first = ask();
        if (furthest(first, ask()) > 0)  // a replay asks again
            throw BadInput(
                fmt::format("{}.initial() returned two answers for the seed {}: draw from "
                            "numpy.random.default_rng(seed)",
                            name(), seed));
        return first;
    }

    double add_gradient(const RowView& rows, std::span<const double> point, double coefficient,
                        std::span<double> gradient) const override
    {
        const py::gil_scoped_acquire gil;
        // Models say nothing of their mistakes. At the 1st, 2nd, 4th, 8th, ... gradient.
        if (std::has_single_bit(++gradients_))
            check(rows.slice(0, std::min<std::int64_t>(2, rows.rows)), point);
        const auto [loss, own] = loss_and_gradient(rows, point);
        const auto* values = own.data();
        for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += coefficient * values[i];
        return loss;
    }

    void score(const RowView& rows, std::span<const double> point,
               std::span<double> scores) const override
    {
        const py::gil_scoped_acquire gil;
        const auto w = copied(point);
        // A chunk at a time, so that a model meets no more rows at once than when it is trained.
        for (std::int64_t first = 0; first < rows.rows; first += rows_at_once_) {
            const auto part = rows.slice(first, std::min(rows_at_once_, rows.rows - first));
            const auto own = numbers(scores_.get()(matrix(part), w), name() + ".scores()",
                                     part.rows, outputs(), "scores");
            std::copy_n(own.data(), own.size(), scores.begin() + first * outputs());
        }
    }

    std::int64_t chunk_rows(const DataShape&) const override { return rows_at_once_; }

private:
    std::string name() const
    {
        return py::type::of(model_.get()).attr("__name__").cast<std::string>();
    }

    std::pair<double, py::array_t<double>> loss_and_gradient(const RowView& rows,
                                                             std::span<const double> point) const
    {
        const auto labels = std::span(rows.label, static_cast<std::size_t>(rows.rows));
        const py::object returned = gradient_.get()(matrix(rows), copied(labels), copied(point));
        const auto what = name() + ".loss_and_gradient()";
        if (!py::isinstance<py::tuple>(returned) || py::len(returned) != 2)
            throw BadInput(
                fmt::format("{} returned {}: return (loss, gradient), sums over the rows", what,
                            in_short(returned)));
        const auto pair = returned.cast<py::tuple>();
        return {as<double>(pair[0], what, "(loss, gradient) with a number as loss"),
                numbers(pair[1], what, std::ssize(point), "parameters")};
    }

    // Checks on a row or two what would train or score another model than meant, without a message:
    // that loss and gradient depend on the arguments alone, are sums over rows, and that models are
    // scored with that loss.
    void check(const RowView& few, std::span<const double> point) const
    {
        const auto [loss, gradient] = loss_and_gradient(few, point);
        if (few.rows == 2) check_sums(few, point, loss, gradient);
        const auto [again, gradient_again] = loss_and_gradient(few, point);
        if (differ(loss, again, rounding * std::abs(loss)) ||
            differ(span_of(gradient), span_of(gradient_again)))
            throw BadInput(fmt::format(
                "{}.loss_and_gradient() gives the same rows and parameters a loss of {:.6g} and "
                "then {:.6g}, or another gradient: what it returns may depend on its arguments "
                "alone",
                name(), loss, again));
        std::vector<double> scores(static_cast<std::size_t>(few.rows * outputs()));
        auto scores_again = scores;
        score(few, point, scores);
        score(few, point, scores_again);
        if (differ(scores, scores_again))
            throw BadInput(name() +
                           ".scores() returned two answers for the same rows and parameters: what "
                           "it returns may depend on its arguments alone");
        if (!scored_as_.empty()) check_scored(few, scores, loss);
    }

    void check_sums(const RowView& two, std::span<const double> point, double loss,
                    const py::array_t<double>& gradient) const
    {
        const auto [first, of_first] = loss_and_gradient(two.slice(0, 1), point);
        const auto [second, of_second] = loss_and_gradient(two.slice(1, 1), point);
        std::vector<double> sum(point.size());
        std::transform(of_first.data(), of_first.data() + sum.size(), of_second.data(), sum.begin(),
                       std::plus());
        const double size = greatest(span_of(of_first)) + greatest(span_of(of_second));
        const double apart = furthest(span_of(gradient), sum);
        if (differ(loss, first + second, alike * (std::abs(first) + std::abs(second))) ||
            apart > alike * size + tiny)
            throw BadInput(fmt::format(
                "{}.loss_and_gradient() gives two rows a loss of {:.6g}, and each by itself {:.6g} "
                "and {:.6g}; the gradient of two differs by {:.2g} from the sum: return sums over "
                "the rows, no means (of PyTorch: reduction=\"sum\")",
                name(), loss, first, second, apart));
    }

    void check_scored(const RowView& few, const std::vector<double>& scores, double loss) const
    {
        const auto scored = this->loss().evaluate(scores.data(), few.label, few.rows, nullptr);
        if (differ(scored, loss, alike * (std::abs(scored) + std::abs(loss))))
            throw BadInput(fmt::format(
                "{}.loss_and_gradient() returns a loss of {:.6g} for some rows, but {} their "
                "scores, "
                "with which models are scored, is {:.6g}: define loss() as the loss that is "
                "trained, or say another one by loss_name",
                name(), loss, scored_as_, scored));
    }

    // Of what float32 gives, too; and of losses that are nearly zero.
    static constexpr double alike = 0.01, tiny = 1e-9;
    // Of what is computed twice.
    static constexpr double rounding = 1e-6;

    // Not if one is NaN: that is another mistake, which is told elsewhere.
    static bool differ(double a, double b, double most) { return std::abs(a - b) > most + tiny; }

    static bool differ(std::span<const double> one, std::span<const double> other)
    {
        return furthest(one, other) > rounding * greatest(one) + tiny;
    }

    static double greatest(std::span<const double> values)
    {
        double most = 0;
        for (const double value : values) most = std::max(most, std::abs(value));
        return most;
    }

    static double furthest(std::span<const double> one, std::span<const double> other)
    {
        double most = 0;
        for (std::size_t i = 0; i < one.size(); ++i)
            most = std::max(most, std::abs(one[i] - other[i]));
        return most;
    }

    static std::span<const double> span_of(const py::array_t<double>& values)
    {
        return {values.data(), static_cast<std::size_t>(values.size())};
    }

    py::object matrix(const RowView& rows) const
    {
        if (rows.dense)
            return copied(std::span(rows.dense, static_cast<std::size_t>(rows.rows * rows.columns)),
                          {rows.rows, rows.columns});
        const auto begin = rows.start[0], end = rows.start[rows.rows];
        py::array_t<Index> start(rows.rows + 1), column(end - begin);
        for (std::int64_t i = 0; i <= rows.rows; ++i)
            start.mutable_data()[i] = rows.start[i] - begin;
        std::copy(rows.column + begin, rows.column + end, column.mutable_data());
        py::array_t<double> value(end - begin);
        if (rows.value)
            std::copy(rows.value + begin, rows.value + end, value.mutable_data());
        else
            std::fill_n(value.mutable_data(), end - begin, 1.0);
        return py::module_::import("scipy.sparse")
            .attr("csr_matrix")(py::make_tuple(value, column, start),
                                py::arg("shape") = py::make_tuple(rows.rows, rows.columns));
    }

    Object model_;
    std::string scored_as_;
    mutable std::uint64_t gradients_ = 0;  // guarded by Python's lock
    std::int64_t per_column_, shared_, rows_at_once_;
    Object gradient_, scores_, initial_;
};

// How many parameters each column has, and how many no column owns.
std::pair<std::int64_t, std::int64_t> shape_of(const py::object& model, const DataShape& data,
                                               const std::string& name)
{
    const auto parameters = [&](std::int64_t columns) {
        const auto count = as<std::int64_t>(model.attr("parameters")(columns),
                                            name + ".parameters()", "a whole number");
        if (count < 1 && columns > 0)
            throw BadInput(
                fmt::format("{}.parameters({}) is {}: return their number", name, columns, count));
        return count;
    };
    const auto all = parameters(data.columns);
    if (data.dense) return {0, all};
    const auto shared = parameters(0), each = parameters(1) - shared;
    if (each < 1 || shared + each * data.columns != all)
        throw BadInput(fmt::format(
            "{}.parameters() does not grow evenly with the columns, but the data are sparse, and a "
            "worker has only some columns: give each column as many parameters, or use dense data",
            name));
    return {each, shared};
}

}  // namespace

std::unique_ptr<Model> make_model(py::object object, const DataShape& data)
{
    const auto base = py::module_::import("quorate").attr("Model");
    const auto name = py::type::of(object).attr("__name__").cast<std::string>();
    if (!py::isinstance(object, base))
        throw BadInput(name + " is no model: derive it from quorate.Model");
    Object model(std::move(object));
    for (const auto* method : {"parameters", "loss_and_gradient", "scores"})
        if (!model.method(method, base)) throw BadInput(name + " has no " + method + "()");
    const auto [each, shared] = shape_of(model.get(), data, name);
    const py::object named = model.get().attr("loss_name");
    const auto usual = named.is_none() ? usual_loss(data.task) : named.cast<std::string>();
    auto own = model.method("loss", base);
    const auto scored_as = own               ? "what loss() returns for"
                           : named.is_none() ? "the " + usual + " loss of"
                                             : std::string();
    auto loss = std::make_unique<PythonLoss>(loss_of(usual, data), std::move(own));
    const auto rows = as<std::int64_t>(model.get().attr("rows_at_once"), name + ".rows_at_once",
                                       "a whole number");
    if (rows < 1) throw BadInput(fmt::format("{}.rows_at_once is {}: use 1 or more", name, rows));
    return std::make_unique<PythonModel>(std::move(model), std::move(loss), scored_as, each, shared,
                                         rows);
}

}  // namespace quorate::bindings
