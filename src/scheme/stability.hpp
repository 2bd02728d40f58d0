// SPDX-License-Identifier: BSD-2-Clause
// Which steps stale gradients allow, times the largest curvature: on quadratics, where it is known.
#pragma once

namespace quorate {

/// Gradients that are all stale by so many updates: 2 sin(pi / (2 (2 staleness + 1))).
double stable_step(double staleness);

/// Gradients of d equal partitions, one of which is fresh and the others stale by 1..d-1: 2, 2, 1.5,
/// 1.172, 0.955, 0.804 for d = 1..6, about 4.93 / d beyond.
double stable_step_of_cycle(int d);

}  // namespace quorate
