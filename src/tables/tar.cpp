// SPDX-License-Identifier: BSD-2-Clause
#include "tables/tar.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <boost/iostreams/concepts.hpp>
#include <boost/iostreams/stream.hpp>
#include <stdexcept>

#include "base/error.hpp"

namespace quorate {

namespace {

namespace io = boost::iostreams;

struct Free {
    void operator()(archive* one) const { archive_read_free(one); }
};
using Handle = std::unique_ptr<archive, Free>;

[[noreturn]] void refuse(const std::string& path, archive* from)
{
    const auto* said = archive_error_string(from);
    throw BadInput(fmt::format("{} is damaged or truncated: {}; get it again", path,
                               said ? said : "no tar archive"));
}

Handle open_archive(const std::string& path)
{
    Handle handle(archive_read_new());
    if (!handle) throw std::bad_alloc();
    for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                               archive_read_support_filter_xz, archive_read_support_format_tar})
        if (support(handle.get()) != ARCHIVE_OK) refuse(path, handle.get());
    if (archive_read_open_filename(handle.get(), path.c_str(), 1 << 16) != ARCHIVE_OK)
        refuse(path, handle.get());
    return handle;
}

// Goes on to the next file; its name, or an empty one at the end.
std::string next_file(const std::string& path, archive* from)
{
    for (archive_entry* entry = nullptr;;) {
        const auto status = archive_read_next_header(from, &entry);
        if (status == ARCHIVE_EOF) return "";
        // A warning, as of a name that the locale cannot show, does not concern what is inside.
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN) refuse(path, from);
        const auto* name = archive_entry_pathname(entry);
        if (name && archive_entry_filetype(entry) == AE_IFREG) return name;
    }
}

// What is inside the file at which an archive stands.
class Inside : public io::source {
public:
    explicit Inside(Handle handle) : handle_(std::move(handle)) {}
    std::streamsize read(char* to, std::streamsize size)
    {
        const auto count = archive_read_data(handle_.get(), to, static_cast<std::size_t>(size));
        if (count < 0) throw std::runtime_error(archive_error_string(handle_.get()));
        return count == 0 ? -1 : static_cast<std::streamsize>(count);
    }

private:
    std::shared_ptr<archive> handle_;  // devices are copied
};

}  // namespace

TarArchive::TarArchive(const std::string& path) : path_(path)
{
    const auto handle = open_archive(path);
    for (std::string name; !(name = next_file(path, handle.get())).empty();)
        names_.push_back(std::move(name));
}

std::unique_ptr<std::istream> TarArchive::open(const std::string& name) const
{
    auto handle = open_archive(path_);
    for (std::string found; (found = next_file(path_, handle.get())) != name;)
        if (found.empty()) throw std::logic_error(path_ + " has no file " + name);
    auto stream = std::make_unique<io::stream<Inside>>(Inside(std::move(handle)));
    // Without exceptions an error in the archive would look like the end of the file.
    stream->exceptions(std::ios::badbit);
    return stream;
}

bool is_tar(const std::string& bytes)
{
    constexpr std::size_t place = 257;
    return bytes.size() > place && bytes.compare(place, 5, "ustar") == 0;
}

}  // namespace quorate
