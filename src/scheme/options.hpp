// SPDX-License-Identifier: BSD-2-Clause
// Options that several schemes share, so that they mean the same everywhere.
#pragma once

#include <optional>

#include "scheme/scheme.hpp"

namespace quorate {

// Functions without "_option" read an option; they throw BadInput if its value is wrong or out of
// range.

/// The option --stragglers S: how many workers a round can do without.
Option stragglers_option();
/// Reads it. @param most  the largest value that is allowed
int stragglers(const Settings& settings, int most);

/// Checks that d divides n.
/// @param option  whose value is d - 1
/// @throws BadInput with the nearest values that fit if d does not divide n
void refuse_unless_divides(const Settings& settings, const std::string& option, int d, int n);

/// The option --collect M: the number of answers after which a round ends.
Option collect_option();
/// Reads it. The default is half of the workers, rounded up.
int collect(const Settings& settings, int workers);
/// Reads it where a worker may answer several times before an update: it may be larger than their number.
int any_collect(const Settings& settings, int workers);

/// The options --weights and --decoder, whose words differ from scheme to scheme.
Option weights_option();
Option decoder_option();
/// Reads one of them. @param words  that are allowed; the first is the default
std::string word_of(const Settings& settings, const std::string& option,
                    const std::vector<std::string>& words);

/// The options --estimator and --order likewise; word_of() reads them too.
Option estimator_option();
Option order_option();

/// The option --staleness-cap: the largest staleness, in updates, of contributions that are used.
Option staleness_cap_option();
/// Reads it. @param without  what it is if the option is not given
std::int64_t staleness_cap(const Settings& settings, std::int64_t without);

/// The option --most M: contributions of a worker that wait for an update at most, until the worker rests.
Option most_batches_option();
/// Reads it.
int most_batches(const Settings& settings);

/// What advice tries: --stragglers 1, 2, 4, ... up to `most`.
std::vector<Choice> doubled_stragglers(int most);
/// The adaptive deadline that advice tries: half of the workers, and five deviations.
std::string adaptive_deadline_tried(int workers);
/// Numbers of copies that advice tries: those from 2 to 16 that divide the workers into groups.
std::vector<int> copies_tried(int workers);

/// Makes another name for a scheme, which is not compared a second time.
Entry<MakeScheme> alias(Entry<MakeScheme> of, const std::string& name, const std::string& text);

/// The option --shares: how many rows the partitions of workers have that are known to be slow.
Option shares_option();
/// Reads it: the share of each worker's partition, 1 where none is given. Empty: all are equal.
std::vector<double> shares(const Settings& settings, int workers);

/// The option --degree D: partitions that a worker holds.
Option degree_option();
/// Reads it; 1 to `most`.
int degree(const Settings& settings, int most);

/// The option --placement cyclic|frc.
Option placement_option();

/// The option --rescale coverage|none: whether estimates stand for partitions that are missing.
Option rescale_option();
/// Reads it.
bool rescale(const Settings& settings);

/// The option --deadline: seconds after which a round ends with what has come.
Option deadline_option();
/// Reads it; `never` if it is not given. Adaptive ones (scheme/rounds/adaptive_deadline.hpp) are refused.
Seconds deadline(const Settings& settings);

/// When a round can end that ends with --collect answers; unknown if it has a --deadline.
Blocked until_collected(const Settings& settings, int workers);

}  // namespace quorate
