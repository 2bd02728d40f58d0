// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "optimizer/rule.hpp"

namespace quorate {

namespace {

constexpr double below_one = 1 - 1e-15;

// m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2,   step_t = step sqrt(1 - b2^t) / (1 - b1^t),
// w <- prox((1 - step decay) w - step_t m / (sqrt(v) + 1e-8)), t from 1, with g + 2 l2 w for g. The
// proximal step is taken with the step of all parameters, not of each.
// @tparam keeps_most  whether the largest v so far takes the place of v in the step
template <bool keeps_most>
class Moments final : public Rule {
public:
    Moments(const AdamOptions& given, double decay, std::vector<double> initial,
            const Regularizer& regularizer)
        : Rule(std::move(initial), regularizer), given_(given), decay_(decay), m_(w_.size(), 0.0),
          v_(w_.size(), 0.0), most_(keeps_most ? w_.size() : 0, 0.0)
    {
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const auto t = static_cast<double>(++updates_);
        const auto [beta1, beta2] = given_;
        const double scaled = step * std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
        for_parameters([=, beta1 = beta1, beta2 = beta2, kept = 1 - step * decay_,
                        regularizer = regularizer_, w = w_.data(), m = m_.data(), v = v_.data(),
                        most = most_.data(), estimate = estimate.data(),
                        point = next.data()](std::size_t i) {
            const double g = estimate[i] + 2 * regularizer.l2 * w[i];
            m[i] = beta1 * m[i] + (1 - beta1) * g;
            v[i] = beta2 * v[i] + (1 - beta2) * g * g;
            double square = v[i];
            if constexpr (keeps_most) square = most[i] = std::max(most[i], square);
            const double moved = kept * w[i] - scaled * m[i] / (std::sqrt(square) + 1e-8);
            point[i] = w[i] = regularizer.shrunk(moved, step);
        });
    }

    std::vector<Numbers> memory() override
    {
        if constexpr (keeps_most) return {w_, m_, v_, most_};
        return {w_, m_, v_};
    }

private:
    AdamOptions given_;
    double decay_;
    std::vector<double> m_, v_, most_;
};

OptionRow kept_gradients()
{
    return {{"beta1", "B", "0.9", "share of the mean of gradients that is kept"},
            {.highest = below_one}};
}

OptionRow kept_squares()
{
    return {{"beta2", "B", "0.999", "share of the mean of squares that is kept"},
            {.highest = below_one}};
}

}  // namespace

OptimizerEntry<AdamOptions> AdamOptions::entry()
{
    return {
        .name = "adam",
        .text = "running means of gradients and of their squares",
        .source = "Kingma and Ba 2015, in the form of TensorFlow",
        .options = {{&AdamOptions::beta1, kept_gradients()}, {&AdamOptions::beta2, kept_squares()}},
        .make =
            [](const AdamOptions& given, std::vector<double> initial, const Regularizer& l) {
                return std::make_unique<Moments<false>>(given, 0, std::move(initial), l);
            },
        .properties = {.step = 0.001, .shares = true}};
}

OptimizerEntry<AdamWOptions> AdamWOptions::entry()
{
    return {.name = "adamw",
            .text = "adam, and beside it all parameters shrink by step times --weight-decay",
            .source = "Loshchilov and Hutter, Decoupled weight decay regularization, ICLR 2019",
            .options = {{&AdamWOptions::beta1, kept_gradients()},
                        {&AdamWOptions::beta2, kept_squares()},
                        {&AdamWOptions::weight_decay,
                         {"weight-decay", "W", "0.01", "of adamw, no part of the objective"}}},
            .make =
                [](const AdamWOptions& given, std::vector<double> initial, const Regularizer& l) {
                    return std::make_unique<Moments<false>>(AdamOptions{given.beta1, given.beta2},
                                                            given.weight_decay, std::move(initial),
                                                            l);
                },
            .properties = {.step = 0.001, .shares = true}};
}

OptimizerEntry<AmsgradOptions> AmsgradOptions::entry()
{
    return {.name = "amsgrad",
            .text = "adam with the largest mean of squares so far",
            .source = "Reddi, Kale, Kumar, On the convergence of Adam and beyond, ICLR 2018",
            .options = {{&AmsgradOptions::beta1, kept_gradients()},
                        {&AmsgradOptions::beta2, kept_squares()}},
            .make =
                [](const AmsgradOptions& given, std::vector<double> initial, const Regularizer& l) {
                    return std::make_unique<Moments<true>>(AdamOptions{given.beta1, given.beta2}, 0,
                                                           std::move(initial), l);
                },
            .properties = {.step = 0.001, .shares = true}};
}

}  // namespace quorate
