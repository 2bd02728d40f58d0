// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/rule.hpp"

namespace quorate {

namespace {

// What the public ErasureHead and gradient-coding programs call AGD: Nesterov's recursion with the
// gradient taken at w instead of y and u_0 = 0, which is the heavy ball
//   w_{t+1} = w_t + (t-1)/(t+2) (w_t - w_{t-1}) - step g(w_t) - 2 l2 step w_t,   t = 1, 2, ...
// and, at t = 0, w_1 = -step g(w_0) - 2 l2 step w_0: the initial point itself is discarded.
class ErasureHeadAgd final : public Rule {
public:
    using Rule::Rule;

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const double t = static_cast<double>(updates_);
        const double momentum = updates_ > 0 ? (t - 1) / (t + 2) : 0;
        const double kept = (updates_ > 0 ? momentum : -1) + regularizer_.kept(step);
        for_parameters([=, regularizer = regularizer_, w = w_.data(), last = last_.data(),
                        g = estimate.data(), point = next.data()](std::size_t i) {
            const double now =
                regularizer.shrunk(kept * w[i] - momentum * last[i] - step * g[i], step);
            last[i] = w[i];
            point[i] = w[i] = now;
        });
        ++updates_;
    }

    Told retrace(std::span<const double> before, std::span<const double> after,
                 std::span<double> point) override
    {
        const auto told = Rule::retrace(before, after, point);
        if (before.empty()) return told;
        std::ranges::copy(before, last_.begin());
        return Told::state;
    }

    std::vector<Numbers> memory() override { return {w_, last_}; }

private:
    std::vector<double> last_ = std::vector<double>(w_.size(), 0.0);
};

}  // namespace

OptimizerEntry<ErasureHeadAgdOptions> ErasureHeadAgdOptions::entry()
{
    return {
        .name = "agd-eh",
        .text =
            "the AGD of the public ErasureHead code: a heavy ball that discards the initial point",
        .source = "hwang595/approximate_coding_gd; ErasureHead, arXiv 1901.09671",
        .make = make_rule<ErasureHeadAgd>,
        .properties = {.by_curvature = true, .shares = true}};
}

}  // namespace quorate
