# SPDX-License-Identifier: BSD-2-Clause
"""The commands of `quorate hosts`."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from ..parsing import Parser, unknown_option
from .aws import Aws
from .google import Google
from .machines import COORDINATOR, BadInput, Cloud, Failed, Machine, Wanted
from .remote import Remote

DONE, FAILED, BAD_INPUT = 0, 1, 2
# How a cloud names things, and an example; that of the type is the default.
FORMS = {
    "aws": {
        "image": ("ami-[0-9a-f]+|resolve:ssm:.+", "ami-0123"),
        "type": (r"[a-z0-9-]+\.[a-z0-9-]+", "c7i.2xlarge"),
    },
    "google": {
        "image": ("[a-z0-9-]+/[a-z0-9-]+", "PROJECT/FAMILY, as debian-cloud/debian-12"),
        "type": ("[a-z0-9]+-[a-z0-9-]+", "c3-standard-8"),
        "zone": ("[a-z]+-[a-z]+[0-9]+-[a-z]", "us-east1-b"),
    },
}
USERS = {"aws": "admin", "google": os.environ.get("USER", "quorate")}
NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?")  # as Google wants it


def parser() -> Parser:
    top = Parser(
        prog="quorate hosts",
        description="Machines in a cloud, by its own tool: aws, or gcloud. Log in to that first.",
        epilog="For example: quorate hosts launch try --cloud aws --machines 5 --image ami-0123 "
        "--spot; then quorate script --cluster hosts --hostfile hosts",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("launch", "machines that can log in to each other, and a host file"),
        ("list", "the machines of a group"),
        ("down", "ends the machines of a group"),
    ):
        new = commands.add_parser(name, help=text, description=text)
        new.add_argument("group", metavar="NAME", help="of the group: a-z, 0-9 and -")
        new.add_argument("--cloud", required=True, choices=("aws", "google"))
        new.add_argument("--zone", default="", help="of Google; AWS takes that of its region")
        if name == "launch":
            add_launch(new)
    top.commands = commands.choices
    return top


def add_launch(new: argparse.ArgumentParser) -> None:
    new.add_argument("--machines", type=int, default=2, metavar="N", help="with the coordinator's")
    new.add_argument("--type", default="", help="of a machine [c7i.2xlarge, c3-standard-8]")
    new.add_argument(
        "--image",
        default="",
        metavar="AMI|PROJECT/FAMILY",
        help="with Quorate installed, or its Debian 12; AWS has no default "
        "[google: debian-cloud/debian-12]",
    )
    new.add_argument(
        "--spot", action="store_true", help="all but the coordinator's may be taken away"
    )
    new.add_argument("--price", default="", metavar="X", help="of a spot hour at most, in dollars")
    new.add_argument(
        "--ranks", type=int, default=0, metavar="R", help="of a worker's machine [cores]"
    )
    new.add_argument("--key", default="~/.ssh/id_ed25519", metavar="FILE", help="and FILE.pub")
    new.add_argument("--user", default="", help="to log in as [aws: admin; google: your name]")
    new.add_argument(
        "--from", dest="allowed", default="0.0.0.0/0", metavar="CIDR", help="who may log in (AWS)"
    )
    new.add_argument(
        "--wait", type=float, default=300.0, metavar="S", help="until one can log in [300]"
    )
    new.add_argument("--hostfile", default="hosts", metavar="FILE", help="to write [hosts]")


def cloud_of(given: argparse.Namespace) -> Cloud:
    if given.cloud == "aws":
        return Aws()
    return Google(given.zone)


def check_form(cloud: str, option: str, value: str) -> None:
    """Raises BadInput if the cloud calls nothing so."""
    form, example = FORMS[cloud][option]
    if not re.fullmatch(form, value):
        raise BadInput(f"--{option} is {value}, which no {option} is called: write {example}")


def check(given: argparse.Namespace) -> tuple[Wanted, Path]:
    """What to launch, and the private key. Raises BadInput before anything is launched."""
    if given.machines < 1 or given.machines > 1000:
        raise BadInput(f"--machines is {given.machines}: give 1 to 1000")
    if not 0 < given.wait < 86400:
        raise BadInput(f"--wait is {given.wait}: give seconds, above 0")
    if given.ranks < 0:
        raise BadInput(f"--ranks is {given.ranks}: give 1 or more")
    image = given.image or ("debian-cloud/debian-12" if given.cloud == "google" else "")
    if not image:
        raise BadInput("--image is missing: give the AMI of an image with Quorate, as ami-0123")
    of_type = given.type or FORMS[given.cloud]["type"][1]
    for option, value in (("image", image), ("type", of_type)):
        check_form(given.cloud, option, value)
    if given.price and not given.spot:
        raise BadInput("--price is of spot machines: give --spot too, or leave it out")
    if given.price and given.cloud == "google":
        raise BadInput("--price: Google's spot machines have no limit of price: leave it out")
    key = Path(given.key).expanduser()
    public = key.with_name(key.name + ".pub")
    for file in (key, public):
        if not file.is_file():
            raise BadInput(f"--key is {given.key}, but there is no {file}: make it by ssh-keygen")
    hostfile = Path(given.hostfile)
    if hostfile.exists():
        raise BadInput(f"--hostfile is {hostfile}, which is there: give another name, or remove it")
    wanted = Wanted(
        group=given.group,
        machines=given.machines,
        type=of_type,
        image=image,
        spot=given.spot,
        price=given.price,
        user=given.user or USERS[given.cloud],
        public_key=public,
        allowed=given.allowed,
    )
    return wanted, key


def launch(given: argparse.Namespace) -> None:
    wanted, key = check(given)
    cloud = cloud_of(given)
    there = cloud.machines(wanted.group)
    if there:
        raise BadInput(
            f"{wanted.group} has {len(there)} machines: give another name, or end them by "
            f"quorate hosts down {wanted.group} --cloud {given.cloud}"
        )
    try:
        cloud.launch(wanted)
        machines = cloud.machines(wanted.group)
        prepare(machines, wanted, cloud, Remote(wanted.user, key), given)
    except (Failed, OSError, KeyboardInterrupt):
        end = f"quorate hosts down {wanted.group} --cloud {given.cloud}"
        print(f"quorate hosts: machines may run, and cost: end them by {end}", file=sys.stderr)
        raise


def prepare(
    machines: list[Machine], wanted: Wanted, cloud: Cloud, remote: Remote, given: argparse.Namespace
) -> None:
    if len(machines) != wanted.machines or any(not one.runs for one in machines):
        states = ", ".join(f"{one.name} {one.state}" for one in machines)
        raise Failed(f"{wanted.machines} machines were asked for, and there are: {states}")
    remote.wait(machines, given.wait)
    remote.introduce(machines)
    lines = []
    for one in machines:
        ranks = 1 if one.role == COORDINATOR else given.ranks or remote.cores(one)
        lines.append(f"{one.inside}:{ranks}")
        if one.spot and cloud.notice:
            remote.watch(one, cloud.notice)
    write_new(Path(given.hostfile), "\n".join(lines) + "\n")
    show(machines)
    first = machines[0]
    print(f"{given.hostfile}: {len(machines)} machines")
    print(f"next: scp {given.hostfile} {wanted.user}@{first.outside}: and log in there")


def write_new(path: Path, text: str) -> None:
    """Whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    os.replace(part, path)


