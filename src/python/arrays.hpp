// SPDX-License-Identifier: BSD-2-Clause
// Arrays that C++ and NumPy share without a copy.
#pragma once

#include <pybind11/numpy.h>

#include <span>
#include <vector>

namespace quorate::bindings {

/// Returns values as an array that Python may read, while they live. With the GIL.
inline pybind11::array_t<double> view(std::span<const double> values)
{
    pybind11::array_t<double> array(static_cast<pybind11::ssize_t>(values.size()), values.data(),
                                    pybind11::none());
    pybind11::detail::array_proxy(array.ptr())->flags &=
        ~pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
}

/// Returns values as an array that Python may change, while they live. With the GIL.
inline pybind11::array_t<double> view(std::span<double> values)
{
    return pybind11::array_t<double>(static_cast<pybind11::ssize_t>(values.size()), values.data(),
                                     pybind11::none());
}

/// Hands a vector over to an array. With the GIL.
template <class T>
pybind11::array_t<T> owned(std::vector<T> values, std::vector<pybind11::ssize_t> shape = {})
{
    auto* const kept = new std::vector<T>(std::move(values));
    const pybind11::capsule owner(kept, [](void* p) { delete static_cast<std::vector<T>*>(p); });
    if (shape.empty()) shape = {static_cast<pybind11::ssize_t>(kept->size())};
    return pybind11::array_t<T>(shape, kept->data(), owner);
}

}  // namespace quorate::bindings
