// SPDX-License-Identifier: BSD-2-Clause
// Python objects in the hands of C++, which may copy and drop them on any thread, with or without
// the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

namespace quorate::bindings {

/// Holds a Python object. Takes the GIL to let go of it.
class Object {
public:
    /// With the GIL.
    explicit Object(pybind11::object object) : object_(std::move(object)) {}
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    Object(Object&&) = default;
    Object& operator=(Object&&) = delete;
    ~Object()
    {
        if (!object_) return;
        if (Py_IsInitialized() == 0) {
            object_.release();
            return;
        }
        const pybind11::gil_scoped_acquire gil;
        object_ = pybind11::object();
    }

    const pybind11::object& get() const { return object_; }
    /// Returns a method, bound to the object; nothing if its class does not define it anew.
    /// @param base  the class that declares it  With the GIL.
    pybind11::object method(const char* name, const pybind11::handle& base) const
    {
        const auto own = pybind11::getattr(pybind11::type::of(object_), name);
        return own.is(pybind11::getattr(base, name)) ? pybind11::object()
                                                     : pybind11::getattr(object_, name);
    }

private:
    pybind11::object object_;
};

}  // namespace quorate::bindings
