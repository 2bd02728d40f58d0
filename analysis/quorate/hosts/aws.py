# SPDX-License-Identifier: BSD-2-Clause
"""Amazon EC2, by the command-line tool `aws`."""

from typing import Any

from .machines import COORDINATOR, WORKER, Machine, Wanted, asked, call, in_order

TAG = "quorate"  # of machines; its value is the group
ENDED = ("shutting-down", "terminated")
# Two minutes before a spot machine goes, its metadata say so.
NOTICE = """#!/bin/sh
at=http://169.254.169.254/latest
while sleep 5; do
  token=$(curl -s -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' $at/api/token)
  if curl -s -f -o /dev/null -H "X-aws-ec2-metadata-token: $token" \\
    $at/meta-data/spot/instance-action; then
    pkill -USR2 -x quorate
    exit
  fi
done
"""


def ec2(*words: str) -> Any:
    return asked("aws", "ec2", *words, "--output", "json")


class Aws:
    notice = NOTICE

    def launch(self, wanted: Wanted) -> None:
        name = name_of(wanted.group)
        ec2(
            *("import-key-pair", "--key-name", name),
            *("--public-key-material", f"fileb://{wanted.public_key}"),
        )
        made = ec2(
            *("create-security-group", "--group-name", name),
            *("--description", "machines of a run of Quorate"),
        )
        guard = made["GroupId"]
        self.allow(
            guard, f"IpProtocol=tcp,FromPort=22,ToPort=22,IpRanges=[{{CidrIp={wanted.allowed}}}]"
        )
        self.allow(guard, f"IpProtocol=-1,UserIdGroupPairs=[{{GroupId={guard}}}]")
        self.start(wanted, guard, COORDINATOR, 1)
        if wanted.machines > 1:
            self.start(wanted, guard, WORKER, wanted.machines - 1)
        numbers = [machine.name for machine in self.machines(wanted.group)]
        call("aws", "ec2", "wait", "instance-running", "--instance-ids", *numbers)

    def allow(self, guard: str, permission: str) -> None:
        ec2(
            *("authorize-security-group-ingress", "--group-id", guard),
            *("--ip-permissions", permission),
        )

    def start(self, wanted: Wanted, guard: str, role: str, count: int) -> None:
        tags = f"{{Key={TAG},Value={wanted.group}}},{{Key=role,Value={role}}}"
        spot: tuple[str, ...] = ()
        if wanted.spot and role == WORKER:
            price = f"MaxPrice={wanted.price}," if wanted.price else ""
            options = f"MarketType=spot,SpotOptions={{{price}SpotInstanceType=one-time}}"
            spot = ("--instance-market-options", options)
        ec2(
            *("run-instances", "--image-id", wanted.image, "--instance-type", wanted.type),
            *("--count", str(count), "--key-name", name_of(wanted.group)),
            *("--security-group-ids", guard, *spot),
            *("--tag-specifications", f"ResourceType=instance,Tags=[{tags}]"),
        )

    def machines(self, group: str) -> list[Machine]:
        found = ec2("describe-instances", "--filters", f"Name=tag:{TAG},Values={group}")
        all_of = [one for part in found["Reservations"] for one in part["Instances"]]
        return in_order([machine(one) for one in all_of if one["State"]["Name"] not in ENDED])

    def down(self, machines: list[Machine], group: str) -> None:
        numbers = [machine.name for machine in machines]
        if numbers:
            ec2("terminate-instances", "--instance-ids", *numbers)
            call("aws", "ec2", "wait", "instance-terminated", "--instance-ids", *numbers)
        call("aws", "ec2", "delete-security-group", "--group-name", name_of(group))
        call("aws", "ec2", "delete-key-pair", "--key-name", name_of(group))


def name_of(group: str) -> str:
    """Of the key and of the security group."""
    return f"quorate-{group}"


def machine(told: dict[str, Any]) -> Machine:
    tags = {tag["Key"]: tag["Value"] for tag in told.get("Tags", [])}
    return Machine(
        name=told["InstanceId"],
        role=tags.get("role", WORKER),
        state=told["State"]["Name"],
        inside=told.get("PrivateIpAddress", ""),
        outside=told.get("PublicIpAddress", ""),
        zone=told["Placement"]["AvailabilityZone"],
        spot=told.get("InstanceLifecycle") == "spot",
    )
