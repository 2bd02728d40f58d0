// SPDX-License-Identifier: BSD-2-Clause
#include "tables/npy.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <bit>
#include <boost/endian/conversion.hpp>
#include <boost/locale/utf.hpp>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/dense_rows.hpp"

namespace quorate {

namespace {

constexpr std::string_view mark("\x93NUMPY", 6);
constexpr std::int64_t most = std::int64_t{1} << 48;  // elements

template <class T>
double number(const char* bytes, bool big_endian)
{
    const auto* from = reinterpret_cast<const unsigned char*>(bytes);
    using boost::endian::order;
    return static_cast<double>(big_endian
                                   ? boost::endian::endian_load<T, sizeof(T), order::big>(from)
                                   : boost::endian::endian_load<T, sizeof(T), order::little>(from));
}

// NumPy's float16.
double half_number(const char* bytes, bool big_endian)
{
    const auto bits = static_cast<std::uint16_t>(number<std::uint16_t>(bytes, big_endian));
    return static_cast<double>(static_cast<float>(std::bit_cast<Eigen::half>(bits)));
}

using Convert = double (*)(const char*, bool);

// Returns what reads an element; null if elements of this kind and size are no numbers.
Convert convert_of(char kind, std::size_t size)
{
    switch (kind) {
        case 'f':
            return size == 8   ? number<double>
                   : size == 4 ? number<float>
                   : size == 2 ? half_number
                               : nullptr;
        case 'b': return size == 1 ? number<std::uint8_t> : nullptr;
        case 'i':
            return size == 8   ? number<std::int64_t>
                   : size == 4 ? number<std::int32_t>
                   : size == 2 ? number<std::int16_t>
                   : size == 1 ? number<std::int8_t>
                               : nullptr;
        case 'u':
            return size == 8   ? number<std::uint64_t>
                   : size == 4 ? number<std::uint32_t>
                   : size == 2 ? number<std::uint16_t>
                   : size == 1 ? number<std::uint8_t>
                               : nullptr;
        default: return nullptr;
    }
}

// Returns what follows "'key':" in the header, without blanks; empty if it is not there.
std::string_view after(std::string_view header, const std::string& key)
{
    const auto at = header.find("'" + key + "':");
    if (at == std::string_view::npos) return {};
    header.remove_prefix(at + key.size() + 3);
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
}

}  // namespace

bool is_npy(const std::string& bytes) { return bytes.starts_with(mark); }

NpyReader::NpyReader(ByteSource source, std::string array)
    : source_(std::move(source)), array_(std::move(array))
{
    std::string head(8, '\0');
    source_.read(head.data(), head.size(), "the head of an array");
    if (!is_npy(head)) refuse("is no array as NumPy writes them: give .npy or .npz");
    const std::size_t width = head[6] == 1 ? 2 : 4;
    if (head[6] < 1 || head[6] > 3) refuse(fmt::format("has the version {}, not 1 to 3", head[6]));
    unsigned char length[4] = {};
    source_.read(length, width, "the head of an array");
    const auto size =
        boost::endian::endian_load<std::uint32_t, 4, boost::endian::order::little>(length);
    if (size > 1 << 20) refuse(fmt::format("is damaged: its header has {} bytes", size));
    std::string header(size, '\0');
    source_.read(header.data(), header.size(), "the header of an array");
    parse(header);
}

void NpyReader::parse(const std::string& header)
{
    const auto damaged = [&] { refuse("is damaged: its header is " + shown(header, 60)); };
    const auto type = after(header, "descr"), order = after(header, "fortran_order"),
               sizes = after(header, "shape");
    if (type.starts_with('[')) refuse("has rows of several types: give a plain array of numbers");
    const auto quote = type.substr(0, 1);
    const auto end = type.empty() ? std::string_view::npos : type.find(quote, 1);
    if ((quote != "'" && quote != "\"") || end == std::string_view::npos || end < 3) damaged();
    type_ = type.substr(1, end - 1);
    big_endian_ = type_[0] == '>' || (type_[0] == '=' && std::endian::native == std::endian::big);
    kind_ = type_[1];
    size_ = static_cast<std::size_t>(to_integer(std::string_view(type_).substr(2)).value_or(0) *
                                     (kind_ == 'U' ? 4 : 1));
    if (kind_ == 'O')
        refuse("holds Python objects: give numbers, as X.astype(float), or save words as str");
    if (kind_ == 'c') refuse(fmt::format("holds complex numbers ({}): give real ones", type_));
    if (!(is_text() ? size_ > 0 && size_ <= 1 << 20 : convert_of(kind_, size_) != nullptr))
        refuse(
            fmt::format("has elements of the type {}, which is not read here: give numbers, as "
                        "X.astype(float)",
                        type_));
    if (!order.starts_with("True") && !order.starts_with("False")) damaged();
    fortran_ = order.starts_with("True");
    const auto close = sizes.find(')');
    if (!sizes.starts_with('(') || close == std::string_view::npos) damaged();
    double elements = 1;
    for (const auto& word : split(sizes.substr(1, close - 1), ',')) {
        auto size = trimmed(word);
        if (size.empty()) continue;
        if (size.back() == 'L') size.pop_back();  // as Python 2 writes long integers
        const auto one = to_integer(size);
        if (!one || *one < 0) damaged();
        shape_.push_back(*one);
        elements *= static_cast<double>(*one);
    }
    if (elements > static_cast<double>(most)) damaged();
}

std::int64_t NpyReader::row_size() const
{
    std::int64_t size = 1;
    for (std::size_t i = 1; i < shape_.size(); ++i) size *= shape_[i];
    return size;
}

void NpyReader::next(std::int64_t count, std::vector<double>& values)
{
    if (is_text()) refuse(fmt::format("holds text ({}) where numbers are needed", type_));
    const auto convert = convert_of(kind_, size_);
    values.clear();
    // Read in pieces of a megabyte. If the head gives a false shape, the file then ends before the
    // memory does.
    const auto at_once = static_cast<std::int64_t>((1 << 20) / size_);
    for (auto left = count; left > 0;) {
        const auto piece = std::min(left, at_once);
        bytes_.resize(static_cast<std::size_t>(piece) * size_);
        source_.read(bytes_.data(), bytes_.size(), "array " + array_);
        for (std::size_t at = 0; at < bytes_.size(); at += size_)
            values.push_back(convert(bytes_.data() + at, big_endian_));
        left -= piece;
    }
}

std::vector<double> NpyReader::all()
{
    std::vector<double> values;
    const auto rows = shape_.empty() ? 1 : shape_[0], width = row_size();
    next(rows * width, values);
    if (!fortran_ || shape_.size() < 2) return values;
    // In the file, the element with the indices i, j, k, ... is number i + shape[0] * (j + shape[1]
    // * (k + ...)).
    std::vector<double> turned(values.size());
    for (std::int64_t column = 0; column < width; ++column) {
        std::int64_t rest = column, at = 0;
        std::vector<std::int64_t> index(shape_.size());
        for (auto d = shape_.size(); d-- > 1; rest /= shape_[d]) index[d] = rest % shape_[d];
        for (auto d = shape_.size(); d-- > 1;) at = at * shape_[d] + index[d];
        for (std::int64_t row = 0; row < rows; ++row)
            turned[static_cast<std::size_t>(row * width + column)] =
                values[static_cast<std::size_t>(at * rows + row)];
    }
    return turned;
}

std::string NpyReader::next_text()
{
    bytes_.resize(size_);
    source_.read(bytes_.data(), size_, "array " + array_);
    std::string text;
    if (kind_ == 'S') {
        text.assign(bytes_.begin(), bytes_.end());
    } else {
        for (std::size_t at = 0; at < size_; at += 4)
            boost::locale::utf::utf_traits<char>::encode(
                static_cast<std::uint32_t>(number<std::uint32_t>(bytes_.data() + at, big_endian_)),
                std::back_inserter(text));
    }
    text.resize(std::min(text.find_last_not_of('\0') + 1, text.size()));
    return text;
}

void NpyReader::refuse(const std::string& wrong) const { throw BadInput(what() + " " + wrong); }

std::string NpyReader::what() const
{
    return fmt::format("{}: array {}", source_.name(), shown(array_));
}

std::vector<double> read_npy_labels(NpyReader& from, Levels& words)
{
    const auto& shape = from.shape();
    check_label_shape(from.what(), shape);
    std::vector<double> labels;
    if (from.is_text())
        for (std::int64_t i = 0; i < shape[0]; ++i)
            labels.push_back(words.number(from.next_text()));
    else
        from.next(shape[0], labels);
    from.end();
    for (const double label : labels)
        if (std::isinf(label)) from.refuse("holds an infinite label: give finite numbers");
    return labels;
}

}  // namespace quorate
