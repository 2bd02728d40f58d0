# SPDX-License-Identifier: BSD-2-Clause
"""Google Compute Engine, by the command-line tool `gcloud`."""

import tempfile
from pathlib import Path
from typing import Any

from .machines import COORDINATOR, WORKER, Machine, Wanted, asked, call, in_order

LABEL = "quorate"  # of machines; its value is the group
# Thirty seconds before a spot machine goes, its system is asked to shut down, and runs this.
SHUTDOWN = "#!/bin/sh\npkill -USR2 -x quorate\nsleep 25\n"


def compute(*words: str) -> Any:
    return asked("gcloud", "compute", *words, "--format", "json")


class Google:
    """@param zone  of machines to launch; empty: that which gcloud is configured with"""

    notice = ""  # a shutdown script has it

    def __init__(self, zone: str) -> None:
        self.zone = ("--zone", zone) if zone else ()

    def launch(self, wanted: Wanted) -> None:
        with tempfile.TemporaryDirectory() as folder:
            keys, script = Path(folder) / "keys", Path(folder) / "shutdown"
            keys.write_text(f"{wanted.user}:{wanted.public_key.read_text()}")
            script.write_text(SHUTDOWN)
            self.create(wanted, COORDINATOR, [f"{wanted.group}-0"], f"ssh-keys={keys}")
            names = [f"{wanted.group}-{number}" for number in range(1, wanted.machines)]
            if names:
                files = f"ssh-keys={keys},shutdown-script={script}"
                self.create(wanted, WORKER, names, files if wanted.spot else f"ssh-keys={keys}")

    def create(self, wanted: Wanted, role: str, names: list[str], files: str) -> None:
        spot: tuple[str, ...] = ()
        if wanted.spot and role == WORKER:
            spot = ("--provisioning-model", "SPOT", "--instance-termination-action", "DELETE")
        project, _, family = wanted.image.partition("/")
        compute(
            *("instances", "create", *names, *self.zone, "--machine-type", wanted.type),
            *("--image-family", family, "--image-project", project, *spot),
            *("--labels", f"{LABEL}={wanted.group},role={role}", "--metadata-from-file", files),
        )

    def machines(self, group: str) -> list[Machine]:
        found = compute("instances", "list", "--filter", f"labels.{LABEL}={group}")
        return in_order([machine(one) for one in found])

    def down(self, machines: list[Machine], group: str) -> None:
        by_zone: dict[str, list[str]] = {}
        for one in machines:
            by_zone.setdefault(one.zone, []).append(one.name)
        for zone, names in by_zone.items():
            call("gcloud", "compute", "instances", "delete", *names, "--zone", zone, "--quiet")


def machine(told: dict[str, Any]) -> Machine:
    network = told["networkInterfaces"][0]
    outside = network.get("accessConfigs", [{}])[0]
    return Machine(
        name=told["name"],
        role=told.get("labels", {}).get("role", WORKER),
        state=told["status"],
        inside=network.get("networkIP", ""),
        outside=outside.get("natIP", ""),
        zone=told["zone"].rsplit("/", 1)[-1],
        spot=told.get("scheduling", {}).get("provisioningModel") == "SPOT",
    )
