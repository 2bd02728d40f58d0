// SPDX-License-Identifier: BSD-2-Clause
#include "tables/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <boost/endian/conversion.hpp>
#include <boost/iostreams/device/file.hpp>
#include <boost/iostreams/filter/zlib.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <boost/iostreams/read.hpp>
#include <boost/iostreams/restrict.hpp>
#include <fstream>
#include <stdexcept>

#include "base/error.hpp"
#include "base/shown.hpp"

namespace quorate {

namespace {

namespace io = boost::iostreams;

constexpr std::string_view member_mark("PK\x03\x04", 4), directory_mark("PK\x01\x02", 4),
    end_mark("PK\x05\x06", 4), wide_end_mark("PK\x06\x06", 4);

template <class T>
T little(const std::string& bytes, std::size_t at)
{
    return boost::endian::endian_load<T, sizeof(T), boost::endian::order::little>(
        reinterpret_cast<const unsigned char*>(bytes.data() + at));
}

[[noreturn]] void refuse(const std::string& path, const std::string& wrong)
{
    throw BadInput(fmt::format("{} is damaged or truncated: {}", path, wrong));
}

// Reads bytes of a file. @throws BadInput if they are not there
std::string bytes_of(std::ifstream& file, const std::string& path, std::int64_t first,
                     std::int64_t count)
{
    constexpr std::int64_t most = 1 << 28;  // no directory is longer
    std::string bytes(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most)), '\0');
    file.clear();
    if (first >= 0) file.seekg(first);
    if (first < 0 || count > most || !file.read(bytes.data(), std::ssize(bytes)))
        refuse(path, fmt::format("its zip archive has no {} bytes at byte {}", count, first));
    return bytes;
}

// Compares the checksum of what passes with the one that it should have.
class Checksum : public io::multichar_input_filter {
public:
    explicit Checksum(std::uint32_t wanted) : wanted_(wanted) {}
    template <class Source>
    std::streamsize read(Source& source, char* to, std::streamsize size)
    {
        const auto count = io::read(source, to, size);
        if (count > 0) crc_.process_bytes(to, static_cast<std::size_t>(count));
        if (count < 0 && crc_.checksum() != wanted_) throw std::runtime_error("checksum");
        return count;
    }

private:
    std::uint32_t wanted_;
    boost::crc_32_type crc_;
};

// Sizes and places that do not fit into 32 bits stand in an extra field, in this order.
void widen(ZipArchive::Member& member, const std::string& extra)
{
    for (std::size_t at = 0; at + 4 <= extra.size();) {
        const auto id = little<std::uint16_t>(extra, at),
                   size = little<std::uint16_t>(extra, at + 2);
        at += 4;
        const auto end = std::min(at + size, extra.size());
        for (auto* value : {&member.size, &member.packed, &member.header})
            if (id == 1 && *value == 0xffffffff && at + 8 <= end) {
                *value = little<std::int64_t>(extra, at);
                at += 8;
            }
        at = end;
    }
}

}  // namespace

bool is_zip(const std::string& bytes) { return bytes.starts_with(member_mark); }

