// SPDX-License-Identifier: BSD-2-Clause
#include "tables/encoding.hpp"

#include <fmt/format.h>
#include <iconv.h>

#include <boost/iostreams/concepts.hpp>
#include <boost/iostreams/stream.hpp>
#include <cerrno>
#include <utility>

#include "base/error.hpp"

namespace quorate {

namespace {

namespace io = boost::iostreams;

struct Close {
    void operator()(void* one) const { iconv_close(one); }
};

class Utf8 : public io::source {
public:
    Utf8(std::unique_ptr<std::istream> in, const char* encoding, const std::string& path)
        : in_(std::move(in)), convert_(iconv_open("UTF-8", encoding), Close()), encoding_(encoding),
          path_(path)
    {
    }

    std::streamsize read(char* to, std::streamsize size)
    {
        auto* out = to;
        auto room = static_cast<std::size_t>(size);
        // What is left over is the beginning of a letter, or has had no room.
        while (out == to) {
            if (!ended_ && std::ssize(text_) < block) {
                const auto before = text_.size();
                text_.resize(before + block);
                in_->read(text_.data() + before, block);
                text_.resize(before + static_cast<std::size_t>(in_->gcount()));
                ended_ = in_->gcount() < block;
            }
            if (text_.empty()) return -1;
            auto* from = text_.data();
            auto left = text_.size();
            const bool failed =
                iconv(convert_.get(), &from, &left, &out, &room) == static_cast<std::size_t>(-1);
            const bool cut_off = failed && errno == EINVAL && ended_;
            if ((failed && errno == EILSEQ) || cut_off)
                throw BadInput(fmt::format(
                    "{} is no {} text, which its first bytes say it is: save it as UTF-8", path_,
                    encoding_));
            text_.erase(0, text_.size() - left);
            if (std::exchange(first_, false) &&
                out - to >= 3) {  // the byte order mark, which is a letter
                std::copy(to + 3, out, to);
                out -= 3;
                room += 3;
            }
        }
        return out - to;
    }

private:
    static constexpr std::streamsize block = 1 << 12;
    std::shared_ptr<std::istream> in_;  // devices are copied
    std::shared_ptr<void> convert_;
    std::string encoding_, path_, text_;
    bool ended_ = false, first_ = true;
};

}  // namespace

const char* encoding_of(std::string_view bytes)
{
    using namespace std::string_view_literals;
    // That of UTF-32BE may begin an image of CIFAR-10.
    if (bytes.starts_with("\xff\xfe\0\0"sv)) return "UTF-32LE";
    if (bytes.starts_with("\xff\xfe"sv)) return "UTF-16LE";
    if (bytes.starts_with("\xfe\xff"sv)) return "UTF-16BE";
    return nullptr;
}

std::unique_ptr<std::istream> as_utf8(std::unique_ptr<std::istream> in, const char* encoding,
                                      const std::string& path)
{
    auto text = std::make_unique<io::stream<Utf8>>(Utf8(std::move(in), encoding, path));
    text->exceptions(std::ios::badbit);
    return text;
}

}  // namespace quorate
