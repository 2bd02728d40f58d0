// SPDX-License-Identifier: BSD-2-Clause
#include "tables/array_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <boost/endian/conversion.hpp>
#include <boost/locale/utf.hpp>
#include <cmath>
#include <iterator>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/dense_rows.hpp"

namespace quorate {

namespace {

using boost::endian::order;

constexpr std::string_view npy_mark("\x93NUMPY", 6);

// The types of elements that IDX has, as NumPy calls them.
struct IdxType {
    char code;
    const char* type;
};
constexpr IdxType idx_types[] = {{0x08, ">u1"}, {0x09, ">i1"}, {0x0b, ">i2"},
                                 {0x0c, ">i4"}, {0x0d, ">f4"}, {0x0e, ">f8"}};

template <class T>
double number(const char* bytes, bool big_endian)
{
    const auto* from = reinterpret_cast<const unsigned char*>(bytes);
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

struct NumberType {
    char kind;  // NumPy's letter
    std::size_t size;
    Convert convert;
};
constexpr NumberType number_types[] = {
    {'f', 8, number<double>},        {'f', 4, number<float>},
    {'f', 2, half_number},           {'i', 8, number<std::int64_t>},
    {'i', 4, number<std::int32_t>},  {'i', 2, number<std::int16_t>},
    {'i', 1, number<std::int8_t>},   {'u', 8, number<std::uint64_t>},
    {'u', 4, number<std::uint32_t>}, {'u', 2, number<std::uint16_t>},
    {'u', 1, number<std::uint8_t>},  {'b', 1, number<std::uint8_t>},
};

// Returns what reads an element; null if elements of this kind and size are no numbers.
Convert convert_of(char kind, std::size_t size)
{
    for (const auto& type : number_types)
        if (type.kind == kind && type.size == size) return type.convert;
    return nullptr;
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

bool is_npy(const std::string& bytes) { return bytes.starts_with(npy_mark); }

bool is_idx(const std::string& bytes)
{
    return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 &&
           std::ranges::find(idx_types, bytes[2], &IdxType::code) != std::end(idx_types) &&
           bytes[3] >= 1 && bytes[3] <= 4;
}

ArrayReader::ArrayReader(ByteSource source, std::string name)
    : source_(std::move(source)), name_(std::move(name))
{
    std::string magic(4, '\0');
    source_.read(magic.data(), magic.size(), "the head of an array");
    if (npy_mark.starts_with(magic))
        read_npy_head();
    else if (is_idx(magic))
        read_idx_head(magic);
    else
        refuse(fmt::format(
            "is none: its first bytes are {:02x}, neither those of IDX, 00 00, a type and 1 to 4 "
            "dimensions, nor of .npy or .npz; give another file or another --format",
            fmt::join(std::vector<unsigned char>(magic.begin(), magic.end()), " ")));
    // Elements, also of an array without rows: each product of dimensions can be computed.
    constexpr double most = 1LL << 48;
    double elements = 1;
    for (const auto size : shape_) elements *= std::max(1.0, static_cast<double>(size));
    if (elements > most)
        refuse(fmt::format("is damaged: its shape is ({})", fmt::join(shape_, ", ")));
}

void ArrayReader::read_idx_head(const std::string& magic)
{
    set_type(std::ranges::find(idx_types, magic[2], &IdxType::code)->type);
    for (char i = 0; i < magic[3]; ++i)
        shape_.push_back(source_.big_endian<std::uint32_t>("a dimension"));
}

void ArrayReader::read_npy_head()
{
    char rest[4];  // of the mark, and the version
    source_.read(rest, 4, "the head of an array");
    if (npy_mark.substr(4) != std::string_view(rest, 2))
        refuse("is damaged: its first bytes are not all those of .npy");
    if (rest[2] < 1 || rest[2] > 3) refuse(fmt::format("has the version {}, not 1 to 3", rest[2]));
    unsigned char length[4] = {};
    source_.read(length, rest[2] == 1 ? 2 : 4, "the head of an array");
    const auto size = boost::endian::endian_load<std::uint32_t, 4, order::little>(length);
    if (size > 1 << 20) refuse(fmt::format("is damaged: its header has {} bytes", size));
    std::string header(size, '\0');
    source_.read(header.data(), header.size(), "the header of an array");

    const auto damaged = [&] { refuse("is damaged: its header is " + shown(header, 60)); };
    const auto type = after(header, "descr"), order = after(header, "fortran_order"),
               sizes = after(header, "shape");
    if (type.starts_with('[')) refuse("has rows of several types: give a plain array of numbers");
    const auto quote = type.substr(0, 1);
    const auto end = type.empty() ? std::string_view::npos : type.find(quote, 1);
    if ((quote != "'" && quote != "\"") || end == std::string_view::npos || end < 3) damaged();
    set_type(std::string(type.substr(1, end - 1)));
    if (!order.starts_with("True") && !order.starts_with("False")) damaged();
    fortran_ = order.starts_with("True");
    const auto close = sizes.find(')');
    if (!sizes.starts_with('(') || close == std::string_view::npos) damaged();
    for (const auto& word : split(sizes.substr(1, close - 1), ',')) {
        auto count = trimmed(word);
        if (count.empty()) continue;
        if (count.back() == 'L') count.pop_back();  // as Python 2 writes long integers
        shape_.push_back(to_integer(count).value_or(-1));
        if (shape_.back() < 0) damaged();
    }
}

// Takes an element type in NumPy's notation, of three letters at least.
void ArrayReader::set_type(const std::string& type)
{
    type_ = type;
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
}

void ArrayReader::next(std::int64_t count, std::vector<double>& values)
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
        source_.read(bytes_.data(), bytes_.size(), "array " + name_);
        for (std::size_t at = 0; at < bytes_.size(); at += size_)
            values.push_back(convert(bytes_.data() + at, big_endian_));
        left -= piece;
    }
}

std::vector<double> ArrayReader::all()
{
    std::vector<double> values;
    std::int64_t rows = shape_.empty() ? 1 : shape_[0], width = 1;
    for (std::size_t d = 1; d < shape_.size(); ++d) width *= shape_[d];
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

// Reads the next element, which is text.
std::string ArrayReader::next_text()
{
    bytes_.resize(size_);
    source_.read(bytes_.data(), size_, "array " + name_);
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

GivenLabels ArrayReader::labels()
{
    check_label_shape(what(), shape_);
    GivenLabels labels;
    if (is_text())
        for (std::int64_t i = 0; i < shape_[0]; ++i) labels.words.push_back(next_text());
    else
        next(shape_[0], labels.numbers);
    end();
    if (std::ranges::any_of(labels.numbers, [](double label) { return std::isinf(label); }))
        refuse("holds an infinite label: give finite numbers");
    return labels;
}

void ArrayReader::refuse(const std::string& wrong) const { throw BadInput(what() + " " + wrong); }

std::string ArrayReader::what() const
{
    return fmt::format("{}: array {}", source_.name(), shown(name_));
}

Npz::Npz(const std::string& path, const Reading& reading) : reading_(reading), archive_(path)
{
    const std::string end = ".npy";
    for (const auto& name : archive_.names())
        if (name.ends_with(end)) names_.push_back(name.substr(0, name.size() - end.size()));
    auto sorted = names_;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw BadInput(fmt::format("{} has two arrays {}: save it again, with a name for each",
                                   path, shown(*twice)));
    if (names_.empty())
        throw BadInput(path + " is a zip archive without arrays: give what numpy.savez wrote");
    if (has("format") && has("shape") && has("data"))
        throw BadInput(path +
                       " is a sparse matrix of SciPy, which is not read here: in Python, write "
                       "quorate.dataset(scipy.sparse.load_npz(path), y, path=...), or LIBSVM text "
                       "by sklearn.datasets.dump_svmlight_file(X, y, path)");
}

bool Npz::has(const std::string& name) const
{
    return std::ranges::find(names_, name) != names_.end();
}

ArrayReader Npz::open(const std::string& name, const std::string& option) const
{
    if (!has(name))
        throw BadInput(fmt::format("--{} is {}, but {} has no such array{}", option, name, path(),
                                   shown_near(name, names_)));
    return {ByteSource(archive_.open(name + ".npy"), path(), reading_), name};
}

}  // namespace quorate
