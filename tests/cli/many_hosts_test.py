# SPDX-License-Identifier: BSD-2-Clause
"""Hosts on this machine (tests/hosts), of which nothing is left, and what is measured there."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from many_hosts import SCRIPT, Hosts, need_root
from program import QUORATE, REPOSITORY, environment, output, wait_until


def said(*words, env=None):
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=60, env=env
    )
    assert done.returncode == 2, done.stdout + done.stderr
    return done.stderr


def is_gone(pid):
    return not pathlib.Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("killed", ["while", "keeper"])
def test_nothing_is_left_when_somebody_is_killed(killed, tmp_path):
    need_root()
    folder = tmp_path / "hosts"
    owner = subprocess.Popen(["sleep", "1000"])
    words = ["up", "--hosts", "2", "--while", str(owner.pid), "--folder", folder]
    told = output(SCRIPT, *words, stdin=subprocess.DEVNULL)
    assert told == "10.77.0.1 n1\n10.77.0.2 n2\n"
    keeper, *inits = [int((folder / name).read_text()) for name in ("keeper", "init/n1", "init/n2")]
    away = subprocess.Popen([SCRIPT, "exec", "n2", "--folder", folder, "--", "sleep", "1000"])
    if killed == "while":
        owner.kill()
        owner.wait()
    else:
        os.kill(keeper, signal.SIGKILL)
    assert away.wait(60) != 0
    owner.kill()
    owner.wait()
    wait_until(lambda: all(is_gone(pid) for pid in [keeper, *inits]))
    # The keeper's folder is in nobody's way.
    with Hosts(folder, 1) as hosts:
        assert output(*hosts.on("n1", "hostname")) == "n1\n"
    assert not folder.exists()


def test_hosts_have_a_name_a_network_and_processes_of_their_own(tmp_path):
    need_root()
    with Hosts(tmp_path / "hosts", 2, "--rate", "100mbit") as hosts:
        assert output(*hosts.on("n1", "ssh", "n2", "hostname; echo $$")).split()[0] == "n2"
        (pathlib.Path("/dev/shm") / tmp_path.name).touch()
        assert output(*hosts.on("n1", "ls", "/dev/shm")) == ""
        (pathlib.Path("/dev/shm") / tmp_path.name).unlink()
        hosts.manage("link", "n2", "down")
        ssh = ["ssh", "-o", "ConnectTimeout=1", "n2", "true"]
        assert subprocess.run(hosts.on("n1", *ssh), capture_output=True).returncode != 0
        hosts.manage("link", "n2", "up")
        output(*hosts.on("n1", "ssh", "n2", "true"))
        of_these = ["--folder", hosts.folder]
        assert said(SCRIPT, "kill", "n3", *of_these) == (
            "hosts: there is no host n3, or it was killed\n"
        )
        assert said(SCRIPT, "link", "n1", "sideways", *of_these) == (
            "hosts: link n1: say up, down, or rate and a rate\n"
        )
        assert "take them down first" in said(SCRIPT, "up", *of_these)


def test_what_is_no_request_for_hosts_is_refused_in_one_line(tmp_path):
    need_root()
    folder = ["--folder", tmp_path]
    (tmp_path / "mine").touch()
    assert said(SCRIPT, "fly") == "hosts: say up, exec, link, kill or down\n"
    assert said(SCRIPT, "up", "--hosts", "many", *folder) == (
        "hosts: --hosts is many: give a number from 1 to 99\n"
    )
    assert said(SCRIPT, "up", *folder) == f"hosts: {tmp_path} is not empty: give another folder\n"
    assert said(SCRIPT, "exec", "n1", *folder, "--", "true") == (
        f"hosts: no hosts are up in {tmp_path}\n"
    )
    nobody = ["setpriv", "--reuid", "65534", "--clear-groups", "bash", SCRIPT, "up"]
    assert said(*nobody, *folder) == (
        "hosts: namespaces are made by root: use sudo, or a container with --privileged\n"
    )
    assert (tmp_path / "mine").exists()


@pytest.mark.whole
def test_what_a_slow_link_costs_is_measured():
    need_root()
    words = [REPOSITORY / "tests" / "bench" / "hosts", "--columns", 50, "--rounds", 3, "--turns", 1]
    table = output(sys.executable, *words, env=environment({"QUORATE": QUORATE}))
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| `")]
    names = ["uncoded", "frc --stragglers 1", "cyclic --stragglers 1", "ignore --stragglers 1"]
    assert rows == [f"`{name}`" for name in names]
