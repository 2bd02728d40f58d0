// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <limits>
#include <memory>
#include <string>

namespace quorate {

/// Opens a text file, plain or compressed (gzip, bzip2, xz; told by its first bytes, not its name).
/// Damaged or truncated compressed data make reading throw; use reading() around it.
/// @throws BadInput if the file cannot be opened or is empty
std::unique_ptr<std::istream> open_source(const std::string& path);

/// How much may be read, and who is told how much was.
struct Reading {
    std::int64_t max_bytes =
        std::numeric_limits<std::int64_t>::max();           // decompressed, of each file
    std::function<void(std::int64_t bytes)> progress = {};  // since the last call
};

/// The decompressed bytes of a file, in order.
class ByteSource {
public:
    /// @throws BadInput as open_source
    ByteSource(const std::string& path, const Reading& reading);
    /// Reads up to `size` bytes; fewer only at the end of the file.
    /// @throws BadInput if compressed data are damaged, or the file is longer than it may be
    std::size_t read(char* to, std::size_t size);
    /// Reads `count` elements of type T as they stand. @param what  they are, for the message
    /// @throws BadInput if the file ends before
    template <class T>
    void read(T* to, std::size_t count, const std::string& what)
    {
        read_bytes(reinterpret_cast<char*>(to), count * sizeof(T), what);
    }
    /// @throws BadInput unless the file ends here
    void expect_end();
    /// A BadInput "FILE: wrong".
    [[noreturn]] void refuse(const std::string& wrong) const;
    std::int64_t position() const { return position_; }
    const std::string& name() const { return name_; }

private:
    void read_bytes(char* to, std::size_t size, const std::string& what);

    std::string name_;
    const Reading& reading_;
    std::unique_ptr<std::istream> in_;
    std::int64_t position_ = 0;
};

/// A piece of a text file, of whole records.
struct TextBlock {
    std::string text;
    std::int64_t first_line;  // counted from 1
};

/// Cuts a text file into blocks of about a megabyte at line ends, so that several threads can parse it.
class TextBlocks {
public:
    /// @param quoted  line ends inside double quotes do not end a record
    TextBlocks(const std::string& path, const Reading& reading, bool quoted)
        : source_(path, reading), quoted_(quoted)
    {
    }
    /// @return false at the end of the file  @throws BadInput as ByteSource, or for an endless line
    bool next(TextBlock& block);

private:
    std::size_t cut(std::size_t from);

    ByteSource source_;
    bool quoted_, in_quotes_ = false, ended_ = false;
    std::string rest_;
    std::int64_t line_ = 1;
};

/// SHA-256 of the file as it is stored, in hexadecimal. @throws BadInput, Failure
std::string sha256(const std::string& path, std::int64_t bytes = -1);

/// Reads lines and counts them. Accepts CRLF, a UTF-8 byte order mark and a missing final newline.
class Lines {
public:
    /// @param name  of the file, for messages
    /// @param before  lines of the file that came before this stream
    Lines(std::istream& in, std::string name, std::int64_t before = 0)
        : in_(in), name_(std::move(name)), number_(before)
    {
    }
    /// The next line. @throws BadInput if the compressed data behind it are damaged
    bool next(std::string& line);
    /// @throws BadInput "FILE:LINE:COLUMN: wrong"; columns count from 1
    [[noreturn]] void refuse(std::size_t column, const std::string& wrong) const;
    std::int64_t number() const { return number_; }
    const std::string& name() const { return name_; }

private:
    std::istream& in_;
    std::string name_;
    std::int64_t number_;
};

}  // namespace quorate
