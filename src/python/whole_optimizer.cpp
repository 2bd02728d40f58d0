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
        if (!py::isinstance<py::array_t<double>>(vector_.get()))
            throw BadInput("begin() of the optimizer returned no array of doubles");
        const auto array = py::cast<py::array_t<double>>(vector_.get());
        if (static_cast<std::size_t>(array.size()) != initial.size())
            throw BadInput("begin() of the optimizer returned a vector of another length");
        w_ = {static_cast<double*>(array.request(true).ptr), initial.size()};
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const py::gil_scoped_acquire gil;
        update_.get()(lent(estimate), step, lent(next));
        ++updates_;
    }

    std::span<const double> model() const override { return w_; }
    std::vector<std::span<double>> memory() override { return {w_}; }
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
    Object optimizer_, update_, vector_;
    std::span<double> w_;  // of vector_
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
