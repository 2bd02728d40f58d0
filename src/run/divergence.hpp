// SPDX-License-Identifier: BSD-2-Clause
// --on-divergence: what is done when the training loss grows instead of falling.
#pragma once

#include "base/settings.hpp"

namespace quorate {

/// The option --on-divergence.
Option divergence_option();

/// Looks for a training loss that has been more than 1.5 times that of the first round for thirty
/// rounds, or is not finite. Local.
class Divergence {
public:
    /// Looks at the loss of the next round. @return whether the run diverges; true once only
    bool look(double loss);
    /// The loss of the first round.
    double first() const { return first_; }

private:
    double first_ = 0;
    int grown_ = 0;  // rounds in a row
    bool told_ = false;
};

}  // namespace quorate
