// SPDX-License-Identifier: BSD-2-Clause
#include "tables/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/sha256.hpp"
#include "tables/archive.hpp"
#include "tables/encoding.hpp"

namespace quorate {

namespace {

namespace io = boost::iostreams;

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

}  // namespace

namespace {

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

}  // namespace

std::unique_ptr<std::istream> open_source(const std::string& path)
{
    const auto* encoding = encoding_of(beginning_of(*open_decompressed(path), 4));
    auto in = open_decompressed(path);
    return encoding ? as_utf8(std::move(in), encoding, path) : std::move(in);
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
        end_lines_alike(before);
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

// Makes LF of CRLF and CR in what was read last.
void TextBlocks::end_lines_alike(std::size_t from)
{
    if (line_ == 1 && from == 0 && rest_.starts_with("\xef\xbb\xbf")) rest_.erase(0, 3);
    const auto first = rest_.begin() + static_cast<std::ptrdiff_t>(from);
    if (!after_cr_ && std::find(first, rest_.end(), '\r') == rest_.end()) return;
    auto to = first;
    for (auto at = first; at != rest_.end(); ++at) {
        const bool ended = std::exchange(after_cr_, *at == '\r');
        if (!(ended && *at == '\n')) *to++ = after_cr_ ? '\n' : *at;
    }
    rest_.erase(to, rest_.end());
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
    try {
        if (!std::getline(in_, line)) return false;
    } catch (const std::exception&) {
        throw BadInput(
            fmt::format("{} is damaged or truncated: its compressed data end wrongly after line {}",
                        name_, number_));
    }
    ++number_;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    return true;
}

void Lines::refuse(std::size_t column, const std::string& wrong) const
{
    throw BadInput(fmt::format("{}:{}:{}: {}", name_, number_, column, wrong));
}

}  // namespace quorate
