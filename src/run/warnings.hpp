// SPDX-License-Identifier: BSD-2-Clause
// What may be wrong with a run, each in one line; empty: nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/training.hpp"

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

/// Returns a warning if --step is larger than stale gradients allow. That bound is known only for
/// gradient descent on a linear model whose loss has bounded curvature; in all other cases the
/// result is empty. Coordinator only. Reads as curvature_of().
/// @throws BadInput, Failure  as DataSet::read()
std::string stability_warning(const Settings& settings, const Training& training);

}  // namespace quorate
