// SPDX-License-Identifier: BSD-2-Clause
// What passes between C++ and NumPy. Users may keep what they get, so these arrays own their
// memory.
#pragma once

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <Eigen/Core>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "python/text.hpp"

namespace quorate::bindings {

/// Aligned as Eigen aligns: BLAS may add up in another order where the address of a vector is
/// another one, and replay and simulation must compute the same bits.
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

/// Lends Python numbers for the time of one call: an array over memory that it must not keep, and
/// not write to if they are const. With the GIL.
template <class Number>
pybind11::array_t<std::remove_const_t<Number>> lent(std::span<Number> values)
{
    const pybind11::capsule nobody(values.data(), [](void*) {});
    return pybind11::array_t<std::remove_const_t<Number>>(
        static_cast<pybind11::ssize_t>(values.size()), values.data(), nobody);
}

/// A value of Python in one short line, for messages: of an array its shape. With the GIL.
inline std::string in_short(const pybind11::handle& value)
{
    return pybind11::module_::import("quorate._arrays").attr("shown")(value).cast<Text>();
}

/// A number of Python. Complex numbers, durations and masked elements are none, though their
/// conversion to a double would drop what they are beside and say nothing.
struct Real {
    double value = 0;
    operator double() const { return value; }
};

/// Whether the conversion of an object, or of an array's elements, to numbers drops nothing. With
/// the GIL.
inline bool is_real(const pybind11::handle& object)
{
    if (PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr())) return true;
    if (PyComplex_Check(object.ptr())) return false;
    if (!pybind11::hasattr(object, "dtype")) return true;
    const auto kind = pybind11::str(object.attr("dtype").attr("kind")).cast<std::string>();
    if (std::string("biuf").find(kind) == std::string::npos) return false;
    return !pybind11::hasattr(object, "mask") ||
           !pybind11::module_::import("numpy.ma").attr("is_masked")(object).cast<bool>();
}

}  // namespace quorate::bindings

namespace pybind11::detail {

template <>
struct type_caster<quorate::bindings::Real> {
    PYBIND11_TYPE_CASTER(quorate::bindings::Real, const_name("float"));

    bool load(handle from, bool convert)
    {
        make_caster<double> number;
        if (!quorate::bindings::is_real(from) || !number.load(from, convert)) return false;
        value.value = cast_op<double>(number);
        return true;
    }
};

}  // namespace pybind11::detail

namespace quorate::bindings {

/// Turns what Python returned into a C++ value. With the GIL.
/// @param what    returned it, for the message: "Model.parameters()"
/// @param wanted  in words: "a whole number"
/// @throws BadInput if it is something else
template <class T>
T as(const pybind11::handle& returned, const std::string& what, const char* wanted)
{
    using Loaded = std::conditional_t<std::is_same_v<T, double>, Real, T>;
    // pybind11 would cut numbers off that are no Python float.
    const bool whole = !std::is_integral_v<T> || PyIndex_Check(returned.ptr());
    pybind11::detail::make_caster<Loaded> caster;
    if (!returned.is_none() && whole && caster.load(returned, true))
        return pybind11::detail::cast_op<Loaded>(caster);
    throw BadInput(fmt::format("{} returned {}: return {}", what, in_short(returned), wanted));
}

/// Returns numbers that Python returned, row by row. With the GIL.
/// @param wanted  in words: "an array of weights"
/// @throws BadInput if it is something else
inline pybind11::array_t<double> numbers(const pybind11::object& returned, const std::string& what,
                                         const std::string& wanted)
{
    const auto array = pybind11::array::ensure(returned);
    if (!array || !is_real(array) || !is_real(returned))
        throw BadInput(fmt::format("{} returned {}: return {}", what, in_short(returned), wanted));
    return pybind11::array_t<double, pybind11::array::c_style | pybind11::array::forcecast>(array);
}

/// Likewise. @param count  how many there must be  @param meaning  of them, for the message
/// @throws BadInput if they are others
inline pybind11::array_t<double> numbers(const pybind11::object& returned, const std::string& what,
                                         std::int64_t count, const char* meaning)
{
    auto array = numbers(returned, what, fmt::format("an array of {} {}", count, meaning));
    if (array.size() != count)
        throw BadInput(fmt::format("{} returned {} numbers where there are {} {}", what,
                                   array.size(), count, meaning));
    return array;
}

/// Likewise, with rows of several numbers. @throws BadInput also if the array is transposed
inline pybind11::array_t<double> numbers(const pybind11::object& returned, const std::string& what,
                                         std::int64_t rows, std::int64_t columns,
                                         const char* meaning)
{
    auto array = numbers(returned, what, rows * columns, meaning);
    if (rows > 1 && columns > 1 && array.shape(0) != rows)
        throw BadInput(
            fmt::format("{} returned an array whose first dimension is {}: return {} x {} {}", what,
                        array.shape(0), rows, columns, meaning));
    return array;
}

}  // namespace quorate::bindings
