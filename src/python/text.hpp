// SPDX-License-Identifier: BSD-2-Clause
// Text between C++ and Python. C++ has bytes: names of files, and words of them, need not be UTF-8.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

namespace quorate::bindings {

/// Text that keeps its bytes on the way to Python and back: those that are no UTF-8 become what
/// Python makes of them in names of files (surrogateescape). pybind11 refuses them in std::string.
class Text : public std::string {
public:
    Text() = default;
    Text(std::string text) : std::string(std::move(text)) {}
};

/// Returns text to be shown: bytes that are no UTF-8 are replaced. With the GIL.
inline pybind11::str shown(const std::string& text)
{
    auto* const made =
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
    if (made == nullptr) throw pybind11::error_already_set();
    return pybind11::reinterpret_steal<pybind11::str>(made);
}

}  // namespace quorate::bindings

namespace pybind11::detail {

template <>
struct type_caster<quorate::bindings::Text> {
    PYBIND11_TYPE_CASTER(quorate::bindings::Text, const_name("str"));

    bool load(handle from, bool)
    {
        object bytes;
        if (PyUnicode_Check(from.ptr()))
            bytes = reinterpret_steal<object>(
                PyUnicode_AsEncodedString(from.ptr(), "utf-8", "surrogateescape"));
        else if (PyBytes_Check(from.ptr()))
            bytes = reinterpret_borrow<object>(from);
        if (!bytes) {
            PyErr_Clear();
            return false;
        }
        value = std::string(PyBytes_AS_STRING(bytes.ptr()),
                            static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr())));
        return true;
    }
    static handle cast(const quorate::bindings::Text& text, return_value_policy, handle)
    {
        auto* const made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                                                "surrogateescape");
        if (made == nullptr) throw error_already_set();
        return made;
    }
};

}  // namespace pybind11::detail
