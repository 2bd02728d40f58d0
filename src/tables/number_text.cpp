// SPDX-License-Identifier: BSD-2-Clause
#include "tables/number_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/replace.hpp>

#include "base/text.hpp"

namespace quorate {

namespace {

struct Group {
    const char* word;
    char mark;
};
constexpr std::array groups = {Group{"none", '\0'}, Group{"point", '.'}, Group{"comma", ','},
                               Group{"blank", ' '}, Group{"apostrophe", '\''}};

// Takes out the marks that group the whole part of a number. @return whether they stand where they
// may: three digits between them, and one to three before the first, which do not begin with a zero
bool ungroup(std::string& text, char mark, char decimal)
{
    const auto sign = text.find_first_of("+-") == 0 ? 1 : 0;
    const std::string wholes = std::string("0123456789") + mark;
    const auto end = std::min(text.find_first_not_of(wholes, sign), text.size());
    auto pieces = split(std::string_view(text).substr(sign, end - sign), mark);
    if (pieces.size() == 1) return text.find(mark) == std::string::npos;
    const auto first = pieces.front();
    if (first.empty() || first.size() > 3 || first.front() == '0') return false;
    if (!std::all_of(pieces.begin() + 1, pieces.end(),
                     [](const auto& one) { return one.size() == 3; }))
        return false;
    if (end < text.size() && text[end] != decimal && text[end] != 'e' && text[end] != 'E')
        return false;
    const auto behind = text.substr(end);
    if (behind.find(mark) != std::string::npos) return false;
    text.resize(sign);
    for (const auto& piece : pieces) text += piece;
    text += behind;
    return true;
}

}  // namespace

std::vector<Option> NumberText::options()
{
    return {{"decimal", "point|comma", "point", "what decimals of numbers begin with"},
            {"thousands", "none|point|comma|blank|apostrophe", "none",
             "what groups the thousands of numbers; with point, 1.234 is 1234"}};
}

NumberText::NumberText(const Settings& settings)
    : decimal_(settings.one_of("decimal", {"point", "comma"}) == "comma" ? ',' : '.')
{
    const auto& word =
        settings.one_of("thousands", {"none", "point", "comma", "blank", "apostrophe"});
    group_ = std::ranges::find(groups, word, &Group::word)->mark;
    if (group_ == decimal_)
        settings.refuse("thousands",
                        decimal_ == '.'
                            ? ", but decimals begin with a point as well: give --decimal comma"
                            : ", but decimals begin with a comma as well: leave one out");
}

std::optional<double> NumberText::operator()(std::string_view cell) const
{
    auto text = trimmed(cell);
    if (group_ == ' ')  // also those that do not break a line
        for (const auto* blank : {"\u00a0", "\u202f"})
            boost::algorithm::replace_all(text, blank, " ");
    if (group_ != '\0' && !ungroup(text, group_, decimal_)) return std::nullopt;
    if (decimal_ == ',') {
        if (text.find('.') != std::string::npos) return std::nullopt;
        std::ranges::replace(text, ',', '.');
    }
    return to_real(text);
}

std::string NumberText::remedy(std::string_view cell) const
{
    std::vector<std::string> ways;
    for (const char decimal : {decimal_, decimal_ == '.' ? ',' : '.'})
        for (const auto& [word, mark] : groups) {
            if (mark == decimal || !NumberText(decimal, mark)(cell)) continue;
            std::vector<std::string> options;
            if (decimal != decimal_)
                options.push_back(decimal == ',' ? "--decimal comma" : "--decimal point");
            if (mark != group_) options.push_back(fmt::format("--thousands {}", word));
            ways.push_back(fmt::format("{}", fmt::join(options, " ")));
            break;
        }
    return ways.empty() ? "" : "give " + alternatives(ways) + ", whichever says how it is written";
}

std::optional<double> to_truth(std::string_view cell)
{
    const auto text = trimmed(cell);
    if (boost::algorithm::iequals(text, "true")) return 1;
    if (boost::algorithm::iequals(text, "false")) return 0;
    return std::nullopt;
}

}  // namespace quorate
