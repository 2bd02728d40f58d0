// SPDX-License-Identifier: BSD-2-Clause
#include "tables/missing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>

#include "base/log.hpp"
#include "base/quoted.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"

namespace quorate {

MissingValues::MissingValues(const Settings& settings)
{
    if (!settings.has("missing-values") || !settings.on("missing-values")) return;
    for (const auto& piece : split_quoted(settings.text("missing-values"), ',')) {
        auto text = trimmed(unquoted(piece));
        if (text.empty())
            settings.refuse("missing-values",
                            ": write texts, separated by commas, as unknown,-999; nothing and NA "
                            "are missing as it is");
        numbers_.push_back(to_real(text));
        texts_.push_back(std::move(text));
    }
}

Option MissingValues::option()
{
    return {
        "missing-values", "TEXT,...", "",
        "what counts as missing beside nothing, ?, NA, N/A, nan and null, as it is written: "
        "unknown,-999; a number also if it is written otherwise. --missing says what becomes of "
        "missing values"};
}

std::optional<std::size_t> MissingValues::find(std::string_view cell,
                                               const std::optional<double>& number) const
{
    for (std::size_t i = 0; i < texts_.size(); ++i)
        if (cell == texts_[i] || (number && number == numbers_[i])) return i;
    return std::nullopt;
}

std::optional<std::size_t> MissingValues::find(double number) const
{
    for (std::size_t i = 0; i < texts_.size(); ++i)
        if (number == numbers_[i]) return i;
    return std::nullopt;
}

void warn_of_unmet(const MissingValues& values, const std::vector<bool>& met,
                   const std::string& file)
{
    std::vector<std::string> unmet;
    for (std::size_t i = 0; i < met.size(); ++i)
        if (!met[i]) unmet.push_back(values.texts()[i]);
    if (!unmet.empty())
        log(LogLevel::warning,
            fmt::format("no value of {} is {}, which --missing-values names: check how missing "
                        "values are written there",
                        file, shown(unmet)));
}

Option Missing::option()
{
    return {"missing", "drop|mean|category,...", "",
            "rows with missing values: drop them; or take the mean of a column's training rows for "
            "a number, a level of its own for a category; default: refuse them"};
}

Missing::Missing(const Settings& settings)
    : given_(settings.text("missing")),
      drops_nothing_(settings.has("like") && settings.on("like") && !settings.given("missing"))
{
    if (given_.empty()) return;
    for (const auto& piece : split(given_, ',')) {
        const auto word = trimmed(piece);
        if (word == "drop")
            drop_ = !drops_nothing_;
        else if (word == "mean")
            mean_ = true;
        else if (word == "category")
            category_ = true;
        else
            settings.refuse("missing",
                            ": write drop, mean, category or several of them, separated "
                            "by commas");
    }
}

std::string Missing::remedy(const std::string& allowed) const
{
    if (drops_nothing_) return "fill it, or give --missing drop, which leaves the row out";
    const auto before = given_.empty() ? "" : given_ + ",";
    return fmt::format("fill it, or give --missing {}{}",
                       allowed.empty() ? "" : before + allowed + " or ", before + "drop");
}

bool is_missing(std::string_view cell)
{
    auto word = trimmed(cell);
    if (word.size() > 4) return false;
    boost::algorithm::to_lower(word);
    return word.empty() || word == "?" || word == "na" || word == "n/a" || word == "nan" ||
           word == "null";
}

bool is_missing_number(std::string_view cell)
{
    // As pandas takes them.
    constexpr std::array<std::string_view, 10> more = {
        "none", "<na>", "nat", "#n/a", "#na", "-nan", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind"};
    if (is_missing(cell)) return true;
    auto word = trimmed(cell);
    if (word.size() > 8) return false;
    boost::algorithm::to_lower(word);
    return std::ranges::find(more, word) != more.end();
}

}  // namespace quorate
