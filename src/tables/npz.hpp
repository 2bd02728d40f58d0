// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "tables/archive.hpp"
#include "tables/npy.hpp"

namespace quorate {

/// An archive of NumPy's arrays, by name. Local.
class Npz {
public:
    /// @param reading  must outlive this object  @throws BadInput as Archive, or if it is no zip
    ///     archive, has no arrays, or is a sparse matrix of SciPy
    Npz(const std::string& path, const Reading& reading);
    const std::string& path() const { return archive_.path(); }
    /// Names of the arrays, in the order of the file.
    const std::vector<std::string>& names() const { return names_; }
    bool has(const std::string& name) const;
    /// @param option  that names an array  @throws BadInput if it is not there
    void require(const std::string& name, const std::string& option) const;
    /// Opens an array that is there. @throws BadInput as NpyReader
    NpyReader open(const std::string& name) const;

private:
    const Reading& reading_;
    Archive archive_;
    std::vector<std::string> names_;
};

}  // namespace quorate
