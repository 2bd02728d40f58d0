// SPDX-License-Identifier: BSD-2-Clause
#include "engine/vectors.hpp"

#include <Eigen/Core>

namespace quorate {

namespace {

template <class Vector, class Value>
Eigen::Map<Vector> map(std::span<Value> x)
{
    return {x.data(), static_cast<Eigen::Index>(x.size())};
}

}  // namespace

void divide(std::span<double> x, double divisor) { map<Eigen::VectorXd>(x) /= divisor; }

double inner_product(std::span<const double> x, std::span<const double> y)
{
    return map<const Eigen::VectorXd>(x).dot(map<const Eigen::VectorXd>(y));
}

}  // namespace quorate
