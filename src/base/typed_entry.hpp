// SPDX-License-Identifier: BSD-2-Clause
// Entries of components whose options are a struct, beside the table that fills it.
#pragma once

#include <memory>

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
/// properties get the struct, and throw a Refusal where a value does not suit.
template <class Made, class... Setup, class T>
struct TypedEntry<std::function<std::unique_ptr<Made>(const Settings&, Setup...)>, T> {
    using Make = std::function<std::unique_ptr<Made>(const Settings&, Setup...)>;
    using Properties = TypedPropertiesOf<Make, T>;

    std::string name, text, source = {};
    Fields<T> options = {};
    std::function<std::unique_ptr<Made>(const T&, Setup...)> make;
    typename Properties::type properties = {};

    /// The entry whose options are words.
    operator Entry<Make>() const
    {
        return {.name = name,
                .text = text,
                .source = source,
                .options = options.options(),
                .make =
                    [make = make, options = options](const Settings& settings, Setup... setup) {
                        return options.with(settings, workers_of(setup...),
                                            [&](const T& given) { return make(given, setup...); });
                    },
                .properties = Properties::of_words(properties, options)};
    }

    /// Makes the component. @throws BadInput as from the same words
    std::unique_ptr<Made> made(const T& given, Setup... setup) const
    {
        auto settings = make_settings(options.options(), options.words(given));
        settings.set(PropertiesOf<Make>::option, {name, "", true});
        return Entry<Make>(*this).make(settings, setup...);
    }

    /// The words of a run that has this component with these options.
    Options words(const T& given) const
    {
        auto all = options.words(given);
        all.emplace(PropertiesOf<Make>::option, name);
        return all;
    }
};

/// The entries of these structs of options.
template <class Make, class... T>
std::vector<Entry<Make>> entries_of()
{
    return {T::entry()...};
}

}  // namespace quorate
