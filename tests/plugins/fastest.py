# SPDX-License-Identifier: BSD-2-Clause
"""The scheme of the tutorial, as a plugin and for import."""

import quorate as q


class Fastest(q.SynchronousScheme):
    """Wait for the first R workers only."""

    help = {"responders": "answers that end a round"}

    def __init__(self, problem, responders: int = 1):
        super().__init__(problem)
        self.responders = responders

    def begin(self, version):
        self.received = []

    def receive(self, contribution):
        self.received.append(contribution)
        if len(self.received) == self.responders:
            return self.mean(self.received)
