// SPDX-License-Identifier: BSD-2-Clause
#include "base/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

constexpr std::int64_t most = 1'000'000;

std::vector<std::string> whole_numbers(std::int64_t first, std::int64_t last)
{
    std::vector<std::string> all;
    for (auto number = first; number <= last; ++number) all.push_back(std::to_string(number));
    return all;
}

// a (b/a)^(i/(n-1))
std::vector<std::string> equal_ratios(const std::string& first, const std::string& last,
                                      std::int64_t count)
{
    const double a = *to_real(first), ratio = *to_real(last) / a;
    std::vector<std::string> all = {first};
    for (std::int64_t i = 1; i + 1 < count; ++i)
        all.push_back(fmt::format(
            "{:.6g}",
            a * std::pow(ratio, static_cast<double>(i) / static_cast<double>(count - 1))));
    all.push_back(last);
    return all;
}

// Whether the word before a colon, or the whole text, is one of these.
bool begins_with(const std::string& text, const std::vector<std::string>& known)
{
    return std::ranges::find(known, text.substr(0, text.find(':'))) != known.end();
}

// The pieces of a list; a piece that begins with none of the known words belongs to the value
// before it, as in pareto:1,2.
std::vector<std::string> pieces_of(const std::string& text, const std::vector<std::string>& known)
{
    std::vector<std::string> all;
    for (const char separator : {',', ' ', ';'}) {
        if (text.find(separator) == std::string::npos) continue;
        for (const auto& piece : split(text, separator)) {
            const auto word = trimmed(piece);
            if (word.empty()) continue;
            if (known.empty() || all.empty() || begins_with(word, known))
                all.push_back(word);
            else
                all.back() += separator + word;
        }
        break;
    }
    return all;
}

}  // namespace

std::optional<std::vector<std::string>> values_of_range(const std::string& text,
                                                        const std::string& where)
{
    const auto dots = text.find("..");
    if (dots == std::string::npos) return std::nullopt;
    const auto times = text.find('x', dots);
    const auto first = text.substr(0, dots);
    const auto last = text.substr(dots + 2, times == std::string::npos ? times : times - dots - 2);
    if (!to_real(first) || !to_real(last)) return std::nullopt;
    const auto refuse = [&](const std::string& wrong) {
        throw BadInput(fmt::format("{}{}, {}", where, text, wrong));
    };
    if (times == std::string::npos) {
        const auto begin = to_integer(first), end = to_integer(last);
        if (!begin || !end)
            refuse(
                fmt::format("a range that does not say of how many values: write {}x5 for five "
                            "at equal ratios",
                            text));
        if (*end < *begin || *end - *begin >= most)
            refuse("a range of nothing or of too much: write the smaller number first");
        return whole_numbers(*begin, *end);
    }
    const auto count = to_integer(text.substr(times + 1));
    if (!count) return std::nullopt;
    if (*count < 2 || *count > most || *to_real(first) <= 0 || *to_real(last) <= *to_real(first))
        refuse(
            "but values at equal ratios are two or more between two numbers above 0: write the "
            "smaller number first, as 1e-5..1e-1x5");
    return equal_ratios(first, last, *count);
}

std::string several_values(const std::string& text, const std::vector<std::string>& known)
{
    if (known.empty()) {
        const auto dash = text.find('-', 1), dots = text.find("..");
        if (dash != std::string::npos && dots == std::string::npos) {
            const auto first = to_integer(text.substr(0, dash));
            const auto last = to_integer(text.substr(dash + 1));
            if (first && last) return fmt::format("{}..{}", *first, *last);
        }
        if (dots != std::string::npos && to_real(text.substr(0, dots))) return text;
    }
    const auto pieces = pieces_of(text, known);
    const auto fits = [&](const auto& one) {
        return known.empty() ? to_real(one).has_value() : begins_with(one, known);
    };
    if (pieces.size() < 2 || !std::ranges::all_of(pieces, fits)) return "";
    const auto is_group = [](const auto& one) { return one.size() == 3 && to_integer(one); };
    if (known.empty() && std::all_of(pieces.begin() + 1, pieces.end(), is_group))
        return "";  // 1,000 is one number
    std::string all;
    for (const auto& piece : pieces) all += (all.empty() ? "" : ", ") + piece;
    return all;
}

std::string unless_several(const std::string& option, const std::string& text,
                           const std::string& wrong, const std::vector<std::string>& known)
{
    const auto several = several_values(text, known);
    if (several.empty()) return wrong;
    return fmt::format(": give one; an experiment file takes several, as {} = {}", option, several);
}

}  // namespace quorate
