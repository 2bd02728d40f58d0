# SPDX-License-Identifier: BSD-2-Clause
"""What is done on machines, by ssh from here: keys, names, and the notice of spot machines."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .machines import COORDINATOR, Failed, Machine, call

TRIES = 60  # to log in
# As ssh-keygen made them: fixed words in which no text of a user stands.
ADD_KEY = "mkdir -p -m 700 .ssh && cat >> .ssh/authorized_keys && chmod 600 .ssh/authorized_keys"
PUT_KEY = "umask 077 && cat > .ssh/id_ed25519"
KNOW = "xargs ssh-keyscan -T 10 >> .ssh/known_hosts"
WATCH = "cat > quorate-notice && nohup sh quorate-notice > quorate-notice.log 2>&1 < /dev/null &"


class Remote:
    """Logs in with one key as one user."""

    def __init__(self, user: str, key: Path) -> None:
        self.user, self.key = user, key

    def run(self, address: str, command: str, text: str = "") -> str:
        """What a command prints there. Raises Failed."""
        options = ("BatchMode=yes", "StrictHostKeyChecking=accept-new", "ConnectTimeout=10")
        words = [word for option in options for word in ("-o", option)]
        target = f"{self.user}@{address}"
        return call("ssh", "-i", str(self.key), *words, target, command, text=text)

    def wait(self, machines: Sequence[Machine], seconds: float) -> None:
        """Until all let one log in, for so long. Raises Failed if one does not."""
        end = time.monotonic() + seconds
        for machine in machines:
            while True:
                try:
                    self.run(machine.outside, "true")
                    break
                except Failed as error:
                    if time.monotonic() > end:
                        raise Failed(f"{machine.name} lets nobody log in: {error}") from error
                    time.sleep(seconds / TRIES)

    def introduce(self, machines: Sequence[Machine]) -> None:
        """Lets the coordinator's machine log in to all, with a key of its own."""
        with tempfile.TemporaryDirectory() as folder:
            pair = Path(folder) / "key"
            call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "quorate", "-f", str(pair))
            public = pair.with_suffix(".pub").read_text()
            for machine in machines:
                self.run(machine.outside, ADD_KEY, public)
            first = next(one for one in machines if one.role == COORDINATOR)
            self.run(first.outside, PUT_KEY, pair.read_text())
        self.run(first.outside, KNOW, "\n".join(one.inside for one in machines) + "\n")

    def cores(self, machine: Machine) -> int:
        words = self.run(machine.outside, "nproc").split()
        if len(words) != 1 or not words[0].isdigit() or int(words[0]) < 1:
            raise Failed(f"{machine.name} does not say how many cores it has")
        return int(words[0])

    def watch(self, machine: Machine, script: str) -> None:
        """Has a spot machine wait for its notice, and its workers leave then."""
        self.run(machine.outside, WATCH, script)
