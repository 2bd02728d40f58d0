// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace quorate {

/// An archive of files, stored or deflated, with 64-bit sizes if need be. Local. Format: PKWARE,
/// APPNOTE.TXT 6.3.
class ZipArchive {
public:
    /// A file in it.
    struct Member {
        std::string name;
        std::int64_t size, packed, header;  // bytes; header: where it begins
        std::uint32_t crc;
        int method;  // 0: stored, 8: deflated
    };

    /// Reads the directory at the end of the file.
    /// @throws BadInput if the file cannot be opened, or is no zip archive, or is truncated
    explicit ZipArchive(const std::string& path);
    const std::string& path() const { return path_; }
    const std::vector<Member>& members() const { return members_; }
    /// Opens a member for reading. Several may be open at a time. Reading throws an exception of a
    /// library if the data are damaged, which shows at the end of the member at the latest.
    /// @throws BadInput if it is encrypted or packed in another way, or not where it should be
    std::unique_ptr<std::istream> open(const Member& member) const;

private:
    std::string path_;
    std::vector<Member> members_;
};

/// Whether a file that begins with these bytes is a zip archive.
bool is_zip(const std::string& bytes);

/// Opens the one file that a zip archive holds. @return null if the archive holds arrays of NumPy
/// @throws BadInput if it holds no file or several, or as ZipArchive
std::unique_ptr<std::istream> open_only_file(const std::string& path);

}  // namespace quorate
