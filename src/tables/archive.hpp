// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace quorate {

/// An archive of files, zip, or tar, plain or compressed with gzip, bzip2 or xz, which libarchive
/// reads. Local.
class Archive {
public:
    /// Lists its files. Of a zip archive this reads its directory; a tar archive is decompressed
    /// for it once.
    /// @throws BadInput if the file cannot be opened, or is no such archive, or is damaged
    explicit Archive(const std::string& path);
    const std::string& path() const { return path_; }
    /// Names of its files with their folders, in the order of the archive.
    const std::vector<std::string>& names() const { return names_; }
    /// Opens one of them for reading; of a tar archive, all before it is decompressed once more.
    /// Several may be open at a time. Reading throws BadInput if the data are damaged, which shows
    /// at the end of the file at the latest.
    /// @throws BadInput if it is encrypted
    std::unique_ptr<std::istream> open(const std::string& name) const;

private:
    std::string path_;
    std::vector<std::string> names_;
};

/// Whether a file that begins with these bytes is a zip archive.
bool is_zip(const std::string& bytes);
/// Whether a file that begins with these bytes, decompressed, is a tar archive.
bool is_tar(const std::string& bytes);

/// Opens the one file that a zip archive holds. @return null if the archive holds arrays of NumPy
/// @throws BadInput if it holds no file or several, or as Archive
std::unique_ptr<std::istream> open_only_file(const std::string& path);

}  // namespace quorate
