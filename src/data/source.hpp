// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <istream>
#include <memory>
#include <string>

namespace quorate {

/// Opens a text file, plain or compressed (gzip, bzip2, xz; told by its first bytes, not its name).
/// Damaged or truncated compressed data make reading throw; use reading() around it.
/// @throws BadInput if the file cannot be opened or is empty
std::unique_ptr<std::istream> open_source(const std::string& path);

/// SHA-256 of the file as it is stored, in hexadecimal. @throws BadInput, Failure
std::string sha256(const std::string& path);

/// Reads lines and counts them. Accepts CRLF, a UTF-8 byte order mark and a missing final newline.
class Lines {
public:
    /// @param name  of the file, for messages
    Lines(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}
    /// The next line. @throws BadInput if the compressed data behind it are damaged
    bool next(std::string& line);
    /// @throws BadInput "FILE:LINE:COLUMN: wrong"; columns count from 1
    [[noreturn]] void refuse(std::size_t column, const std::string& wrong) const;
    std::int64_t number() const { return number_; }
    const std::string& name() const { return name_; }

private:
    std::istream& in_;
    std::string name_;
    std::int64_t number_ = 0;
};

}  // namespace quorate