def show(machines: Sequence[Machine]) -> None:
    rows = [("machine", "role", "state", "inside", "outside", "zone", "")]
    for one in machines:
        kind = "spot" if one.spot else ""
        rows.append(
            (one.name, one.role, one.state, one.inside or "-", one.outside or "-", one.zone, kind)
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip())


def list_group(given: argparse.Namespace) -> None:
    machines = cloud_of(given).machines(given.group)
    if machines:
        show(machines)
    else:
        print(f"{given.group} has no machines")


def down(given: argparse.Namespace) -> None:
    cloud = cloud_of(given)
    machines = cloud.machines(given.group)
    cloud.down(machines, given.group)
    print(f"{given.group}: {len(machines)} machines have ended")


COMMANDS = {"launch": launch, "list": list_group, "down": down}


def main(words: Sequence[str]) -> int:
    top = parser()
    try:
        if wrong := unknown_option(top, words):
            raise BadInput(wrong)
        given = top.parse_args(words)
        if not NAME.fullmatch(given.group):
            raise BadInput(
                f"NAME is {given.group}: begin with a letter, and take a-z, 0-9 and - only"
            )
        if given.zone and given.cloud == "aws":
            raise BadInput("--zone is Google's: AWS takes that of its region; leave it out")
        if given.zone:
            check_form(given.cloud, "zone", given.zone)
        COMMANDS[given.command](given)
    except BadInput as error:
        print(f"quorate hosts: {error}", file=sys.stderr)
        return BAD_INPUT
    except (Failed, OSError) as error:
        print(f"quorate hosts: {error}", file=sys.stderr)
        return FAILED
    return DONE
