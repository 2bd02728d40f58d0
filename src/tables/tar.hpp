// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace quorate {

/// A tar archive, plain or compressed with gzip, bzip2 or xz, which libarchive reads. Local.
class TarArchive {
public:
    /// Lists its files, for which all of it is decompressed once.
    /// @throws BadInput if the file cannot be opened, or is no tar archive, or is damaged
    explicit TarArchive(const std::string& path);
    const std::string& path() const { return path_; }
    /// Names of its files with their folders, in the order of the archive.
    const std::vector<std::string>& names() const { return names_; }
    /// Opens one of them for reading, which decompresses all before it once more. Reading throws an exception of a
    /// library if the data are damaged.
    std::unique_ptr<std::istream> open(const std::string& name) const;

private:
    std::string path_;
    std::vector<std::string> names_;
};

/// Whether a file that begins with these bytes, decompressed, is a tar archive.
bool is_tar(const std::string& bytes);

}  // namespace quorate
