# SPDX-License-Identifier: BSD-2-Clause
"""quorate hosts: machines of a cloud, against stand-ins of its tools (tests/clouds.py)."""

import json

import pytest
from program import REPOSITORY, call

TOOLS = ("aws", "gcloud", "ssh", "ssh-keygen")


@pytest.fixture
def cloud(tmp_path, monkeypatch):
    """The folder of a cloud without machines, with a key and nothing else at hand."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(REPOSITORY / "tests" / "clouds.py")
    (tmp_path / "key").write_text("PRIVATE KEY\n")
    (tmp_path / "key.pub").write_text("ssh-ed25519 MINE me\n")
    monkeypatch.setenv("CLOUD", str(tmp_path))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return tmp_path


def hosts(*words):
    return call("hosts", *words)


def launch(cloud, *words, name="try", on="aws"):
    image = ("--image", "ami-0abc") if on == "aws" else ()
    return hosts("launch", name, "--cloud", on, "--key", cloud / "key", *image, *words)


def calls(cloud, program):
    path = cloud / "calls"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if line.startswith(f"{program} ")]


def sent(cloud, machine):
    """What was done on a machine, by number: commands, and what they read."""
    return (cloud / f"sent-203.0.113.{machine}").read_text()


@pytest.mark.parametrize("on", ["aws", "google"])
def test_machines_are_launched_listed_and_ended(cloud, on):
    done = launch(cloud, "--machines", 3, "--spot", on=on)
    assert done.returncode == 0, done.stderr
    assert (cloud / "hosts").read_text() == "10.0.0.1:1\n10.0.0.2:8\n10.0.0.3:8\n"
    assert "next: scp hosts " in done.stdout and "203.0.113.1" in done.stdout
    machines = json.loads((cloud / "machines.json").read_text())
    assert [one["role"] for one in machines] == ["coordinator", "worker", "worker"]
    assert [one["spot"] for one in machines] == [False, True, True]
    told = hosts("list", "try", "--cloud", on).stdout.splitlines()
    assert len(told) == 4 and told[1].split()[1] == "coordinator" and told[2].endswith("spot")
    done = hosts("down", "try", "--cloud", on)
    assert done.returncode == 0 and done.stdout == "try: 3 machines have ended\n", done.stderr
    assert hosts("list", "try", "--cloud", on).stdout == "try has no machines\n"


def test_the_coordinator_gets_a_key_to_all_and_spot_machines_wait_for_their_notice(cloud):
    assert launch(cloud, "--machines", 2, "--spot", "--ranks", 4).returncode == 0
    assert (cloud / "hosts").read_text() == "10.0.0.1:1\n10.0.0.2:4\n"
    first, second = sent(cloud, 1), sent(cloud, 2)
    for text in (first, second):
        assert "authorized_keys\nssh-ed25519 PUBLIC quorate\n" in text
    assert "id_ed25519\nPRIVATE\n" in first and "PRIVATE\n" not in second
    assert "known_hosts\n10.0.0.1\n10.0.0.2\n" in first
    assert "spot/instance-action" in second and "pkill -USR2 -x quorate" in second
    assert "instance-action" not in first


def test_google_runs_the_notice_when_a_machine_shuts_down(cloud):
    words = ("--machines", 2, "--spot", "--user", "me", "--zone", "us-east1-b")
    assert launch(cloud, *words, on="google").returncode == 0
    assert (cloud / "worker-shutdown-script").read_text().startswith("#!/bin/sh\npkill -USR2")
    assert not (cloud / "coordinator-shutdown-script").exists()
    assert (cloud / "worker-ssh-keys").read_text() == "me:ssh-ed25519 MINE me\n"
    assert all("--zone us-east1-b" in line for line in calls(cloud, "gcloud")[1:3])


def test_machines_that_are_slow_to_begin_are_waited_for(cloud, monkeypatch):
    monkeypatch.setenv("REFUSES", "1")
    assert launch(cloud, "--wait", 10).returncode == 0
    monkeypatch.setenv("REFUSES", "1000")
    done = launch(cloud, "--wait", 0.1, "--hostfile", "others", name="other")
    assert done.returncode == 1 and "lets nobody log in: ssh" in done.stderr
    assert not (cloud / "others").exists()


def test_a_price_and_who_may_log_in_are_passed_on(cloud):
    assert launch(cloud, "--spot", "--price", "0.15", "--from", "192.0.2.0/24").returncode == 0
    text = "\n".join(calls(cloud, "aws"))
    assert "MaxPrice=0.15" in text and "CidrIp=192.0.2.0/24" in text


@pytest.mark.parametrize(
    "said, words",
    [
        ("--machines is 0", ("--machines", 0)),
        ("--wait is nan", ("--wait", "nan")),
        ("--ranks is -1", ("--ranks", -1)),
        ("give --spot too", ("--price", 1)),
        ("there is no", ("--key", "nowhere")),
        ("--hostfile is key, which is there", ("--hostfile", "key")),
        ("--zone is Google's", ("--zone", "a-b")),
        ("no option --machine; did you mean --machines?", ("--machine", "3")),
    ],
)
def test_bad_input_launches_nothing(cloud, said, words):
    done = launch(cloud, *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and not calls(cloud, "aws")


def test_a_group_that_is_there_is_left_alone(cloud):
    assert launch(cloud).returncode == 0
    before = (cloud / "machines.json").read_text()
    done = launch(cloud, "--hostfile", "other")
    assert done.returncode == 2 and "try has 2 machines" in done.stderr
    assert (cloud / "machines.json").read_text() == before and not (cloud / "other").exists()


@pytest.mark.parametrize("what", ["import-key-pair", "run-instances", "wait-instance-running"])
def test_a_cloud_that_refuses_is_quoted_and_nothing_is_half_written(cloud, what):
    (cloud / f"wrong-{what}").write_text("You have reached your quota")
    done = launch(cloud)
    assert done.returncode == 1 and "You have reached your quota" in done.stderr
    assert "machines may run, and cost: end them by quorate hosts down try" in done.stderr
    assert not list(cloud.glob("hosts*"))


def test_without_the_tool_a_line_says_so(cloud):
    (cloud / "bin" / "aws").unlink()
    done = launch(cloud)
    assert done.returncode == 2 and done.stderr.startswith("quorate hosts: aws is not installed")
