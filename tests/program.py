# SPDX-License-Identifier: BSD-2-Clause
"""Starting the program, alone or under the launcher, and reading what it leaves.

tests/run sets in variables what to run. Without them it is what `make build` has made.
"""

import functools
import json
import os
import pathlib
import re
import shlex
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import h5py
import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / os.environ.setdefault("B", "build")
MPI = os.environ.setdefault("MPI", "mpich")
OPEN_MPI = MPI == "openmpi"
QUORATE = os.environ.setdefault("QUORATE", str(BUILD / "quorate"))
LAUNCHER = shlex.split(os.environ.setdefault("LAUNCHER", f"mpiexec.{MPI}"))
SERVED = BUILD / "tests" / "served.so"  # see served.cpp
PACKAGE = str(BUILD / "python")  # of the Python module
os.environ.setdefault("PYTHON", sys.executable)
# What makes the launcher leave the other ranks alone when one dies.
KEEP_GOING = (
    ["--mca", "orte_allowed_exit_without_sync", "1"] if OPEN_MPI else ["-disable-auto-cleanup"]
)
TIMEOUT = 120  # seconds; far more than any run here takes

# What a launcher or scheduler around the tests may have set must not reach the program.
LAUNCHED = ("PMI", "OMPI_COMM_WORLD", "SLURM", "PMIX")


def environment(extra=None):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHED)}
    return {**clean, "HDF5_USE_FILE_LOCKING": "FALSE", **(extra or {})}


def descendants(pid):
    """Process ids below this one."""
    children = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def is_rank(pid, wanted):
    """Whether a process is this rank of the program, or its supervisor."""
    try:
        variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        program = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return False
    names = (f"PMI_RANK={wanted}", f"OMPI_COMM_WORLD_RANK={wanted}")
    return program == os.path.realpath(QUORATE) and any(n.encode() in variables for n in names)


def memory_of(pid, kind="RssAnon"):
    """Bytes that a process has now: of its own (RssAnon), or shared with others (RssShmem)."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return 1024 * int(status.partition(f"{kind}:")[2].split()[0]) if kind in status else 0


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


class Job:
    """A run under way."""

    def __init__(self, command, env):
        self.process = subprocess.Popen(
            command,
            env=environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def rank(self, wanted):
        """The process of a rank; of a resilient one, the supervised."""
        found = None
        for pid in descendants(self.process.pid):
            if is_rank(pid, wanted):
                found = pid
        return found

    def supervised(self, wanted):
        """The process of a rank that its supervisor waits for; None once it has ended."""
        pid = self.rank(wanted)
        try:
            return pid if pid is not None and is_rank(parent(pid), wanted) else None
        except OSError:
            return None

    def kill(self):
        """kill -9 of the launcher and all that it started."""
        for pid in [self.process.pid, *descendants(self.process.pid)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def wait(self, timeout=TIMEOUT):
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            out, err = self.process.communicate()
            pytest.fail(f"no end after {timeout} s\n{out}\n{err}")
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, out, err)


def command_line(words, ranks=None):
    command = [QUORATE, *[str(word) for word in words]]
    if ranks is None:
        return command
    spare = KEEP_GOING if "--resilient" in words else []
    return [*LAUNCHER, *spare, "-n", str(ranks), *command]


def whole(*cases):
    """Cases that only make test-all tries."""
    return [pytest.param(*case, marks=pytest.mark.whole) for case in cases]


@functools.cache
def schemes():
    """Each scheme with the options that its entry names as an example."""
    entry = r"^(\S+).*\n(?: +(?! |e\.g\.).*\n)*(?: +e\.g\. (.*)\n)?"
    found = re.findall(entry, call("list", "schemes").stdout, re.MULTILINE)
    return [(name, example.split()) for name, example in found]


def start(*words, ranks=None, env=None):
    return Job(command_line(words, ranks), env)


@functools.cache
def served(_inode):
    """The socket of a process that has the program loaded and starts it by a fork. A program that
    was built again has another inode, and a process of its own."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    env = environment({"LD_PRELOAD": str(SERVED)})
    with theirs:
        subprocess.Popen([QUORATE], stdin=theirs, env=env)
    return ours


def fork(command, timeout):
    """Runs a command of the program to its end, in a fork of the process that has it loaded."""
    variables = [f"{name}={value}" for name, value in environment().items()]
    request = [os.getcwd(), str(len(variables)), *variables, *command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        packet = b"".join(os.fsencode(text) + b"\0" for text in request)
        server = served(os.stat(QUORATE).st_ino)
        socket.send_fds(server, [packet], [out.fileno(), err.fileno()])
        answer = struct.Struct("i")
        (pid,) = answer.unpack(server.recv(answer.size))
        in_time = select.select([server], [], [], timeout)[0]
        if not in_time:
            os.killpg(pid, signal.SIGKILL)
        (status,) = answer.unpack(server.recv(answer.size))
        said = [file.seek(0) or file.read() for file in (out, err)]
    if not in_time:
        pytest.fail("\n".join([f"no end after {timeout} s", *said]))
    status = os.waitstatus_to_exitcode(status)
    return subprocess.CompletedProcess(command, status, *said)


def call(*words, ranks=None, env=None, timeout=TIMEOUT):
    """Runs the program to its end, whatever that is."""
    # With sanitizers it begins with their library, before any other.
    if ranks is None and env is None and SERVED.exists() and "SANITIZERS" not in os.environ:
        return fork(command_line(words), timeout)
    return start(*words, ranks=ranks, env=env).wait(timeout)


def petsc_flags():
    """How programs are compiled and linked with the PETSc and the MPI of this build."""
    made = (BUILD / "configure.mk").read_text()
    cflags, libs = (
        re.search(rf"^found_{name} := (.*)$", made, re.MULTILINE)[1].split()
        for name in ("mpi_cflags", "libs")
    )
    return [*cflags, *libs, *(f"-Wl,-rpath,{word[2:]}" for word in libs if word.startswith("-L"))]


def output(*words, env=None, **more):
    """What another program prints, which is to succeed."""
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
        **more,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wait_until(condition, timeout=TIMEOUT, every=0.05):
    """Looks every so many seconds."""
    limit = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(every)


def rounds_in(path):
    """Rounds that a trace holds, which may be under way."""
    try:
        with h5py.File(path, "r") as trace:
            return trace["round/time"].shape[0]
    except (OSError, KeyError):
        return 0


def attributes_of(node):
    """The attributes of an HDF5 object; h5py gives strings of fixed length as bytes."""
    return {n: v.decode() if isinstance(v, bytes) else v for n, v in node.attrs.items()}


def inspect(path):
    done = call("inspect", path, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def seen(path, name):
    """A number that inspect tells of a run under way; 0 if its trace is being written just now."""
    done = call("inspect", path, "--json")
    return json.loads(done.stdout)[name] if done.returncode == 0 else 0


def our_lines(text):
    """Lines of the program, without those of the launcher."""
    return [line for line in text.splitlines() if line.startswith("quorate")]
