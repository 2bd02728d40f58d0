// SPDX-License-Identifier: BSD-2-Clause
// The arguments of a component, which stand behind its name as in pareto:0.1,1.5, and the table
// that fills its struct from them:
//
//   struct ParetoDelay { double scale = 1, shape = 2; };
//   const ArgumentTable<ParetoDelay> table = {{&ParetoDelay::scale, "SCALE", {.timed = true}},
//                                             {&ParetoDelay::shape, "SHAPE"}};
//
// A member is a double, a std::int64_t or a std::string. Other types have two functions beside
// them: read_argument(value, GivenArgument) and written_argument(value, Bounds). A text and a list
// take all words that are left.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"

namespace quorate {

/// The value of an option that names a component, to be read.
struct GivenComponent {
    const Settings& settings;
    std::string option;                   // that names it: delay
    std::string form;                     // how it is written: pareto:SCALE,SHAPE
    std::vector<std::string> known = {};  // the names of all such components
    bool times = false;                   // whether numbers that may be times are times
    int workers = 0;                      // how many there are

    /// The words of each of its arguments. @param list  whether the last one has all that are left
    /// @throws BadInput unless there are as many
    std::vector<std::vector<std::string>> words(std::size_t arguments, bool list) const;
    /// Throws BadInput that ends with the form.
    /// @param wrong  goes on from "--delay is VALUE": ", but worker 3 is named twice"
    [[noreturn]] void refuse(const std::string& wrong = "") const;
};

/// Which numbers an argument may be.
struct Bounds {
    double lowest = 0, highest = std::numeric_limits<double>::max();
    bool timed = false;  // it may have a unit of time, where values of the option are times
};
inline constexpr double above_zero = std::numeric_limits<double>::min();

/// An argument, to be read.
struct GivenArgument {
    const GivenComponent& component;
    std::string name;                // as the form has it
    std::vector<std::string> words;  // one; those of a list
    Bounds bounds = {};

    /// Throws BadInput: NAME is WORD, not what is wanted.
    [[noreturn]] void refuse(const std::string& wanted) const;
};

/// Each throws BadInput unless the words are such a value, within the bounds.
void read_argument(double& number, const GivenArgument& given);
void read_argument(std::int64_t& number, const GivenArgument& given);
void read_argument(std::string& text, const GivenArgument& given);
/// The words of a value, which read_argument() reads.
std::string written_argument(double number, const Bounds&);
std::string written_argument(std::int64_t number, const Bounds&);
std::string written_argument(const std::string& text, const Bounds&);

/// An argument that is a member of T.
template <class T>
struct Argument {
    template <class M>
    Argument(M T::*member, std::string its_name, const Bounds& bounds = {})
        : name(std::move(its_name)), list(requires { typename M::value_type; }),
          read([member, bounds](T& all, GivenArgument given) {
              given.bounds = bounds;
              read_argument(all.*member, given);
          }),
          text([member, bounds](const T& all) { return written_argument(all.*member, bounds); })
    {
    }

    std::string name;
    bool list;
    std::function<void(T&, GivenArgument)> read;
    std::function<std::string(const T&)> text;
};

/// The arguments of a component whose struct is T, in their order.
template <class T>
class ArgumentTable {
public:
    ArgumentTable() = default;
    ArgumentTable(std::initializer_list<Argument<T>> all) : all_(all) {}

    /// How they are written: SCALE,SHAPE.
    std::string form() const
    {
        return joined([](const auto& one) { return one.name; });
    }
    /// Them, as read() reads them.
    std::string words(const T& given) const
    {
        return joined([&](const auto& one) { return one.text(given); });
    }

    /// Reads them and calls f with them. @throws BadInput if one is wrong, or f refuses it
    template <class F>
    auto with(const GivenComponent& component, F f) const
    {
        const auto words = component.words(all_.size(), !all_.empty() && all_.back().list);
        T given;
        for (std::size_t i = 0; i < all_.size(); ++i)
            all_[i].read(given, {component, all_[i].name, words[i]});
        try {
            return f(std::as_const(given));
        } catch (const Refusal& refusal) {
            // What is wrong is an option, or else the component or one of its arguments.
            if (!component.settings.has(refusal.option)) component.refuse(refusal.wrong);
            component.settings.refuse(refusal.option, refusal.wrong);
        }
    }

private:
    template <class F>
    std::string joined(F text_of) const
    {
        std::string all;
        for (const auto& one : all_)
            if (const auto text = text_of(one); !text.empty())
                all += (all.empty() ? "" : ",") + text;
        return all;
    }

    std::vector<Argument<T>> all_;
};

}  // namespace quorate
