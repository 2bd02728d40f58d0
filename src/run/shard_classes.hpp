// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/data_set.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// Returns a warning, in one line, if workers lack classes of which they would have rows if these
/// were shuffled: a scheme that goes on without some answers may then go on without a class. Empty:
/// there is nothing to warn of, because the scheme's estimates are exact, or no worker lacks any.
/// Reads the labels of the training rows. Local.
/// @throws BadInput, Failure  as DataSet::labels()
std::string lacking_classes(const DataSet& data, const Needs& needs);

/// The same of labels that were read.
/// @param labels   of the training rows: classes by number
/// @param classes  their names
std::string lacking_classes(std::span<const double> labels, const std::vector<std::string>& classes,
                            const Needs& needs);

}  // namespace quorate
