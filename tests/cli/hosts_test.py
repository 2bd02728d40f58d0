# SPDX-License-Identifier: BSD-2-Clause
"""Machines without a scheduler; a stand-in for ssh plays four of them."""

import os

import pytest

from program import QUORATE, REPOSITORY, call, our_lines

SSH = """#!/bin/bash
host=$5
[[ " $* " == *" -o BatchMode=yes "* ]] || exit 9  # else it would ask for a password
case $host:$6 in
  dead:*) echo "connection refused" >&2; exit 255 ;;
  old:*--version) echo "quorate: not found" >&2; exit 127 ;;
  other:cksum*) echo 1 2; exit ;;
  bare:command*) exit 1 ;;
  blind:test*) exit 1 ;;
esac
exec bash -c "$6"
"""
EXPERIMENT = REPOSITORY / "jobs" / "stragglers.ini"


@pytest.fixture
def hosts(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(SSH)
    (tmp_path / "bin" / "ssh").chmod(0o755)

    def check(*names, ready=False):
        path = tmp_path / "hosts"
        path.write_text("".join(f"{name}\n" for name in names))
        words = ["script", "--experiment", EXPERIMENT, "--cluster", "hosts", "--hostfile", path]
        words += ["--output", tmp_path / "out"]
        if ready:
            assert call(*words, "--quiet").returncode == 0
        env = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
        return call(*words, "--check", env=env)

    return check


def test_hosts_that_are_ready_pass(hosts):
    done = hosts("one:4", "two  # the other one")
    assert (done.returncode, done.stderr) == (0, "")


def test_each_fault_of_a_host_is_one_line(hosts, tmp_path):
    done = hosts("good", "dead", "old", "other", "bare", "blind", ready=True)
    assert done.returncode == 2
    faults = our_lines(done.stderr)
    assert faults == [
        "quorate: host dead: ssh without a password does not work (connection refused): "
        "set up a key",
        f"quorate: host old: {os.path.realpath(QUORATE)} does not run there (quorate: not found): "
        "install it at the same path",
        f"quorate: host other: {os.path.realpath(QUORATE)} is another one there: copy this one to "
        "the same path",
        faults[3],
        f"quorate: host blind: {tmp_path / 'out'} cannot be read there: share the folder, or copy "
        "it there",
    ]
    assert faults[3].startswith("quorate: host bare: mpiexec")


def test_the_launcher_gets_the_host_file(hosts, tmp_path):
    assert hosts("good", ready=True).returncode == 0
    script = (tmp_path / "out" / "run.sh").read_text()
    assert f" {tmp_path / 'hosts'} " in script and " -n 9 " in script


@pytest.mark.parametrize("line", ["-oProxyCommand=x", "a;b", "$(touch x)", ""])
def test_what_is_no_host_is_refused(line, hosts):
    done = hosts(line)
    assert done.returncode == 2
    assert "is no host" in done.stderr or "names no hosts" in done.stderr
