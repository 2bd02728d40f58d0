// SPDX-License-Identifier: BSD-2-Clause
#include "tables/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <boost/iostreams/concepts.hpp>
#include <boost/iostreams/stream.hpp>
#include <new>
#include <stdexcept>

#include "base/error.hpp"
#include "base/shown.hpp"

namespace quorate {

namespace {

namespace io = boost::iostreams;

// libarchive gives names in the encoding of the locale: UTF-8 for this thread, while one lives.
class NamesInUtf8 {
public:
    NamesInUtf8() : before_(uselocale(utf8())) {}
    NamesInUtf8(const NamesInUtf8&) = delete;
    NamesInUtf8& operator=(const NamesInUtf8&) = delete;
    ~NamesInUtf8() { uselocale(before_); }

private:
    // Null, which changes nothing, if the system has none.
    static locale_t utf8()
    {
        static const locale_t one = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
        return one;
    }

    locale_t before_;
};

// An archive that is read from its beginning.
class Unpacking {
public:
    explicit Unpacking(const std::string& path)
        : path_(path), archive_(archive_read_new(), archive_read_free)
    {
        if (!archive_) throw std::bad_alloc();
        for (const auto support :
             {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
              archive_read_support_filter_xz, archive_read_support_format_tar,
              archive_read_support_format_zip_seekable})
            if (support(archive_.get()) != ARCHIVE_OK) refuse();
        if (archive_read_open_filename(archive_.get(), path.c_str(), 1 << 16) != ARCHIVE_OK)
            refuse();
    }

    // Goes on to the next file. @return its name; empty at the end
    std::string next()
    {
        const NamesInUtf8 utf8;
        for (;;) {
            const auto status = archive_read_next_header(archive_.get(), &entry_);
            if (status == ARCHIVE_EOF) return "";
            // A warning, as of a name that the locale cannot show, does not concern what is inside.
            if (status != ARCHIVE_OK && status != ARCHIVE_WARN) refuse();
            const auto* name = archive_entry_pathname(entry_);
            if (name && *name && archive_entry_filetype(entry_) == AE_IFREG) return name;
        }
    }

    // Whether what is inside the file is encrypted.
    bool is_encrypted() const { return archive_entry_is_encrypted(entry_) != 0; }

    // Reads from the file. @return how many bytes; 0 at its end
    std::size_t read(char* to, std::size_t size)
    {
        const auto count = archive_read_data(archive_.get(), to, size);
        if (count < 0) refuse();
        return static_cast<std::size_t>(count);
    }

private:
    [[noreturn]] void refuse() const
    {
        const auto* text = archive_error_string(archive_.get());
        const std::string said = text ? text : "no archive";
        if (said.starts_with("Unsupported"))
            throw BadInput(fmt::format("{} cannot be read: {}; pack it with zip, or numpy.savez",
                                       path_, said));
        throw BadInput(
            fmt::format("{} is damaged or truncated: {}; make or get it again", path_, said));
    }

    std::string path_;
    std::unique_ptr<archive, int (*)(archive*)> archive_;
    archive_entry* entry_ = nullptr;
};

// What is inside a file of an archive.
class Inside : public io::source {
public:
    explicit Inside(std::shared_ptr<Unpacking> from) : from_(std::move(from)) {}
    std::streamsize read(char* to, std::streamsize size)
    {
        const auto count = from_->read(to, static_cast<std::size_t>(size));
        return count == 0 ? -1 : static_cast<std::streamsize>(count);
    }

private:
    std::shared_ptr<Unpacking> from_;  // devices are copied
};

}  // namespace

Archive::Archive(const std::string& path) : path_(path)
{
    Unpacking archive(path);
    for (std::string name; !(name = archive.next()).empty();) names_.push_back(std::move(name));
}

std::unique_ptr<std::istream> Archive::open(const std::string& name) const
{
    auto archive = std::make_shared<Unpacking>(path_);
    for (std::string found; (found = archive->next()) != name;)
        if (found.empty()) throw std::logic_error(path_ + " has no file " + name);
    if (archive->is_encrypted())
        throw BadInput(
            fmt::format("{}: {} is encrypted: pack it without a password, as zip and "
                        "numpy.savez do",
                        path_, shown(name)));
    auto stream = std::make_unique<io::stream<Inside>>(Inside(std::move(archive)), 1 << 16);
    // Without exceptions an error in the archive would look like the end of the file.
    stream->exceptions(std::ios::badbit);
    return stream;
}

bool is_zip(const std::string& bytes) { return bytes.starts_with("PK\x03\x04"); }

bool is_tar(const std::string& bytes)
{
    constexpr std::size_t place = 257;
    return bytes.size() > place && bytes.compare(place, 5, "ustar") == 0;
}

std::unique_ptr<std::istream> open_only_file(const std::string& path)
{
    const Archive archive(path);
    std::vector<std::string> names;
    for (const auto& name : archive.names()) {
        if (name.ends_with(".npy")) return nullptr;
        if (name == "[Content_Types].xml")
            throw BadInput(path + " is a workbook of a spreadsheet: save the sheet as CSV");
        // What some systems add for themselves.
        if (!name.starts_with("__MACOSX/")) names.push_back(name);
    }
    if (names.size() != 1)
        throw BadInput(
            fmt::format("{} is a zip archive of {} files: unpack it and give one of them{}", path,
                        names.size(), names.empty() ? "" : ": " + shown(names)));
    return archive.open(names[0]);
}

}  // namespace quorate
