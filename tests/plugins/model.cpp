// SPDX-License-Identifier: BSD-2-Clause
// A model as a plugin: a linear one with a loss of its own.
#include <cmath>
#include <quorate/quorate.hpp>

namespace {

using namespace quorate;

// log cosh(z - y): like a square near zero, like the distance far from it.
class LogCosh final : public Loss {
public:
    double curvature() const override { return 1; }
    double evaluate(const double* scores, const double* labels, std::int64_t rows,
                    double* weights) const override
    {
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            const double distance = std::abs(scores[i] - labels[i]);
            sum += distance + std::log1p(std::exp(-2 * distance)) - std::log(2.0);
            if (weights) weights[i] = std::tanh(scores[i] - labels[i]);
        }
        return sum;
    }
    double hits(std::span<const double> scores, std::span<const double> labels) const override
    {
        double sum = 0;
        for (std::size_t i = 0; i < scores.size(); ++i) sum += scores[i] * labels[i] > 0 ? 1 : 0;
        return sum;
    }
    Quality quality(std::span<const double> scores, std::span<const double> labels) const override
    {
        Quality quality;
        const auto rows = static_cast<std::int64_t>(labels.size());
        if (rows == 0) return quality;
        const auto count = static_cast<double>(rows);
        quality.loss = evaluate(scores.data(), labels.data(), rows, nullptr) / count;
        quality.accuracy = hits(scores, labels) / count;
        return quality;
    }
};

void add()
{
    add_model({"log-cosh",
               "",
               "log cosh of the distance",
               "a test",
               {},
               [](const Settings&, const DataShape&) {
                   return std::make_unique<LinearModel>(std::make_unique<LogCosh>());
               }});
}

}  // namespace

QUORATE_PLUGIN(add)
