// SPDX-License-Identifier: BSD-2-Clause
#include "data/source.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace quorate {

namespace {

namespace io = boost::iostreams;

std::ifstream open_file(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw BadInput(path + " is a folder: give a file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw BadInput(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    return file;
}

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

std::unique_ptr<std::istream> open_source(const std::string& path)
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
    source->push(source->file());
    // Without this an error in the compressed data would look like the end of the file.
    source->exceptions(std::ios::badbit);
    return source;
}

std::string sha256(const std::string& path)
{
    auto file = open_file(path);
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          EVP_MD_CTX_free);
    if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1)
        throw Failure("cannot start SHA-256");
    std::array<char, 1 << 16> block{};
    while (file.read(block.data(), block.size()), file.gcount() > 0)
        if (EVP_DigestUpdate(context.get(), block.data(),
                             static_cast<std::size_t>(file.gcount())) != 1)
            throw Failure("cannot compute SHA-256");
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1)
        throw Failure("cannot finish SHA-256");
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
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
