// SPDX-License-Identifier: BSD-2-Clause
#include "base/shown.hpp"

#include <algorithm>
#include <boost/locale/utf.hpp>

#include "base/text.hpp"

namespace quorate {

std::string shown(std::string_view piece, std::size_t most)
{
    using Utf8 = boost::locale::utf::utf_traits<char>;
    constexpr boost::locale::utf::code_point first_printable = ' ', del = 127, last_control = 159;
    std::string text;
    auto at = piece.begin();
    for (std::size_t i = 0; i < most && at != piece.end(); ++i) {
        auto next = at;
        const auto letter = Utf8::decode(next, piece.end());
        if (!boost::locale::utf::is_valid_codepoint(letter)) {
            text += '?';
            ++at;
            continue;
        }
        const bool printable = letter >= first_printable && (letter < del || letter > last_control);
        text += printable ? std::string(at, next) : "?";
        at = next;
    }
    return at == piece.end() ? text : text + "...";
}

std::string harmless(std::string_view lines)
{
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto byte = static_cast<unsigned char>(lines[i]);
        // In UTF-8 those from 128 to 159 are a C2 and this byte.
        const bool wide =
            byte == 0xc2 && i + 1 < lines.size() && static_cast<unsigned char>(lines[i + 1]) < 0xa0;
        const bool control = wide || byte == 0x7f || (byte < ' ' && byte != '\n' && byte != '\t');
        text += control ? '?' : lines[i];
        i += wide ? 1 : 0;
    }
    return text;
}

std::string shown(const std::vector<std::string>& names)
{
    constexpr std::size_t most = 10;
    std::string list;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        list += (i > 0 ? ", " : "") + shown(names[i]);
    return names.size() > most ? list + ", ..." : list;
}

std::string shown_near(std::string_view name, const std::vector<std::string>& names)
{
    const auto meant = nearest(name, names);
    return meant.empty() ? "; use one of " + shown(names) : "; did you mean " + shown(meant) + "?";
}

}  // namespace quorate
