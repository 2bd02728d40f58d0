# SPDX-License-Identifier: BSD-2-Clause
"""How long the rounds of a run take if somebody has the median time.

The question is that of Lin et al., Understanding Stragglers in Large Model Training Using What-if
Analysis (arXiv 2505.05713); here it is asked of the rounds as recorded.
"""

from dataclasses import replace

import numpy as np

from .observed import PARTS, Observed
from .traces import BadInput, Bools, Floats

WAIT, DECODE, WORK = "waiting for stragglers", "decoding and update", "work and transfer"


class Diagnosis:
    """What the times of one run say, rounds without any answer left out."""

    def __init__(self, found: Observed) -> None:
        known = np.isfinite(found.answered).any(1) & np.isfinite(found.used).any(1)
        if not known.any():
            raise BadInput(f"{found.file} has no round that waited for an answer of its own")
        self.left_out = int(np.sum(~known))
        found = replace(
            found,
            **{n: getattr(found, n)[known] for n in "answered there used wait decode".split()},
            parts=None if found.parts is None else found.parts[:, known],
        )
        self.found = found
        self.workers = len(found.names)
        self.filled = np.where(np.isnan(found.answered), np.inf, found.answered)
        self.order = np.argsort(self.filled, axis=1, kind="stable")
        self.present = found.there.sum(1)
        self.answers = np.isfinite(found.answered).sum(1)
        self.median = self.middle(self.filled)
        # A round is decided with its last answer; the rest is a deadline, decoding, the update.
        self.last = np.nanmax(found.used, axis=1)
        self.rest = np.maximum(found.wait - self.last, 0) + found.decode
        self.seconds = float((self.last + self.rest).sum())
        self.ideal = float((self.median + self.rest).sum())
        if self.ideal <= 0:
            raise BadInput(f"{found.file}: its rounds take no time: nothing to diagnose")
        self.slowdown = self.seconds / self.ideal
        self.lost, self.without_one = self.each_without()
        self.chronic = np.array([word == "chronic" for word in found.slow.verdict])
        self.without_chronic = self.without(self.chronic)

    def middle(self, values: Floats) -> Floats:
        """Of each round the values of the median worker: the mean of two if their count is even.

        Who did not answer counts as later than all who did; if the median is among these, the last
        one who answered stands for it.
        """
        row = np.arange(len(self.order))
        two = [
            values[row, self.order[row, np.minimum(place, self.answers - 1)]]
            for place in ((self.present - 1) // 2, self.present // 2)
        ]
        return np.array((two[0] + two[1]) / 2)

    def without(self, some: Bools) -> float:
        """The slowdown if these workers took the median at most, and the same answers were used."""
        if not some.any():
            return self.slowdown
        used = np.where(np.isnan(self.found.used), -np.inf, self.found.used)
        others = used[:, ~some].max(1, initial=-np.inf)
        mine = np.minimum(used[:, some].max(1), self.median)
        return float((np.maximum(others, mine) + self.rest).sum()) / self.ideal

    def each_without(self) -> tuple[Floats, Floats]:
        """Of each worker the seconds that the run is shorter, and its slowdown, without it."""
        used = np.where(np.isnan(self.found.used), -np.inf, self.found.used)
        second = np.partition(used, -2, axis=1)[:, -2]
        gain = self.last - np.maximum(second, np.minimum(self.last, self.median))
        lost = np.bincount(used.argmax(1), gain, self.workers).astype(float, copy=False)
        return lost, (self.seconds - lost) / self.ideal

    def all_but(self, count: int) -> float:
        """The slowdown if rounds ended without the slowest so many; NaN if that was not seen."""
        place = self.present - 1 - count
        if np.any(place < 0) or np.any(place >= self.answers):
            return float("nan")
        row = np.arange(len(self.order))
        ends = self.filled[row, self.order[row, place]]
        return float((ends + self.rest).sum()) / self.ideal

    def shared_out(self) -> float:
        """The slowdown of an ideal scheme, which knows each round's delays and speeds beforehand
        and shares out its work, without redundancy, so that all who work end at once.

        Delay and transfer of a worker are as they were, its computation is in proportion to its
        share; of CSV all of the time is. Who did not answer gets nothing: less may be possible.
        """
        fixed, computing = np.zeros_like(self.filled), self.filled
        if self.found.parts is not None:
            fixed = self.filled - self.found.parts[PARTS.index("computation")]
            computing = self.filled - fixed
            fixed = np.where(np.isfinite(self.filled), fixed, np.inf)
        answered = np.isfinite(self.filled)
        rate = np.where(answered, 1 / np.maximum(np.where(answered, computing, 1), 1e-12), 0)
        order = np.argsort(fixed, axis=1, kind="stable")
        begin = np.take_along_axis(np.where(answered, fixed, np.inf), order, axis=1)
        rate = np.take_along_axis(rate, order, axis=1)
        # With the first k to begin: sum over them of (end - begin) rate = the work, in tasks.
        done = np.cumsum(np.where(rate > 0, begin, 0) * rate, axis=1)
        with np.errstate(invalid="ignore"):
            ends = (self.present[:, None] / self.found.load + done) / np.cumsum(rate, axis=1)
        ends = np.where(ends >= begin, ends, np.inf)
        return float((ends.min(1) + self.rest).sum()) / self.ideal

    @property
    def nodes(self) -> list[str]:
        return [] if self.found.node is None else list(np.unique(self.found.node))

    def of_node(self, node: str) -> Bools:
        return np.array(self.found.node == node)

    def chronic_nodes(self) -> list[str]:
        """Nodes of several workers, of which half or more are slow all through the run."""
        mine = {node: self.of_node(node) for node in self.nodes}
        return [
            n for n, some in mine.items() if some.sum() > 1 and self.chronic[some].mean() >= 0.5
        ]

    def parts(self) -> dict[str, float]:
        """Seconds of all rounds by what passes them, in the order of a round."""
        early = np.minimum(self.median, self.last)
        found = {}
        if self.found.parts is None:
            found[WORK] = float(early.sum())
        else:
            values = [self.middle(np.nan_to_num(part)) for part in self.found.parts]
            total = np.maximum(np.sum(values, axis=0), 1e-300)
            found = {n: float((v / total * early).sum()) for n, v in zip(PARTS, values)}
        found[WAIT] = float((self.found.wait - early).clip(min=0).sum())
        found[DECODE] = float(self.found.decode.sum())
        least = 1e-9 * self.seconds  # what rounding leaves
        return {name: value for name, value in found.items() if value > least or name == WAIT}

    def times_median(self, share_of_rounds: float) -> Floats:
        """A quantile of each worker's time over the round's median; NaN: it never answered."""
        over = self.found.answered / np.maximum(self.median, 1e-300)[:, None]
        answered = np.isfinite(over).any(0)
        found = np.full(self.workers, np.nan)
        found[answered] = np.nanquantile(over[:, answered], share_of_rounds, axis=0)
        return found
