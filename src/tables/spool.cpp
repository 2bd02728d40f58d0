// SPDX-License-Identifier: BSD-2-Clause
#include "tables/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/error.hpp"

namespace quorate {

namespace {

// The narrowest type that holds all values of a row exactly. Pixels, for instance, are stored as
// bytes.
enum class Width : char { byte, single, full };

// What stands before the columns and values of a row.
struct Head {
    std::uint32_t count;
    bool sparse;
    Width width;
};

template <class T>
bool holds(std::span<const double> values)
{
    bool all = true;
    for (const double value : values) {
        const double number = value == value ? value : 0;  // which no NaN equals
        const auto clamped = std::clamp(number, double{std::numeric_limits<T>::lowest()},
                                        double{std::numeric_limits<T>::max()});
        all &= static_cast<double>(static_cast<T>(clamped)) == value;
    }
    return all;
}

Width width_of(std::span<const double> values)
{
    return holds<std::uint8_t>(values) ? Width::byte
           : holds<float>(values)      ? Width::single
                                       : Width::full;
}

template <class T>
void append(std::vector<char>& bytes, const T* values, std::size_t count)
{
    const auto* first = reinterpret_cast<const char*>(values);
    bytes.insert(bytes.end(), first, first + count * sizeof(T));
}

template <class T>
const char* take(const char* from, T* to, std::size_t count)
{
    // Not memcpy, because memcpy may not be given the null pointer of an empty row.
    std::copy_n(from, count * sizeof(T), reinterpret_cast<char*>(to));
    return from + count * sizeof(T);
}

// Calls f with a number of the type that a width stands for.
template <class F>
void with_type(Width width, F f)
{
    switch (width) {
        case Width::byte: return f(std::uint8_t{});
        case Width::single: return f(float{});
        case Width::full: return f(double{});
    }
}

}  // namespace

Spool::Spool(const std::string& beside)
    : folder_(std::filesystem::absolute(beside).parent_path().string())
{
    std::string name = folder_ + "/.quorate-XXXXXX";
    file_ = mkstemp(name.data());
    if (file_ < 0) fail("make a temporary file in");
    unlink(name.c_str());
}

Spool::~Spool()
{
    if (file_ >= 0) close(file_);
}

void Spool::fail(const std::string& what) const
{
    throw Failure(fmt::format("cannot {} {}: {}", what, folder_, std::strerror(errno)));
}

void Spool::add(const RawRow& row)
{
    const auto before = unwritten_.size();
    const Head head{static_cast<std::uint32_t>(row.values.size()), !row.columns.empty(),
                    width_of(row.values)};
    append(unwritten_, &head, 1);
    append(unwritten_, row.columns.data(), row.columns.size());
    with_type(head.width, [&](auto zero) {
        const std::vector<decltype(zero)> narrow(row.values.begin(), row.values.end());
        append(unwritten_, narrow.data(), narrow.size());
    });
    start_.push_back(start_.back() + static_cast<std::int64_t>(unwritten_.size() - before));
    if (unwritten_.size() > 1 << 20) flush();
}

void Spool::flush()
{
    for (std::size_t done = 0; done < unwritten_.size();) {
        const auto count = ::write(file_, unwritten_.data() + done, unwritten_.size() - done);
        if (count < 0 && errno != EINTR) fail("write a temporary file in");
        if (count > 0) done += static_cast<std::size_t>(count);
    }
    unwritten_.clear();
}

const char* Spool::bytes(std::int64_t first, std::int64_t count)
{
    const auto held = static_cast<std::int64_t>(window_.size());
    if (first < window_first_ || first + count > window_first_ + held) {
        // Read ahead, but only if rows are taken in their order.
        constexpr std::int64_t ahead = 1 << 18;
        const bool in_order = first >= window_first_ && first <= window_first_ + held;
        const auto size = std::min(std::max(count, in_order ? ahead : 0), start_.back() - first);
        window_.resize(static_cast<std::size_t>(size));
        window_first_ = first;
        for (std::int64_t done = 0; done < size;) {
            const auto got = pread(file_, window_.data() + done,
                                   static_cast<std::size_t>(size - done), first + done);
            if (got == 0) throw Failure("a temporary file in " + folder_ + " was cut off");
            if (got < 0 && errno != EINTR) fail("read a temporary file in");
            if (got > 0) done += got;
        }
    }
    return window_.data() + (first - window_first_);
}

RawRow Spool::row(std::int64_t i)
{
    if (!unwritten_.empty()) flush();
    const auto at = static_cast<std::size_t>(i);
    const char* from = bytes(start_[at], start_[at + 1] - start_[at]);
    Head head{};
    from = take(from, &head, 1);
    columns_.resize(head.sparse ? head.count : 0);
    from = take(from, columns_.data(), columns_.size());
    values_.resize(head.count);
    with_type(head.width, [&](auto zero) {
        std::vector<decltype(zero)> narrow(values_.size());
        take(from, narrow.data(), narrow.size());
        std::ranges::copy(narrow, values_.begin());
    });
    return {columns_, values_};
}

}  // namespace quorate
