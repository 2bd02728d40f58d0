// SPDX-License-Identifier: BSD-2-Clause
#include "tables/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/endian/conversion.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <boost/locale/encoding_utf.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/path.hpp"
#include "tables/archive.hpp"

namespace quorate {

namespace {

namespace io = boost::iostreams;
using boost::endian::order;

constexpr std::size_t longest_line = 128 << 20;  // bytes

// A stream that owns the file beneath its filters.
class Source : public io::filtering_istream {
public:
    explicit Source(std::ifstream file) : file_(std::move(file)) {}
    ~Source() override { reset(); }
    std::ifstream& file() { return file_; }

private:
    std::ifstream file_;
};

// Undoes compression.
std::unique_ptr<std::istream> open_decompressed(const std::string& path)
{
    auto source = std::make_unique<Source>(open_file(path));
    std::array<char, 6> head{};
    source->file().read(head.data(), head.size());
    const std::string_view first(head.data(), static_cast<std::size_t>(source->file().gcount()));
    if (first.empty()) throw BadInput(path + " is empty: give a file with data");
    source->file().clear();
    source->file().seekg(0);
    if (first.starts_with("\x1f\x8b"))
        source->push(io::gzip_decompressor());
    else if (first.starts_with("BZh"))
        source->push(io::bzip2_decompressor());
    else if (first == std::string_view("\xfd"
                                       "7zXZ\0",
                                       6))
        source->push(io::lzma_decompressor());
    else if (is_zip(std::string(first)))
        if (auto file = open_only_file(path)) return file;
    source->push(source->file());
    // Without exceptions an error in the compressed data would look like the end of the file.
    source->exceptions(std::ios::badbit);
    return source;
}

// Reads up to so many bytes. Damaged data end early; who reads them for good will see it.
std::string beginning_of(std::istream& in, std::size_t count)
{
    std::string bytes(count, '\0');
    try {
        in.read(bytes.data(), std::ssize(bytes));
    } catch (const std::exception&) {
    }
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
}

// Reads text in an encoding of wide letters, as spreadsheets write it, and gives it as UTF-8
// without the byte order mark. It is held in memory.
template <class Letter, order Order>
std::unique_ptr<std::istream> as_utf8(std::unique_ptr<std::istream> in, const std::string& path,
                                      const char* name)
{
    constexpr std::size_t most = 1 << 30, size = sizeof(Letter);
    const Reading reading;
    ByteSource source(std::move(in), path, reading);
    std::string bytes, piece(1 << 20, '\0');
    while (const auto count = source.read(piece.data(), piece.size())) {
        bytes.append(piece, 0, count);
        if (bytes.size() > most)
            source.refuse(
                fmt::format("{} text of more than {} MB: save it as UTF-8", name, most >> 20));
    }
    std::basic_string<Letter> letters;
    for (std::size_t at = size; at + size <= bytes.size(); at += size)
        letters += boost::endian::endian_load<Letter, size, Order>(
            reinterpret_cast<const unsigned char*>(bytes.data() + at));
    try {
        if (bytes.size() % size != 0) throw boost::locale::conv::conversion_error();
        return std::make_unique<std::istringstream>(
            boost::locale::conv::utf_to_utf<char>(letters, boost::locale::conv::stop));
    } catch (const boost::locale::conv::conversion_error&) {
        source.refuse(
            fmt::format("no {} text, which its first bytes say it is: save it as UTF-8", name));
    }
}

}  // namespace

std::unique_ptr<std::istream> open_source(const std::string& path)
{
    // That of UTF-32BE may begin an image of CIFAR-10.
    const auto mark = beginning_of(*open_decompressed(path), 4);
    auto in = open_decompressed(path);
    if (mark == std::string_view("\xff\xfe\0\0", 4))
        return as_utf8<char32_t, order::little>(std::move(in), path, "UTF-32LE");
    if (mark.starts_with("\xff\xfe"))
        return as_utf8<char16_t, order::little>(std::move(in), path, "UTF-16LE");
    if (mark.starts_with("\xfe\xff"))
        return as_utf8<char16_t, order::big>(std::move(in), path, "UTF-16BE");
    return in;
}

ByteSource::ByteSource(const std::string& path, const Reading& reading)
    : name_(path), reading_(reading), in_(open_source(path))
{
}

std::size_t ByteSource::read(char* to, std::size_t size)
{
    try {
        in_->read(to, static_cast<std::streamsize>(size));
    } catch (const BadInput&) {
        throw;
    } catch (const boost::iostreams::gzip_error& error) {
        // Zeros behind the last member are common: some tools fill up blocks with them.
        if (error.error() == boost::iostreams::gzip::bad_header)
            refuse(
                "damaged, or followed by bytes that are no gzip data: make it again with gunzip -c "
                "and gzip");
        refuse(fmt::format("damaged or truncated: its compressed data end wrongly after byte {}",
                           position_));
    } catch (const std::exception&) {
        refuse(fmt::format("damaged or truncated: its compressed data end wrongly after byte {}",
                           position_));
    }
    const auto count = in_->gcount();
    position_ += count;
    if (position_ > reading_.max_bytes)
        refuse(fmt::format("more than --max-bytes {} when decompressed: allow more if it is meant",
                           reading_.max_bytes));
    if (reading_.progress) reading_.progress(count);
    return static_cast<std::size_t>(count);
}

void ByteSource::read_bytes(char* to, std::size_t size, const std::string& what)
{
    const auto began = position_;
    if (read(to, size) < size)
        refuse(fmt::format("truncated: it ends after {} bytes, inside {} that begins at byte {}",
                           position_, what, began));
}

bool ByteSource::at_end()
{
    try {
        return in_->peek() == std::istream::traits_type::eof();
    } catch (const std::exception&) {
        return false;  // what is damaged is refused when it is read
    }
}

void ByteSource::expect_end()
{
    char more = 0;
    if (read(&more, 1) > 0)
        refuse(fmt::format("longer than it says: more follows after byte {}", position_ - 1));
}

void ByteSource::refuse(const std::string& wrong) const
{
    throw BadInput(fmt::format("{} is {}", name_, wrong));
}

bool TextBlocks::next(TextBlock& block)
{
    constexpr std::size_t size = 1 << 20;
    block.first_line = line_;
    in_quotes_ = false;
    std::size_t looked = 0, end = 0;
    while (end == 0 && !ended_) {
        const auto before = rest_.size();
        if (before > longest_line)
            source_.refuse(fmt::format("no text of rows: line {} is longer than {} MB", line_,
                                       longest_line >> 20));
        rest_.resize(before + size);
        const auto count = source_.read(rest_.data() + before, size);
        rest_.resize(before + count);
        ended_ = count < size;
        if (line_ == 1 && before == 0 && rest_.starts_with("\xef\xbb\xbf")) rest_.erase(0, 3);
        end_lines_alike(rest_, before, after_cr_);
        end = cut(looked);
        looked = rest_.size();
    }
    if (ended_) end = rest_.size();
    block.text = rest_.substr(end);
    std::swap(block.text, rest_);
    block.text.resize(end);
    line_ += std::ranges::count(block.text, '\n');
    return !block.text.empty();
}

TextBlock TextBlocks::rest()
{
    TextBlock all, more;
    next(all);
    while (next(more)) all.text += more.text;
    return all;
}

void end_lines_alike(std::string& text, std::size_t from, bool& after_cr)
{
    const auto first = text.begin() + static_cast<std::ptrdiff_t>(from);
    if (!after_cr && std::find(first, text.end(), '\r') == text.end()) return;
    auto to = first;
    for (auto at = first; at != text.end(); ++at) {
        const bool ended = std::exchange(after_cr, *at == '\r');
        if (!(ended && *at == '\n')) *to++ = after_cr ? '\n' : *at;
    }
    text.erase(to, text.end());
}

// Returns the place behind the last line end that ends a record; 0 if there is none. Looks only at
// what was added from `from` on.
std::size_t TextBlocks::cut(std::size_t from)
{
    if (!quoted_) {
        const auto found = std::string_view(rest_).substr(from).rfind('\n');
        return found == std::string_view::npos ? 0 : from + found + 1;
    }
    std::size_t last = 0;
    for (auto at = from; at < rest_.size(); ++at) {
        if (rest_[at] == '"') in_quotes_ = !in_quotes_;
        if (rest_[at] == '\n' && !in_quotes_) last = at + 1;
    }
    return last;
}

bool Lines::next(std::string& line)
{
    if (at_ >= text_.size()) return false;
    const auto end = std::min(text_.find('\n', at_), text_.size());
    line.assign(text_, at_, end - at_);
    at_ = end + 1;
    ++number_;
    return true;
}

void Lines::refuse(std::size_t column, const std::string& wrong) const
{
    throw BadInput(fmt::format("{}:{}:{}: {}", name_, number_, column, wrong));
}

}  // namespace quorate
