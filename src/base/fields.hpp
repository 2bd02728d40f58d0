// SPDX-License-Identifier: BSD-2-Clause
// A component's options as a plain struct, and the table that fills it from words:
//
//   struct AgcOptions { int stragglers = 1; std::optional<int> collect; };
//   const Fields<AgcOptions> fields = {{&AgcOptions::stragglers, {"stragglers", "S", "1", "..."}},
//                                      {&AgcOptions::collect, {"collect", "M", "", "..."}}};
//
// A member is a whole number, a number, a time (its argument begins with SECONDS), a switch (bool),
// a word (an enum, whose values have the order of the words), or std::optional of one of them.
// Other types have two functions beside them: read_option(value, GivenWords) and written(value,
// OptionRow).
#pragma once

#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"

namespace quorate {

/// A value of an option does not suit the problem or another option. Whoever has the words of the
/// options adds them (Fields::with).
struct Refusal final : BadInput {
    /// @param what_is_wrong  goes on from "--name is VALUE", as in Settings::refuse()
    Refusal(const std::string& name, const std::string& what_is_wrong)
        : BadInput("--" + name + what_is_wrong), option(name), wrong(what_is_wrong)
    {
    }
    std::string option, wrong;
};

/// Throws a Refusal if a value is larger.
void at_most(const std::string& option, std::int64_t value, std::int64_t highest);

/// Which values an option may have.
struct Form {
    double lowest = 0;
    std::optional<double> highest = {};   // none: of what counts workers, as many as there may be
    std::vector<std::string> words = {};  // empty: those of the argument, "first|second"
    std::vector<std::pair<std::string, double>> named = {};  // words that stand for numbers
};

/// A row of the table: an option, and its values.
struct OptionRow {
    OptionRow(Option one, Form its_form = {}) : option(std::move(one)), form(std::move(its_form)) {}
    Option option;
    Form form;
};

/// The words of one option, to be read.
struct GivenWords {
    const Settings& settings;
    const OptionRow& row;
    int workers;  // 0: not known

    const std::string& name() const { return row.option.name; }
    const std::string& text() const { return settings.text(name()); }
    [[noreturn]] void refuse(const std::string& wrong) const { settings.refuse(name(), wrong); }
};

/// Each throws BadInput unless the words are such a value, within its form.
std::int64_t whole_number_of(const GivenWords& words, std::int64_t highest);
double number_of(const GivenWords& words);
std::size_t place_of_word(const GivenWords& words);
/// A number as words: with all digits that it needs, or as the name that it has.
std::string written_number(double value, const Form& form);
std::vector<std::string> allowed_words(const OptionRow& row);

template <class M>
struct IsOptional : std::false_type {
};
template <class M>
struct IsOptional<std::optional<M>> : std::true_type {
};

/// Reads a value. @throws BadInput if the words are none
template <class M>
void read_value(M& value, const GivenWords& words)
{
    if constexpr (IsOptional<M>::value) {
        if (words.text() == words.row.option.fallback)
            value.reset();
        else
            read_value(value.emplace(), words);
    } else if constexpr (std::is_same_v<M, bool>) {
        value = words.settings.on(words.name());
    } else if constexpr (std::is_enum_v<M>) {
        value = static_cast<M>(place_of_word(words));
    } else if constexpr (std::is_integral_v<M>) {
        value = static_cast<M>(whole_number_of(words, std::numeric_limits<M>::max()));
    } else if constexpr (std::is_floating_point_v<M>) {
        value = number_of(words);
    } else {
        read_option(value, words);
    }
}

/// The words of a value, which read_value() reads; those of a switch are on or off.
template <class M>
std::string written_value(const M& value, const OptionRow& row)
{
    if constexpr (IsOptional<M>::value) {
        return value ? written_value(*value, row) : row.option.fallback;
    } else if constexpr (std::is_same_v<M, bool>) {
        return value ? "on" : "";
    } else if constexpr (std::is_enum_v<M>) {
        return allowed_words(row).at(static_cast<std::size_t>(value));
    } else if constexpr (std::is_integral_v<M>) {
        return std::to_string(value);
    } else if constexpr (std::is_floating_point_v<M>) {
        return written_number(value, row.form);
    } else {
        return written(value, row);
    }
}

/// An option that is a member of T.
template <class T>
class Field {
public:
    template <class M>
    Field(M T::*member, Option one, Form form = {})
        : Field(member, OptionRow{std::move(one), std::move(form)})
    {
    }
    template <class M>
    Field(M T::*member, const OptionRow& row)
        : option(row.option), read([member, row](T& all, const Settings& settings, int workers) {
              const GivenWords words{settings, row, workers};
              // Without a fallback, the struct says what no words mean.
              if (words.text().empty() && row.option.fallback.empty()) return;
              read_value(all.*member, words);
          }),
          text([member, row](const T& all) { return written_value(all.*member, row); })
    {
        if (!option.fallback.empty() && text(T{}) != option.fallback)
            throw std::logic_error("--" + option.name + ": the struct's default is " + text(T{}));
    }

    Option option;
    std::function<void(T&, const Settings&, int workers)> read;
    std::function<std::string(const T&)> text;
};

/// The options of a component whose struct is T.
template <class T>
class Fields {
public:
    Fields() = default;
    Fields(std::initializer_list<Field<T>> fields) : all_(fields) {}
    Fields(std::vector<Field<T>> fields) : all_(std::move(fields)) {}

    std::vector<Option> options() const
    {
        std::vector<Option> options;
        for (const auto& field : all_) options.push_back(field.option);
        return options;
    }

    /// Reads the options and calls f with them. @param workers  0: not known
    /// @throws BadInput if one is wrong, or f refuses it
    template <class F>
    auto with(const Settings& settings, int workers, F f) const
    {
        T given;
        for (const auto& field : all_) field.read(given, settings, workers);
        try {
            return f(std::as_const(given));
        } catch (const Refusal& refusal) {
            if (!settings.has(refusal.option)) throw;
            settings.refuse(refusal.option, refusal.wrong);
        }
    }

    /// The words of those options that are not at their defaults.
    Options words(const T& given) const
    {
        Options words;
        for (const auto& field : all_)
            if (auto text = field.text(given); text != field.text(T{}))
                words.emplace(field.option.name, text.empty() && field.option.argument.empty()
                                                     ? "off"
                                                     : std::move(text));
        return words;
    }

private:
    std::vector<Field<T>> all_;
};

}  // namespace quorate
