// SPDX-License-Identifier: BSD-2-Clause
#include "tables/missing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <iterator>

#include "base/log.hpp"
#include "base/quoted.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/formats.hpp"

namespace quorate {

namespace {

constexpr std::string_view usual[] = {"", "?", "na", "n/a", "nan", "null"};
// As pandas takes them.
constexpr std::string_view of_numbers[] = {"none", "<na>",    "nat",      "#n/a",   "#na",
                                           "-nan", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind"};

// @param longest  letters of the longest of these words
template <class Words>
bool is_one_of(const Words& words, std::size_t longest, std::string_view cell)
{
    auto word = trimmed(cell);
    if (word.size() > longest) return false;
    boost::algorithm::to_lower(word);
    return std::ranges::find(words, word) != std::end(words);
}

}  // namespace

std::vector<Option> Missing::options()
{
    return {
        {"missing", "drop|mean|category,...", "",
         "rows with missing values: drop them; or take the mean of a column's training rows for "
         "a number, a level of its own for a category; default: refuse them"},
        {"missing-values", "TEXT,...", "",
         "what counts as missing beside nothing, ?, NA, N/A, nan and null, as it is written: "
         "unknown,-999; a number also if it is written otherwise. --missing says what becomes of "
         "missing values"}};
}

Missing::Missing(const Settings& settings)
    : given_(settings.text("missing")),
      drops_nothing_(is_like(settings) && !settings.given("missing"))
{
    for (const auto& piece : split(given_, ',')) {
        const auto word = trimmed(piece);
        if (word == "drop")
            drop_ = !drops_nothing_;
        else if (word == "mean")
            mean_ = true;
        else if (word == "category")
            category_ = true;
        else if (!given_.empty())
            settings.refuse("missing",
                            ": write drop, mean, category or several of them, separated "
                            "by commas");
    }
    if (!settings.has("missing-values") || !settings.on("missing-values")) return;
    for (const auto& piece : split_quoted(settings.text("missing-values"), ',')) {
        const auto text = trimmed(unquoted(piece));
        if (text.empty())
            settings.refuse("missing-values",
                            ": write texts, separated by commas, as unknown,-999; nothing and NA "
                            "are missing as it is");
        values_.push_back({text, to_real(text)});
    }
}

std::string Missing::remedy(const std::string& allowed) const
{
    if (drops_nothing_) return "fill it, or give --missing drop, which leaves the row out";
    const auto before = given_.empty() ? "" : given_ + ",";
    return fmt::format("fill it, or give --missing {}{}",
                       allowed.empty() ? "" : before + allowed + " or ", before + "drop");
}

std::optional<std::size_t> Missing::named(std::string_view text,
                                          const std::optional<double>& number) const
{
    const auto at = std::ranges::find_if(values_, [&](const auto& value) {
        return text == value.text || (number && number == value.number);
    });
    if (at == values_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - values_.begin());
}

void Missing::warn_of_unmet(const std::vector<bool>& met, const std::string& file) const
{
    std::vector<std::string> unmet;
    for (std::size_t i = 0; i < met.size(); ++i)
        if (!met[i]) unmet.push_back(values_[i].text);
    if (!unmet.empty())
        log(LogLevel::warning,
            fmt::format("no value of {} is {}, which --missing-values names: check how missing "
                        "values are written there",
                        file, shown(unmet)));
}

bool is_missing(std::string_view cell) { return is_one_of(usual, 4, cell); }

bool is_missing_number(std::string_view cell)
{
    return is_missing(cell) || is_one_of(of_numbers, 8, cell);
}

}  // namespace quorate
