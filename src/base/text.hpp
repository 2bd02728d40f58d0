// SPDX-License-Identifier: BSD-2-Clause
// Small things done with words: numbers out of them, lists of them, the nearest of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quorate {

/// The whole of `text` as a finite number; nothing if it is anything else.
std::optional<double> to_real(std::string_view text);

/// The whole of `text` as a decimal integer; nothing if it is anything else or does not fit.
std::optional<std::int64_t> to_integer(std::string_view text);

/// Seconds: a number with ns, us, ms, s, min, h or d, or none of them. Nothing if the text is not
/// one, negative or not finite.
std::optional<double> to_seconds(std::string_view text);

/// The same, or as schedulers write a time: 90m, 2:00:00 or 1-12:00:00.
std::optional<double> to_duration(std::string_view text);

/// A number as a person reads it: as it was written if that is short, else with four digits. Any
/// other text as it stands.
std::string brief_number(const std::string& text);

/// A number for people: so many significant digits, and whole numbers that have more in full, 1234
/// and not 1.23e+03. From 1e15 on, and below 1e-4, with an exponent.
std::string figures(double number, int count);

/// The pieces of `text` between separators, as they stand; one empty piece for an empty text.
std::vector<std::string> split(std::string_view text, char separator);

/// `text` without blanks at either end.
std::string trimmed(std::string_view text);

/// The candidate with the least edit distance to `word`, or an empty string if none is near enough
/// to be what was meant (more than a third of its letters differ).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// The text in lines of `width` characters at most, broken at blanks; lines after the first are
/// indented. A longer word has a line of its own.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// The names of all elements that have one, in their order.
template <class Elements>
std::vector<std::string> names(const Elements& elements)
{
    std::vector<std::string> all;
    for (const auto& element : elements) all.push_back(element.name);
    return all;
}

/// "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

/// The end of a message about an unknown word: "; did you mean X?" or "; known: a, b or c".
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace quorate
