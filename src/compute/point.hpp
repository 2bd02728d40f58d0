// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <memory_resource>

#include "base/numbers.hpp"

namespace quorate {

/// A published point: the whole parameter vector, shared and never changed.
using Point = std::shared_ptr<const NumberVector>;
using PointList = boost::container::small_vector<Point, 1>;

/// Memory for points that workers may read where it is.
class PointMemory : public std::pmr::memory_resource {
public:
    /// Whether a worker may still read the point that begins here, so that it must not change.
    virtual bool is_read(const void* point) const = 0;
};

}  // namespace quorate
