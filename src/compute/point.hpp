// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <vector>

namespace quorate {

/// A published point: the whole parameter vector, shared and never changed.
using Point = std::shared_ptr<const std::vector<double>>;
using PointList = boost::container::small_vector<Point, 1>;

}  // namespace quorate
