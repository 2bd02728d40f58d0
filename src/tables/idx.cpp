// SPDX-License-Identifier: BSD-2-Clause
#include "tables/idx.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"
#include "tables/byte_order.hpp"
#include "tables/formats.hpp"

namespace quorate {

namespace {

template <class T>
void convert(const char* bytes, std::size_t count, double* to)
{
    for (std::size_t i = 0; i < count; ++i)
        to[i] = static_cast<double>(from_big_endian<T>(bytes + i * sizeof(T)));
}

struct IdxKind {
    char code;
    std::size_t size;
    void (*convert)(const char*, std::size_t, double*);
};

constexpr IdxKind kinds[] = {{0x08, 1, convert<std::uint8_t>}, {0x09, 1, convert<std::int8_t>},
                             {0x0b, 2, convert<std::int16_t>}, {0x0c, 4, convert<std::int32_t>},
                             {0x0d, 4, convert<float>},        {0x0e, 8, convert<double>}};

const IdxKind* kind_of(char code)
{
    for (const auto& kind : kinds)
        if (kind.code == code) return &kind;
    return nullptr;
}

}  // namespace

bool is_idx(const std::string& bytes)
{
    return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 && kind_of(bytes[2]) &&
           bytes[3] >= 1 && bytes[3] <= 4;
}

IdxReader::IdxReader(const std::string& path, const Reading& reading) : source_(path, reading)
{
    char head[4];
    source_.read(head, 4, "the magic number");
    if (!is_idx({head, 4}))
        source_.refuse(fmt::format(
            "no IDX file: its magic number is {:02x} {:02x} {:02x} {:02x}, not 00 00, a type and "
            "1 to 4 dimensions; give another file or another --format",
            static_cast<unsigned char>(head[0]), static_cast<unsigned char>(head[1]),
            static_cast<unsigned char>(head[2]), static_cast<unsigned char>(head[3])));
    const auto* kind = kind_of(head[2]);
    size_ = kind->size;
    convert_ = kind->convert;
    constexpr std::int64_t most = std::int64_t{1} << 31;
    for (char i = 0; i < head[3]; ++i) {
        char size[4];
        source_.read(size, 4, "a dimension");
        shape_.push_back(from_big_endian<std::uint32_t>(size));
        if (shape_.back() == 0)
            source_.refuse("an IDX file with a dimension of 0: it holds nothing");
        if (i > 0) width_ *= static_cast<std::size_t>(shape_.back());
        if (static_cast<std::int64_t>(width_) > most)
            source_.refuse(fmt::format("an IDX file with rows of more than {} values", most));
    }
    bytes_.resize(std::min<std::size_t>(width_ * size_, 1 << 20));
}

void IdxReader::next(std::vector<double>& values)
{
    values.clear();
    // Read in pieces of a megabyte. If the head gives a false width, the file then ends before the
    // memory does.
    for (std::size_t left = width_ * size_; left > 0;) {
        const auto piece = std::min(left, bytes_.size() / size_ * size_);
        source_.read(bytes_.data(), piece, "a row");
        const auto before = values.size(), count = piece / size_;
        values.resize(before + count);
        convert_(bytes_.data(), count, values.data() + before);
        left -= piece;
    }
    for (const double value : values)
        if (!std::isfinite(value))
            source_.refuse(
                fmt::format("damaged: the row before byte {} holds {}; all values must "
                            "be finite",
                            source_.position(), value));
}

namespace {

void read_idx(const Settings&, const std::string& path, const Reading& reading, RawTable& table)
{
    IdxReader idx(path, reading);
    std::int64_t columns = 1;
    for (std::size_t i = 1; i < idx.shape().size(); ++i) columns *= idx.shape()[i];
    if (table.rows() > 0 && table.columns != columns)
        throw BadInput(
            fmt::format("{} has {} values a row, the training file {}: give files of "
                        "one form",
                        path, columns, table.columns));
    table.columns = columns;
    table.dense = true;
    if (idx.shape().size() == 3)
        table.image = fmt::format("1x{}x{}", idx.shape()[1], idx.shape()[2]);
    std::vector<double> values;
    for (std::int64_t row = 0; row < idx.rows(); ++row) {
        idx.next(values);
        if (!table.add(std::numeric_limits<double>::quiet_NaN(), {{}, values})) return;
    }
    idx.end();
}

}  // namespace

Entry<Format> idx_entry()
{
    return {.name = "idx",
            .text = "IDX arrays, as MNIST has them; their labels are another file, --labels",
            .source = "LeCun, Cortes and Burges",
            .make = {read_idx, is_idx}};
}

}  // namespace quorate
