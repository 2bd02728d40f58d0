// SPDX-License-Identifier: BSD-2-Clause
// Entries of components whose options are a struct, beside the table that fills it.
#pragma once

#include <memory>
#include <stdexcept>

#include "base/arguments.hpp"
#include "base/fields.hpp"
#include "base/registry.hpp"

namespace quorate {

/// Properties of an entry that read options, which have them as a T; specialised for schemes.
template <class Make, class T>
struct TypedPropertiesOf {
    using type = typename PropertiesOf<Make>::type;
    static type of_words(const type& properties, const Fields<T>&) { return properties; }
};

/// The number of workers of what a component is made for; 0: it has none.
template <class First, class... Others>
int workers_of(const First& setup, const Others&...)
{
    if constexpr (requires { setup.workers; })
        return setup.workers;
    else
        return 0;
}

template <class Make, class T>
struct TypedEntry;

/// An entry, as Entry is, whose options are a T: a struct that has it as T::entry(). Its `make` and
/// properties get the struct, and throw a Refusal where a value does not suit. The struct has
/// arguments behind the component's name if PropertiesOf<Make>::given() says how they are read,
/// else options.
template <class Made, class... Setup, class T>
struct TypedEntry<std::function<Made(const Settings&, Setup...)>, T> {
    using Make = std::function<Made(const Settings&, Setup...)>;
    using Properties = TypedPropertiesOf<Make, T>;

    std::string name;
    ArgumentTable<T> arguments = {};
    std::string text, source = {};
    Fields<T> options = {};
    std::function<Made(const T&, Setup...)> make;
    typename Properties::type properties = {};

    /// The entry whose options are words.
    operator Entry<Make>() const
    {
        constexpr bool has_arguments = requires { &PropertiesOf<Make>::given; };
        if (has_arguments ? !options.options().empty() : !arguments.form().empty())
            throw std::logic_error(name + (has_arguments
                                               ? " has options, but takes arguments only"
                                               : " has arguments, but takes options only"));
        return {.name = name,
                .arguments = arguments.form(),
                .text = text,
                .source = source,
                .options = options.options(),
                .make =
                    [entry = *this](const Settings& settings, Setup... setup) {
                        const auto use = [&](const T& given) {
                            return entry.make(given, std::forward<Setup>(setup)...);
                        };
                        if constexpr (has_arguments)
                            return entry.arguments.with(
                                PropertiesOf<Make>::given(
                                    settings, with_arguments(entry.name, entry.arguments.form()),
                                    entry.text, setup...),
                                use);
                        else
                            return entry.options.with(settings, workers_of(setup...), use);
                    },
                .properties = Properties::of_words(properties, options)};
    }

    /// Makes the component. @throws BadInput as from the same words
    Made made(const T& given, Setup... setup) const
    {
        auto settings = make_settings(options.options(), options.words(given));
        settings.set(PropertiesOf<Make>::option, {value(given), "", true});
        return Entry<Make>(*this).make(settings, std::forward<Setup>(setup)...);
    }

    /// What the option that names components of the kind is, for this one: pareto:0.1,1.5.
    std::string value(const T& given) const { return with_arguments(name, arguments.words(given)); }

    /// The words of a run that has this component with these options.
    Options words(const T& given) const
    {
        auto all = options.words(given);
        all.emplace(PropertiesOf<Make>::option, value(given));
        return all;
    }
};

/// A `make` that constructs a Kind of the options and the setup.
template <class Kind>
inline constexpr auto construct_a = []<class... Given>(Given&&... given) {
    return std::make_unique<Kind>(std::forward<Given>(given)...);
};

/// The entries of these structs of options.
template <class Make, class... T>
std::vector<Entry<Make>> entries_of()
{
    return {T::entry()...};
}

}  // namespace quorate
