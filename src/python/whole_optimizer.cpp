// SPDX-License-Identifier: BSD-2-Clause
#include "python/whole_optimizer.hpp"

#include "base/error.hpp"
#include "python/arrays.hpp"
#include "python/object.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

class WholeOptimizer final : public Optimizer {
public:
    WholeOptimizer(py::object optimizer, std::span<const double> initial)
        : optimizer_(std::move(optimizer)), update_(optimizer_.get().attr("update")),
          vector_(optimizer_.get().attr("begin")(copied(initial)))
    {
        const auto found = find<double>() || find<float>();
        if (!found || w_.size() != initial.size())
            throw BadInput(
                "begin() of the optimizer returned no array of so many numbers, float64 or "
                "float32, that can be written to");
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        ask(estimate, step, next);
    }
    void update_floats(std::span<const float> estimate, double step, std::span<float> next) override
    {
        ask(estimate, step, next);
    }

    ConstNumbers model() const override { return w_; }
    std::vector<Numbers> memory() override { return {w_}; }
    std::string state() const override
    {
        const py::gil_scoped_acquire gil;
        return py::cast<std::string>(py::bytes(optimizer_.get().attr("state")()));
    }
    void set_state(const std::string& state) override
    {
        const py::gil_scoped_acquire gil;
        optimizer_.get().attr("set_state")(py::bytes(state));
    }

private:
    template <class T>
    void ask(std::span<const T> estimate, double step, std::span<T> next)
    {
        const py::gil_scoped_acquire gil;
        update_.get()(lent(estimate), step, lent(next));
        ++updates_;
    }

    // Takes hold of the vector, if it has numbers of this type.
    template <class T>
    bool find()
    {
        if (!py::isinstance<py::array_t<T>>(vector_.get())) return false;
        auto array = py::cast<py::array_t<T>>(vector_.get());
        if (!array.writeable()) return false;
        w_ = std::span(array.mutable_data(), static_cast<std::size_t>(array.size()));
        return true;
    }

    Object optimizer_, update_, vector_;
    Numbers w_;  // of vector_
};

}  // namespace

std::unique_ptr<Optimizer> make_whole_optimizer(py::object optimizer,
                                                std::span<const double> initial,
                                                const Regularizer& regularizer)
{
    if (regularizer.l2 != 0 || regularizer.l1 != 0)
        throw BadInput(
            "the optimizer of a Task has its own regulariser: leave l1 and l2 out, or give it "
            "weight_decay");
    return std::make_unique<WholeOptimizer>(std::move(optimizer), initial);
}

}  // namespace quorate::bindings
