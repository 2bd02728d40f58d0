// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <istream>
#include <limits>
#include <memory>
#include <string>

namespace quorate {

/// Opens a file for reading, plain or compressed with gzip, bzip2 or xz, or the one file of a zip
/// archive (but not arrays of NumPy), which its first bytes tell and not its name. Text in UTF-16
/// with a byte order mark is read as UTF-8. If compressed data are damaged or truncated, reading
/// from the stream throws an exception of the library; ByteSource turns it into BadInput.
/// @throws BadInput if the file cannot be opened, is empty, is a folder, a device or a pipe, or
/// holds several files, or is not the text in UTF-16 that its first bytes say it is
std::unique_ptr<std::istream> open_source(const std::string& path);

/// How much may be read, and whom to tell how much has been read.
struct Reading {
    std::int64_t max_bytes =
        std::numeric_limits<std::int64_t>::max();  // decompressed, of each file
    std::function<void(std::int64_t bytes)> progress =
        {};  // called with the bytes since the last call; may be empty
};

/// Reads the decompressed bytes of a file in order. Local.
class ByteSource {
public:
    /// @param reading  must outlive this object  @throws BadInput as open_source()
    ByteSource(const std::string& path, const Reading& reading);
    /// Reads from a stream that throws exceptions of a library if its data are damaged.
    /// @param name  of the file, for messages
    ByteSource(std::unique_ptr<std::istream> in, std::string name, const Reading& reading)
        : name_(std::move(name)), reading_(reading), in_(std::move(in))
    {
    }
    /// Reads up to `size` bytes. @return how many; fewer only at the end of the file
    /// @throws BadInput if compressed data are damaged, or the file is longer than
    ///     reading.max_bytes
    std::size_t read(char* to, std::size_t size);
    /// Reads `count` elements of type T as they stand in the file.
    /// @param what  they are, for the message
    /// @throws BadInput if the file ends before, or as above
    template <class T>
    void read(T* to, std::size_t count, const std::string& what)
    {
        read_bytes(reinterpret_cast<char*>(to), count * sizeof(T), what);
    }
    /// Reads a number that is stored with its most significant byte first. Likewise.
    template <class T>
    T big_endian(const std::string& what)
    {
        std::array<char, sizeof(T)> bytes;
        read(bytes.data(), sizeof(T), what);
        if (std::endian::native == std::endian::little) std::ranges::reverse(bytes);
        return std::bit_cast<T>(bytes);
    }
    /// Whether the file ends here. No if what follows is damaged: who reads it gets the refusal.
    bool at_end();
    /// Checks that the file ends here. @throws BadInput if it does not
    void expect_end();
    /// Throws BadInput "FILE is wrong".
    [[noreturn]] void refuse(const std::string& wrong) const;
    /// Decompressed bytes read so far.
    std::int64_t position() const { return position_; }
    const std::string& name() const { return name_; }

private:
    void read_bytes(char* to, std::size_t size, const std::string& what);

    std::string name_;
    const Reading& reading_;
    std::unique_ptr<std::istream> in_;
    std::int64_t position_ = 0;
};

/// A piece of a text file that holds whole records. Lines end with LF.
struct TextBlock {
    std::string text;
    std::int64_t first_line = 1;  // its number in the file
};

/// Makes LF of all ends of lines, CRLF and CR, behind a place in a text.
/// @param after_cr  whether a CR stands before the place, or at the end of the text then
void end_lines_alike(std::string& text, std::size_t from, bool& after_cr);

/// Cuts a text file into blocks of about a megabyte at the ends of records, so that several threads
/// can parse it. Ends of lines are LF, CRLF or CR in the file, and LF in the blocks; a UTF-8 byte
/// order mark is left out. Local.
class TextBlocks {
public:
    /// @param quoted  whether line ends inside double quotes belong to a record
    /// @throws BadInput as open_source()
    TextBlocks(const std::string& path, const Reading& reading, bool quoted)
        : source_(path, reading), quoted_(quoted)
    {
    }
    /// Reads the next block. @return false at the end of the file
    /// @throws BadInput as ByteSource::read(), or if a record is longer than 128 MiB
    bool next(TextBlock& block);
    /// Reads all that is left as one block. @throws BadInput as next()
    TextBlock rest();

private:
    std::size_t cut(std::size_t from);

    ByteSource source_;
    bool quoted_, in_quotes_ = false, ended_ = false, after_cr_ = false;
    std::string rest_;       // read, but not yet in a block
    std::int64_t line_ = 1;  // the first line of that
};

/// Reads the lines of a block of text, and counts them.
class Lines {
public:
    /// @param name  of the file, for messages
    Lines(TextBlock&& block, std::string name)
        : text_(std::move(block.text)), name_(std::move(name)), number_(block.first_line - 1)
    {
    }
    /// Reads the next line, without its end. @return false at the end of the text
    bool next(std::string& line);
    /// Throws BadInput "FILE:LINE:COLUMN: wrong" with the number of the last line.
    /// @param column  of the character, from 1
    [[noreturn]] void refuse(std::size_t column, const std::string& wrong) const;
    /// The number of the last line in the file, from 1.
    std::int64_t number() const { return number_; }
    const std::string& name() const { return name_; }

private:
    std::string text_, name_;
    std::size_t at_ = 0;
    std::int64_t number_;
};

}  // namespace quorate