ZipArchive::ZipArchive(const std::string& path) : path_(path)
{
    std::ifstream file(path, std::ios::binary);
    std::string first(4, '\0');
    file.read(first.data(), std::ssize(first));
    if (!is_zip(first))
        throw BadInput(path + " is neither .npy nor .npz: give such a file, or name its --format");
    file.clear();
    file.seekg(0, std::ios::end);
    const auto length = static_cast<std::int64_t>(file.tellg());
    // The end record may be followed by a comment of up to 64 KiB.
    const auto from = std::max<std::int64_t>(0, length - 22 - 65535);
    const auto tail = bytes_of(file, path, from, length - from);
    const auto end = tail.rfind(end_mark);
    if (end == std::string::npos || end + 22 > tail.size())
        refuse(path, "its zip archive has no directory at the end");
    std::int64_t count = little<std::uint16_t>(tail, end + 10),
                 size = little<std::uint32_t>(tail, end + 12),
                 start = little<std::uint32_t>(tail, end + 16);
    if (end >= 20 && tail.substr(end - 20, 4) == "PK\x06\x07") {  // there is a wide end record
        const auto wide = bytes_of(file, path, little<std::int64_t>(tail, end - 20 + 8), 56);
        if (!wide.starts_with(wide_end_mark)) refuse(path, "its zip archive has no directory");
        count = little<std::int64_t>(wide, 32);
        size = little<std::int64_t>(wide, 40);
        start = little<std::int64_t>(wide, 48);
    }
    const auto directory = bytes_of(file, path, start, size);
    std::size_t at = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (at + 46 > directory.size() || directory.substr(at, 4) != directory_mark)
            refuse(path, fmt::format("entry {} of its zip directory is none", i + 1));
        Member member{.name = {},
                      .size = little<std::uint32_t>(directory, at + 24),
                      .packed = little<std::uint32_t>(directory, at + 20),
                      .header = little<std::uint32_t>(directory, at + 42),
                      .crc = little<std::uint32_t>(directory, at + 16),
                      .method = little<std::uint16_t>(directory, at + 10)};
        if (little<std::uint16_t>(directory, at + 8) & 1) member.method = -1;  // encrypted
        const std::size_t name = little<std::uint16_t>(directory, at + 28),
                          extra = little<std::uint16_t>(directory, at + 30),
                          comment = little<std::uint16_t>(directory, at + 32);
        if (at + 46 + name + extra + comment > directory.size())
            refuse(path, fmt::format("entry {} of its zip directory is cut off", i + 1));
        member.name = directory.substr(at + 46, name);
        widen(member, directory.substr(at + 46 + name, extra));
        at += 46 + name + extra + comment;
        members_.push_back(std::move(member));
    }
}

std::unique_ptr<std::istream> ZipArchive::open(const Member& member) const
{
    if (member.method != 0 && member.method != 8)
        throw BadInput(fmt::format(
            "{}: {} is {}: pack it with zip, or numpy.savez", path_, shown(member.name),
            member.method < 0
                ? "encrypted"
                : fmt::format("packed by the method {} of zip, and only 0 (stored) and 8 "
                              "(deflated) are read",
                              member.method)));
    std::ifstream file(path_, std::ios::binary);
    const auto head = bytes_of(file, path_, member.header, 30);
    if (!head.starts_with(member_mark)) refuse(path_, member.name + " is not where it should be");
    const auto begin =
        member.header + 30 + little<std::uint16_t>(head, 26) + little<std::uint16_t>(head, 28);
    if (member.packed > 0) bytes_of(file, path_, begin + member.packed - 1, 1);
    auto stream = std::make_unique<io::filtering_istream>();
    stream->push(Checksum(member.crc));
    if (member.method == 8) {
        io::zlib_params raw;
        raw.noheader = true;
        stream->push(io::zlib_decompressor(raw));
    }
    stream->push(io::restrict(io::file_source(path_, std::ios::binary), begin, member.packed));
    stream->exceptions(std::ios::badbit);
    return stream;
}

std::unique_ptr<std::istream> open_only_file(const std::string& path)
{
    const ZipArchive archive(path);
    std::vector<std::string> names;
    for (const auto& member : archive.members()) {
        if (member.name.ends_with(".npy")) return nullptr;
        if (member.name == "[Content_Types].xml")
            throw BadInput(path + " is a workbook of a spreadsheet: save the sheet as CSV");
        // Folders, and what some systems add for themselves.
        if (!member.name.ends_with('/') && !member.name.starts_with("__MACOSX/"))
            names.push_back(member.name);
    }
    if (names.size() != 1)
        throw BadInput(
            fmt::format("{} is a zip archive of {} files: unpack it and give one of them{}", path,
                        names.size(), names.empty() ? "" : ": " + shown(names)));
    return archive.open(*std::ranges::find(archive.members(), names[0], &ZipArchive::Member::name));
}

}  // namespace quorate
