#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Stands in for aws, gcloud, ssh and ssh-keygen, by whose name it is started.

It knows the calls that `quorate hosts` makes, with the values that the tools take, and refuses all
others as they do. What it answers has the form of their answers. CLOUD is a folder: `calls` lists
what was called, `machines.json` what runs, and files of it say what is to go wrong. NETWORK is
where machines have their addresses.
"""

import json
import os
import pathlib
import re
import sys

CLOUD = pathlib.Path(os.environ["CLOUD"])
MACHINES = CLOUD / "machines.json"
NUMBER, NAME, GROUP = "i-[0-9a-f]{17}", "quorate-[a-z0-9-]+", "sg-0123"
TEXT = r"[^\n]+"
TAGS = (
    r"ResourceType=instance,Tags=\[\{Key=quorate,Value=[a-z0-9-]+\},"
    r"\{Key=role,Value=(coordinator|worker)\}\]"
)
RULE = (
    r"IpProtocol=tcp,FromPort=22,ToPort=22,IpRanges=\[\{CidrIp=[0-9./]+\}\]"
    rf"|IpProtocol=-1,UserIdGroupPairs=\[\{{GroupId={GROUP}\}}\]"
)
SPOT = r"MarketType=spot,SpotOptions=\{(MaxPrice=[0-9.]+,)?SpotInstanceType=one-time\}"
# By command: its options, with what their values look like; None: it has none. * may be left out.
AWS = {
    "import-key-pair": {"key-name": NAME, "public-key-material": "fileb://.+"},
    "create-security-group": {"group-name": NAME, "description": TEXT},
    "authorize-security-group-ingress": {"group-id": GROUP, "ip-permissions": RULE},
    "run-instances": {
        "image-id": "ami-[0-9a-f]+",
        "instance-type": r"[a-z0-9]+\.[a-z0-9]+",
        "count": "[0-9]+",
        "key-name": NAME,
        "security-group-ids": GROUP,
        "tag-specifications": TAGS,
        "instance-market-options*": SPOT,
    },
    "describe-instances": {"filters": "Name=tag:quorate,Values=[a-z0-9-]+"},
    "terminate-instances": {"instance-ids": NUMBER},
    "wait instance-running": {"instance-ids": NUMBER},
    "wait instance-terminated": {"instance-ids": NUMBER},
    "delete-security-group": {"group-name": NAME},
    "delete-key-pair": {"key-name": NAME},
}
LABELS = "quorate=[a-z0-9-]+,role=(coordinator|worker)"
GCLOUD = {
    "create": {
        "zone*": "[a-z0-9-]+",
        "machine-type": "[a-z0-9]+-[a-z0-9-]+",
        "image-family": "[a-z0-9-]+",
        "image-project": "[a-z0-9-]+",
        "provisioning-model*": "SPOT",
        "instance-termination-action*": "DELETE",
        "labels": LABELS,
        "metadata-from-file": "ssh-keys=[^,]+(,shutdown-script=[^,]+)?",
        "format": "json",
    },
    "list": {"filter": "labels.quorate=[a-z0-9-]+", "format": "json"},
    "delete": {"zone": "[a-z0-9-]+", "quiet": None},
}


def refuse(text):
    print(text, file=sys.stderr)
    sys.exit(252)


def options_of(words, known, several=()):
    """Values by option, and operands. Options in `several` take all that follows."""
    found, operands, words = {}, [], list(words)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            operands.append(word)
            continue
        name = word[2:]
        pattern = known.get(name, known.get(f"{name}*", "no such option"))
        if pattern is None:
            found[name] = True
            continue
        values = [words.pop(0)] if words else refuse(f"expected one argument: {word}")
        while name in several and words and not words[0].startswith("--"):
            values.append(words.pop(0))
        for value in values:
            if not re.fullmatch(pattern, value):
                refuse(f"invalid value {value!r} of {word}, which is like {pattern}")
        found[name] = values if name in several else values[0]
    missing = [name for name in known if not name.endswith("*") and name not in found]
    if missing:
        refuse(f"the following arguments are required: --{missing[0]}")
    return found, operands


def machines():
    return json.loads(MACHINES.read_text()) if MACHINES.exists() else []


def goes_wrong(what):
    flaw = CLOUD / f"wrong-{what}"
    if flaw.exists():
        print(f"\nAn error occurred ({what}): {flaw.read_text()}", file=sys.stderr)
        sys.exit(254)


def add(count, **more):
    all_of = machines()
    for _ in range(count):
        at = len(all_of) + 1
        inside = f"{os.environ.get('NETWORK', '10.0.0')}.{at}"
        all_of.append({"at": at, "inside": inside, "outside": f"203.0.113.{at}", **more})
    MACHINES.write_text(json.dumps(all_of))


def aws(words):
    if words[:1] != ["ec2"]:
        refuse("expected ec2")
    command = " ".join(words[1:3]) if words[1] == "wait" else words[1]
    words = words[3 if words[1] == "wait" else 2 :]
    if command not in AWS:
        refuse(f"Found invalid choice {command!r}")
    goes_wrong(command.replace(" ", "-"))
    asks = command not in ("delete-security-group", "delete-key-pair") and "wait" not in command
    known = {**AWS[command], **({"output": "json"} if asks else {})}
    given, operands = options_of(words, known, several=("instance-ids",))
    if operands:
        refuse(f"Unknown options: {operands}")
    if command == "create-security-group":
        return {"GroupId": GROUP}
    if command == "run-instances":
        role = re.search("role,Value=([a-z]+)", given["tag-specifications"])[1]
        group = re.search("quorate,Value=([^}]+)", given["tag-specifications"])[1]
        spot = "instance-market-options" in given
        add(int(given["count"]), role=role, group=group, spot=spot, state="pending")
        return {"Instances": []}
    if command == "wait instance-running":
        MACHINES.write_text(json.dumps([{**one, "state": "running"} for one in machines()]))
    if command == "terminate-instances":
        left = [
            {**one, "state": "terminated"} if number(one) in given["instance-ids"] else one
            for one in machines()
        ]
        MACHINES.write_text(json.dumps(left))
    if command == "describe-instances":
        group = given["filters"].rpartition("=")[2]
        some = [instance(one) for one in machines() if one["group"] == group]
        return {"Reservations": [{"Instances": [one]} for one in some]}
    return {} if asks else None


def number(one):
    return f"i-{one['at']:017x}"


def instance(one):
    told = {
        "InstanceId": number(one),
        "State": {"Code": 16, "Name": one["state"]},
        "Placement": {"AvailabilityZone": "us-east-1a"},
        "Tags": [
            {"Key": "quorate", "Value": one["group"]},
            {"Key": "role", "Value": one["role"]},
        ],
    }
    if one["state"] != "terminated":
        told |= {"PrivateIpAddress": one["inside"], "PublicIpAddress": one["outside"]}
    return told | ({"InstanceLifecycle": "spot"} if one["spot"] else {})


def gcloud(words):
    if words[:2] != ["compute", "instances"] or words[2] not in GCLOUD:
        refuse(f"Invalid choice: {words[:3]}")
    goes_wrong(words[2])
    given, names = options_of(words[3:], GCLOUD[words[2]])
    if words[2] == "create":
        role = given["labels"].rpartition("=")[2]
        group = re.search("quorate=([^,]+)", given["labels"])[1]
        files = dict(one.split("=") for one in given["metadata-from-file"].split(","))
        for key, file in files.items():
            (CLOUD / f"{role}-{key}").write_text(pathlib.Path(file).read_text())
        for name in names:
            spot = "provisioning-model" in given
            add(1, name=name, role=role, group=group, spot=spot, zone=given.get("zone", "a-b-c"))
        return []
    if words[2] == "list":
        group = given["filter"].rpartition("=")[2]
        return [found(one) for one in machines() if one["group"] == group]
    left = [one for one in machines() if one["name"] not in names or one["zone"] != given["zone"]]
    MACHINES.write_text(json.dumps(left))
    return None


def found(one):
    zone = f"https://www.googleapis.com/compute/v1/projects/p/zones/{one['zone']}"
    scheduling = {"provisioningModel": "SPOT" if one["spot"] else "STANDARD"}
    outside = [{"name": "External NAT", "natIP": one["outside"]}]
    return {
        "name": one["name"],
        "status": "RUNNING",
        "zone": zone,
        "labels": {"quorate": one["group"], "role": one["role"]},
        "scheduling": scheduling,
        "networkInterfaces": [{"networkIP": one["inside"], "accessConfigs": outside}],
    }


def ssh(words):
    given, (target, command) = [], words[-2:]
    rest = words[:-2]
    while rest:
        option, value = rest[:2]
        if option not in ("-i", "-o"):
            refuse(f"unknown option -- {option}")
        given.append(value)
        rest = rest[2:]
    user, _, address = target.partition("@")
    known = [one for one in machines() if one["outside"] == address]
    if not user or not known or not os.path.isfile(given[0]) or "BatchMode=yes" not in given:
        print(f"{target}: Permission denied (publickey).", file=sys.stderr)
        sys.exit(255)
    tries = CLOUD / f"tries-{address}"
    count = int(tries.read_text()) if tries.exists() else 0
    tries.write_text(str(count + 1))
    if count < int(os.environ.get("REFUSES", 0)):
        print("ssh: connect to host port 22: Connection refused", file=sys.stderr)
        sys.exit(255)
    with (CLOUD / f"sent-{address}").open("a") as log:
        log.write(f"$ {command}\n{sys.stdin.read()}")
    if command == "nproc":
        print(8)
    return None


def ssh_keygen(words):
    given, operands = options_of(
        [word.replace("-", "--", 1) if re.fullmatch("-[qtNCf]", word) else word for word in words],
        {"q": None, "t": "ed25519", "N": "", "C": TEXT, "f": TEXT},
    )
    if operands:
        refuse("Too many arguments.")
    path = pathlib.Path(given["f"])
    path.write_text("PRIVATE\n")
    path.with_suffix(".pub").write_text("ssh-ed25519 PUBLIC quorate\n")
    return None


def main():
    program, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
    with (CLOUD / "calls").open("a") as log:
        log.write(" ".join([program, *words]) + "\n")
    answer = {"aws": aws, "gcloud": gcloud, "ssh": ssh, "ssh-keygen": ssh_keygen}[program](words)
    if answer is not None:
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
