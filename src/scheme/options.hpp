// SPDX-License-Identifier: BSD-2-Clause
// Options that several schemes share, so that they mean the same everywhere.
#pragma once

#include <optional>

#include "scheme/scheme.hpp"

namespace quorate {

/// --stragglers S: how many workers a round can do without.
Option stragglers_option();
/// At most `most`. @throws BadInput
int stragglers(const Settings& settings, int most);

/// @throws BadInput with the nearest values that fit, unless d = value of the option + 1 divides n
void refuse_unless_divides(const Settings& settings, const std::string& option, int d, int n);

/// --tolerate L: Byzantine workers.
Option tolerate_option();
/// At most `most`. @throws BadInput
int tolerate(const Settings& settings, int most);

/// --collect M: answers after which a round ends.
Option collect_option();
/// Default: half of the workers, rounded up. @throws BadInput
int collect(const Settings& settings, int workers);

/// --weights and --decoder, whose words differ from scheme to scheme; the first is the default.
Option weights_option();
Option decoder_option();
/// @throws BadInput unless the value is one of `words`, or none: then the first
std::string word_of(const Settings& settings, const std::string& option,
                    const std::vector<std::string>& words);

/// --staleness-cap: updates.
Option staleness_cap_option();
/// Without one: none. @throws BadInput
std::int64_t staleness_cap(const Settings& settings, std::int64_t without);

/// Another name for a scheme.
Entry<MakeScheme> alias(Entry<MakeScheme> of, const std::string& name, const std::string& text);

/// --degree D: partitions that a worker holds.
Option degree_option();
/// 1..most. @throws BadInput
int degree(const Settings& settings, int most);

/// --own U: partitions that a worker computes before its d coded ones.
Option own_partitions_option();
/// Default: d, which tolerates a slowdown of 2. @throws BadInput
int own_partitions(const Settings& settings, int d);

/// --placement cyclic|frc.
Option placement_option();

/// --deadline: seconds after which a round ends with what has come.
Option deadline_option();
/// never if it is not given. @throws BadInput
Seconds deadline(const Settings& settings);

}  // namespace quorate
