// SPDX-License-Identifier: BSD-2-Clause
// Options that several schemes share, so that they mean the same everywhere.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheme/rounds/adaptive_deadline.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// The row of an option of that name.
const OptionRow& shared_option(const std::string& name);
/// The same for --weights, --decoder, --estimator and --order, whose words differ from scheme to
/// scheme; the first is the default.
OptionRow worded(const std::string& name, std::vector<std::string> words);

/// Reads groups, VALUE,WORKER,... with / between them: a value of each worker, `others` for those
/// that are not named. @param form  what a refusal asks for
std::vector<double> values_by_worker(const GivenWords& given, const std::string& groups,
                                     double others, const std::function<bool(double)>& allowed,
                                     const std::string& form);
std::string written_by_worker(const std::vector<double>& values, double others);

void read_option(std::vector<double>& shares, const GivenWords& given);
std::string written(const std::vector<double>& shares, const OptionRow&);

/// The table of a scheme (scheme/schemes.hpp): the rows of its own, and those of the options that
/// schemes share, for its members of their names.
template <class T>
Fields<T> options(std::vector<Field<T>> own = {})
{
    std::vector<Field<T>> all;
    const auto add = [&](auto member, const char* name) {
        all.emplace_back(member, shared_option(name));
    };
    if constexpr (requires { &T::stragglers; }) add(&T::stragglers, "stragglers");
    if constexpr (requires { &T::collect; }) add(&T::collect, "collect");
    if constexpr (requires { &T::degree; }) add(&T::degree, "degree");
    if constexpr (requires { &T::placement; }) add(&T::placement, "placement");
    if constexpr (requires { &T::coefficients; }) add(&T::coefficients, "coefficients");
    if constexpr (requires { &T::own; }) add(&T::own, "own");
    if constexpr (requires { &T::tolerate; }) add(&T::tolerate, "tolerate");
    if constexpr (requires { &T::shares; }) add(&T::shares, "shares");
    if constexpr (requires { &T::deadline; }) add(&T::deadline, "deadline");
    if constexpr (requires { &T::rescale; }) add(&T::rescale, "rescale");
    if constexpr (requires { &T::staleness_cap; }) add(&T::staleness_cap, "staleness-cap");
    if constexpr (requires { &T::staleness_scale; }) add(&T::staleness_scale, "staleness-scale");
    if constexpr (requires { &T::restart_after; }) add(&T::restart_after, "restart-after");
    if constexpr (requires { &T::most; }) add(&T::most, "most");
    if constexpr (requires { &T::lipschitz; }) add(&T::lipschitz, "lipschitz");
    if constexpr (requires { &T::noise; }) add(&T::noise, "noise");
    if constexpr (requires { &T::target_gradient; }) add(&T::target_gradient, "target-gradient");
    if constexpr (requires { &T::compute_time; }) add(&T::compute_time, "compute-time");
    if constexpr (requires { &T::probe; }) add(&T::probe, "probe");
    if constexpr (requires { &T::micro_batch; }) add(&T::micro_batch, "micro-batch");
    if constexpr (requires { &T::communication_time; })
        add(&T::communication_time, "communication-time");
    if constexpr (requires { &T::samples_cap; }) add(&T::samples_cap, "samples-cap");
    if constexpr (requires { &T::local_steps; }) add(&T::local_steps, "local-steps");
    if constexpr (requires { &T::outer_step; }) add(&T::outer_step, "outer-step");
    for (auto& field : own) all.push_back(std::move(field));
    return all;
}

// What those values come to. Functions throw a Refusal if a value does not suit.

/// The answers that a round takes by --collect: half of the workers, rounded up, if it is not
/// given.
int answers(const std::optional<int>& collect, int workers);
/// The same for a code's decoder: all workers where the deadline is adaptive, which says it too.
int quorum(const RoundLimit& deadline, const std::optional<int>& collect, int workers);
/// The seconds of a --deadline; `never` if it is not given. Adaptive ones are refused.
Seconds seconds_of(const RoundLimit& deadline);
/// Checks that d divides n, with the nearest values that fit. @param option  whose value is d - 1
void refuse_unless_divides(const std::string& option, int d, int n);
/// When a round can end that takes --collect answers, unless there is a --deadline.
template <class T>
Blocked until_collected(const T& options, int n)
{
    return options.deadline.given() ? Blocked{} : until_answers(n, answers(options.collect, n));
}

/// When a round can end that takes the answers of all but --stragglers.
template <class T>
Blocked until_stragglers(const T& options, int n)
{
    return until_answers(n, n - options.stragglers);
}

/// What advice tries: --stragglers 1, 2, 4, ... up to `most`.
std::vector<Choice> doubled_stragglers(int most);
/// The adaptive deadline that advice tries: half of the workers, and five deviations.
std::string adaptive_deadline_tried(int workers);
/// Likewise --stragglers, for the numbers of copies that divide the workers into groups: from 2 to
/// 16, and 32, 64, ... up to a quarter of the workers.
std::vector<Choice> copies_tried(int workers, bool timed = false);
/// Each of these with each of the others.
std::vector<Choice> crossed(const std::vector<Choice>& these, const std::vector<Choice>& others);
/// The defaults alone.
std::vector<Choice> defaults_tried(int workers, bool timed);

/// Makes another name for a scheme, which is not compared a second time.
Entry<MakeScheme> alias(Entry<MakeScheme> of, const std::string& name, const std::string& text);

}  // namespace quorate
