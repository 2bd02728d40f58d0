// SPDX-License-Identifier: BSD-2-Clause
#include "hdf5/error.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include "base/error.hpp"

namespace quorate::h5 {

namespace {

std::string between(const std::string& text, const std::string& before, const std::string& after)
{
    const auto at = text.find(before);
    if (at == std::string::npos) return "";
    const auto first = at + before.size();
    return text.substr(first, text.find(after, first) - first);
}

}  // namespace

std::string reason()
{
    std::string cause;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned depth, const H5E_error2_t* error, void* text) {
            if (depth == 0 && error->desc) *static_cast<std::string*>(text) = error->desc;
            return herr_t{0};
        },
        &cause);
    const auto file = between(cause, "filename = '", "'");
    const auto why = between(cause, "error message = '", "'");
    if (!file.empty() && !why.empty()) return fmt::format("{}: {}", file, why);
    return cause;
}

void check(std::int64_t status, const std::string& what)
{
    if (status >= 0) return;
    const auto why = reason();
    throw Failure(fmt::format("HDF5: cannot {}{}{}", what, why.empty() ? "" : ": ", why));
}

}  // namespace quorate::h5
