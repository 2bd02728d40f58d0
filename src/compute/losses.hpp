// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace quorate {

/// Sums of the losses of a contribution's samples, at the points used.
struct Losses {
    double plain = 0;  // of each sample once; of descent, over the steps the mean of each batch
    /// Each item's times its coefficient, as its gradients are: an exact code decodes the loss of
    /// all rows from these, with the weights with which it decodes the gradient.
    double coded = 0;

    Losses& operator+=(const Losses& other)
    {
        plain += other.plain;
        coded += other.coded;
        return *this;
    }
};

}  // namespace quorate
