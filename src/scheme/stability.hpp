// SPDX-License-Identifier: BSD-2-Clause
// The largest step sizes with which gradient descent converges when gradients are stale, times the
// largest curvature. They hold for quadratics.
#pragma once

namespace quorate {

/// For gradients that are all stale by so many updates: 2 sin(pi / (2 (2 staleness + 1))).
double stable_step(double staleness);

/// For an update that adds up so many local steps, times `outer`: as if all were one step from
/// their first point, which leads further than they do. But no local step may be longer than 2.
double stable_local_step(double staleness, double steps, double outer);

/// For gradients that are means over d equal partitions, one fresh and the others stale by 1..d-1:
/// 2, 2, 1.5, 1.172, 0.955, 0.804 for d = 1..6, about 4.93 / d beyond.
double stable_step_of_cycle(int d);

}  // namespace quorate
