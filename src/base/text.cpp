// SPDX-License-Identifier: BSD-2-Clause
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/split.hpp>
#include <cctype>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace quorate {

namespace {

// Whether a number is smaller than any that is not zero. @param text  a number that does not fit
bool is_tiny(const std::string& text)
{
    static const auto c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    return std::abs(strtod_l(text.c_str(), nullptr, c_locale)) < 1;
}

template <class Number>
std::optional<Number> to_number(std::string_view text)
{
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    Number number{};
    const auto end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    if (text.empty() || result.ptr != end) return std::nullopt;
    if (std::is_floating_point_v<Number> && result.ec == std::errc::result_out_of_range)
        return is_tiny(std::string(text)) ? std::optional<Number>(0) : std::nullopt;
    if (result.ec != std::errc()) return std::nullopt;
    return number;
}

// Seconds of a time as SLURM and PBS write it: [HOURS:]MINUTES:SECONDS, or behind DAYS- the numbers
// HOURS[:MINUTES[:SECONDS]].
std::optional<double> to_clock_time(std::string_view text)
{
    double seconds = 0;
    const auto dash = text.find('-');
    const bool has_days = dash != std::string_view::npos;
    if (has_days) {
        const auto days = to_number<std::uint32_t>(text.substr(0, dash));
        if (!days) return std::nullopt;
        seconds = 86400.0 * *days;
        text.remove_prefix(dash + 1);
    }
    const auto numbers = split(text, ':');
    if (numbers.size() > 3 || (numbers.size() < 2 && !has_days)) return std::nullopt;
    double unit = has_days || numbers.size() == 3 ? 3600 : 60;
    for (const auto& number : numbers) {
        const auto amount = to_number<std::uint32_t>(number);
        if (!amount || number.starts_with('+')) return std::nullopt;
        seconds += unit * *amount;
        unit /= 60;
    }
    return seconds;
}

// How many letters were left out, added, replaced or swapped with the next one, at most one of
// these at each place.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1), before, last(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::optional<double> to_real(std::string_view text)
{
    const auto number = to_number<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> to_integer(std::string_view text)
{
    return to_number<std::int64_t>(text);
}

std::optional<double> to_seconds(std::string_view text)
{
    // Parts of a second are divided by, which leaves 50ms the 0.05 that a person means: 1e-3 has no
    // exact double.
    struct Unit {
        std::string_view suffix;
        double seconds, parts = 1;
    };
    constexpr Unit units[] = {{"min", 60},    {"ms", 1, 1e3}, {"us", 1, 1e6}, {"µs", 1, 1e6},
                              {"ns", 1, 1e9}, {"s", 1},       {"h", 3600},    {"d", 86400}};
    const auto unit =
        std::ranges::find_if(units, [&](const auto& one) { return text.ends_with(one.suffix); });
    const bool plain = unit == std::end(units);
    if (!plain) text.remove_suffix(unit->suffix.size());
    const auto number = plain ? to_real(text) : to_real(trimmed(text));
    if (!number || *number < 0) return std::nullopt;
    const double seconds = plain ? *number : *number * unit->seconds / unit->parts;
    return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

std::optional<double> to_duration(std::string_view text)
{
    if (const auto clock = to_clock_time(text)) return clock;
    return text.ends_with('m') ? to_seconds(std::string(text) + "in") : to_seconds(text);
}

std::string brief_number(const std::string& text)
{
    const auto number = to_real(text);
    return text.size() < 8 || !number ? text : fmt::format("{:.4g}", *number);
}

std::string figures(double number, int count)
{
    constexpr double many = 1e15;
    auto text = fmt::format("{:.{}g}", number, count);
    const bool shortened = text.find("e+") != std::string::npos && std::abs(number) < many;
    return shortened ? fmt::format("{:.0f}", number) : text;
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> pieces;
    boost::split(pieces, text, [separator](char c) { return c == separator; });
    return pieces;
}

std::string trimmed(std::string_view text)
{
    const auto blank = " \t\r\n";
    const auto first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates)
{
    std::string best, lower(word);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    std::size_t least = word.size();
    for (const auto& candidate : candidates) {
        const auto distance =
            std::min(edit_distance(word, candidate), edit_distance(lower, candidate));
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return 3 * least <= std::max(word.size(), best.size()) + 2 ? best : std::string();
}

std::string alternatives(const std::vector<std::string>& words)
{
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) list += i + 1 == words.size() ? " or " : ", ";
        list += words[i];
    }
    return list;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent)
{
    std::string lines;
    std::size_t column = 0;
    for (const auto& word : split(text, ' ')) {
        if (column > 0 && column + 1 + word.size() > width) {
            lines.append(1, '\n').append(indent, ' ');
            column = 0;
        } else if (column > 0) {
            lines += ' ';
            ++column;
        }
        lines += word;
        column += word.size();
    }
    return lines;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates)
{
    const auto meant = nearest(word, candidates);
    return meant.empty() ? "; known: " + alternatives(candidates) : "; did you mean " + meant + "?";
}

}  // namespace quorate
