// SPDX-License-Identifier: BSD-2-Clause
// What passes between C++ and NumPy. Python may keep what it is given, so arrays own their memory.
#pragma once

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <Eigen/Core>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace quorate::bindings {

/// Aligned as Eigen aligns: BLAS may add up in another order where the address of a vector is another
/// one, and replay and simulation must compute the same bits.
using Aligned = std::vector<double, Eigen::aligned_allocator<double>>;

/// Returns an array over a vector that it keeps alive. With the GIL.
/// @param shape  empty: that of a vector
template <class Vector>
pybind11::array_t<typename Vector::value_type> shared(std::shared_ptr<Vector> values,
                                                      std::vector<pybind11::ssize_t> shape = {})
{
    if (shape.empty()) shape = {static_cast<pybind11::ssize_t>(values->size())};
    auto* const data = values->data();
    const pybind11::capsule owner(new std::shared_ptr<Vector>(std::move(values)),
                                  [](void* p) { delete static_cast<std::shared_ptr<Vector>*>(p); });
    return pybind11::array_t<typename Vector::value_type>(std::move(shape), data, owner);
}

/// Returns an aligned copy that Python may read and keep. With the GIL.
inline pybind11::array_t<double> copied(std::span<const double> values,
                                        std::vector<pybind11::ssize_t> shape = {})
{
    auto array = shared(std::make_shared<Aligned>(values.begin(), values.end()), std::move(shape));
    array.attr("flags").attr("writeable") = false;
    return array;
}

/// Turns what Python returned into a C++ value. With the GIL.
/// @param what    returned it, for the message: "Model.parameters()"
/// @param wanted  in words: "a whole number"
/// @throws BadInput if it is something else
template <class T>
T as(const pybind11::handle& returned, const std::string& what, const char* wanted)
{
    if (pybind11::detail::make_caster<T> caster; caster.load(returned, true) && !returned.is_none())
        return pybind11::detail::cast_op<T>(caster);
    throw BadInput(fmt::format("{} returned {}: return {}", what,
                               pybind11::repr(returned).cast<std::string>().substr(0, 80), wanted));
}

/// Returns numbers that Python returned, row by row. With the GIL.
/// @param count  how many there must be  @param meaning  of them, for the message
/// @throws BadInput if they are others
inline pybind11::array_t<double> numbers(const pybind11::object& returned, const std::string& what,
                                         std::int64_t count, const char* meaning)
{
    const auto array = pybind11::array::ensure(returned);
    if (!array || (array.dtype().kind() != 'f' && array.dtype().kind() != 'i'))
        throw BadInput(fmt::format("{} returned {}: return an array of {} {}", what,
                                   pybind11::repr(pybind11::type::of(returned)).cast<std::string>(),
                                   count, meaning));
    if (array.size() != count)
        throw BadInput(fmt::format("{} returned {} numbers where there are {} {}", what,
                                   array.size(), count, meaning));
    return pybind11::array_t<double, pybind11::array::c_style | pybind11::array::forcecast>(array);
}

}  // namespace quorate::bindings
