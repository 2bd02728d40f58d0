# SPDX-License-Identifier: BSD-2-Clause
"""Runs whose files are harmed: by a system call that fails or kills, a second writer, a power loss,
a pause, a full disk. What is called a run here may be stopped by that; then the same command goes
on, and ends with the trace of the run that nothing happened to, bit for bit."""

import errno
import fcntl
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time

import h5py

from program import BUILD, QUORATE, call, environment, inspect, start, wait_until
from traces import same

CALLS = BUILD / "tests" / "calls.so"
# Schemes whose rounds differ: all answers, some, any order, sums of old gradients.
SCHEMES = ["uncoded", "agc --stragglers 1 --collect 4", "async", "dsag --collect 3"]
ERRORS = [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EINTR, errno.ESTALE]
LIMIT = 60  # seconds
DIED = 3  # of /membership


class Files:
    """Runs under the virtual clock in a folder of their own, which each run finds empty."""

    def __init__(self, folder, random):
        self.home = folder / "files"
        self.home.mkdir()
        self.random = random
        self.folder = self.home / "run"
        self.data = self.home / "data.h5"
        size = ["--rows", 120, "--columns", 30, "--test-rows", 20, "--seed", 3]
        assert call("generate", *size, "--output", self.data, "--quiet").returncode == 0

    # --- runs -------------------------------------------------------------------------------------

    def begin(self, rounds, every):
        """Draws a run. Its folder is empty then."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.scheme = self.random.choice(SCHEMES)
        words = ["simulate", "--data", self.data, "--scheme", *self.scheme.split()]
        words += ["--workers", 6, "--rounds", rounds, "--step", 0.02, "--row-time", 0.001]
        self.words = [*words, "--delay", "exponential:0.1", "--evaluate-every", 10, "--quiet"]
        unbroken = self.home / f"{self.scheme.split()[0]}-{rounds}.h5"
        if not unbroken.exists():
            assert call(*self.words, "--trace", unbroken).returncode == 0
        self.unbroken, self.trace = unbroken, self.folder / "t.h5"
        self.checkpoint = self.folder / "c.h5"
        self.words += ["--trace", self.trace, "--checkpoint", self.checkpoint]
        self.words += ["--checkpoint-every", every, "--resume", "--unsaved", 0.2]

    def start(self, env=None, before=()):
        return subprocess.Popen(
            [*before, QUORATE, *[str(word) for word in self.words]],
            env=environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ends(self, process):
        """@return its exit status and messages"""
        try:
            messages = process.communicate(timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            messages = f"no end after {LIMIT} s: {process.communicate()[1]}"
        return process.returncode, messages

    def goes_on(self, what):
        """What is wrong with the same command, given again; nothing if it ends as that unbroken."""
        status, messages = self.ends(self.start())
        if status != 0:
            return f"{self.scheme}, {what}: not resumed, exit status {status}: {messages}"
        return self.differs(what)

    def differs(self, what):
        report = inspect(self.trace)
        if report["status"] != "completed" or report["faults"]:
            return f"{self.scheme}, {what}: {report['status']}, {report['faults'][:1]}"
        try:
            same(self.unbroken, self.trace)
        except AssertionError as other:
            return f"{self.scheme}, {what}: another {other}"
        rest = {path.name for path in self.folder.iterdir()}
        rest -= {"t.h5", "c.h5", "c.h5.1", "lost+found"}
        # Of what was killed, and of what could not be removed.
        rest = {name for name in rest if not re.search(r"\.(owner|part|\w{6})$", name)}
        return f"{self.scheme}, {what}: left {sorted(rest)}" if rest else ""

    # --- system calls -----------------------------------------------------------------------------

    def calls_of(self, process):
        """@return how many calls a run has made when it has ended, and how that was"""
        status, messages = self.ends(process)
        return struct.unpack("q", self.counter.read_bytes())[0], status, messages

    def with_calls(self):
        """The environment in which the calls of a run are counted, from now on."""
        self.counter = self.home / "counter"
        self.counter.write_bytes(bytes(8))
        env = {"CALLS_FOLDER": str(self.folder), "CALLS_COUNTER": str(self.counter)}
        return {**env, "LD_PRELOAD": str(CALLS)}

    def harmed(self, at, harm, lasting):
        env = {**self.with_calls(), "CALLS_AT": str(at), "CALLS_HARM": str(harm)}
        return self.start({**env, "CALLS_LASTING": "yes" if lasting else ""})

    def one_call(self):
        """A system call on a file of the run fails, or kills it, and so perhaps does one of the run
        that goes on."""
        self.begin(rounds=60, every="10r")
        done = []
        for _ in range(self.random.choice([1, 1, 2])):
            harm = self.random.choice(["before", "after", *self.random.sample(ERRORS, 2)])
            at = self.random.randint(1, 330)
            # What is interrupted is tried again, for ever.
            lasting = harm not in ("before", "after", errno.EINTR) and self.random.random() < 0.5
            name = harm if isinstance(harm, str) else errno.errorcode[harm]
            done.append(f"call {at} {name}{' and all after it' if lasting else ''}")
            what = ", then ".join(done)
            calls, status, messages = self.calls_of(self.harmed(at, harm, lasting))
            if calls < at:
                done[-1] += " (not reached)"
            killed = harm in ("before", "after") and calls >= at
            if killed != (status == -signal.SIGKILL) or (
                not killed and status not in (0, 1, 2, 75)
            ):
                return f"{self.scheme}, {what}: exit status {status}: {messages}"
            if not killed and status != 0 and not messages.startswith("quorate: "):
                return f"{self.scheme}, {what}: status {status} says {messages!r}"
            if status == 0 and self.differs(what):
                return self.differs(what)
        return self.goes_on(what)

    # --- a second writer --------------------------------------------------------------------------

    def two_at_once(self):
        """The same command twice, at about the same time."""
        self.begin(rounds=400, every="50r")
        first = self.start()
        time.sleep(self.random.random() * 0.5)
        second = self.start()
        ended = [self.ends(one) for one in (first, second)]
        what = f"exit statuses {ended[0][0]}, {ended[1][0]}"
        for status, messages in ended:
            refused = status == 2 and "is being written by" in messages
            if status != 0 and not refused:
                return f"{self.scheme}, {what}: {messages}"
        if all(status != 0 for status, _ in ended):
            return f"{self.scheme}, {what}: neither has written"
        return self.differs(what)

    def second_after_a_pause(self):
        """A run is stopped, and wakes when its successor has completed: one of another host, where
        files have no locks."""
        if os.geteuid() != 0:
            return self.two_at_once()
        self.begin(rounds=2000, every="100r")
        no_locks = {**self.with_calls(), "CALLS_NO_LOCKS": "yes"}
        # Of a process that is to be stopped no shell stands before it.
        first = self.start(no_locks)
        wait_until(lambda: self.trace.exists() or first.poll() is not None)
        time.sleep(self.random.random() * 0.5)
        first.send_signal(signal.SIGSTOP)
        elsewhere = ["unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "sh"]
        status, messages = self.ends(self.start(no_locks, elsewhere))
        complete = self.trace.read_bytes() if self.trace.exists() else b""
        first.send_signal(signal.SIGCONT)
        late, said = self.ends(first)
        what = f"the second ended with {status}, the first with {late}"
        if status != 0:
            return f"{self.scheme}, {what}: {messages}"
        if self.trace.read_bytes() != complete:
            return f"{self.scheme}, {what}: the first has written"
        if late != 0 and "has been taken by" not in said:  # 0: it was done when it was stopped
            return f"{self.scheme}, {what}: {said}"
        return self.differs(what)

    # --- power losses -----------------------------------------------------------------------------

    def power_loss(self):
        """The file system of the run loses all that was not synced."""
        self.begin(rounds=1500, every="40r")
        with Disk(self.home / "disk", self.folder) as disk:
            process = self.start()
            time.sleep(self.random.random())
            kept = rounds_kept(self.checkpoint)
            disk.lose_power()
            process.kill()
            process.communicate()
            disk.restart()
            left = max(map(rounds_kept, [self.checkpoint, pathlib.Path(f"{self.checkpoint}.1")]))
            # What was seen may not have been on disk yet, but the one before was.
            if left < kept - 40:
                return f"{self.scheme}: a checkpoint of round {kept} is lost, round {left} is left"
            return self.goes_on(f"power lost after round {kept}")

    # --- pauses -----------------------------------------------------------------------------------

    def pause(self):
        """Processes of a run over MPI are stopped for longer than the timeout; or its files are."""
        self.begin(rounds=150, every="1s")
        self.scheme = "uncoded"
        who = self.random.choice(["coordinator", "all ranks", "launcher and all", "file system"])
        if who == "file system" and os.geteuid() != 0:
            who = "all ranks"
        words = ["run", "--data", self.data, "--rounds", 150, "--step", 0.02, "--quiet"]
        words += ["--delay", "exponential:0.005", "--timeout", 0.5, "--trace", self.trace]
        if self.random.random() < 0.5:
            words.append("--resilient")
        with Disk(self.home / "disk", self.folder) as disk:
            job = start(*words, ranks=5)
            wait_until(lambda: self.trace.exists() or job.process.poll() is not None)
            time.sleep(self.random.random())
            if who == "file system":
                with disk.frozen():
                    time.sleep(2)
            else:
                ranks = [0] if who == "coordinator" else range(5)
                processes = [p for p in map(job.rank, ranks) if p is not None]
                if who == "launcher and all":
                    processes.append(job.process.pid)
                for number in (signal.SIGSTOP, signal.SIGCONT):
                    for process in processes:
                        send(process, number)
                    if number == signal.SIGSTOP:
                        time.sleep(2)
            done = job.wait(LIMIT)
            if done.returncode != 0:
                return f"{who}: exit status {done.returncode}: {done.stderr}"
            report = inspect(self.trace)
            with h5py.File(self.trace, "r") as trace:
                dead = int((trace["membership/kind"][:] == DIED).sum())
            if report["status"] != "completed" or report["faults"] or dead:
                return f"{who}: {report['status']}, {dead} deaths, {report['faults'][:1]}"
        return ""

    # --- full disks -------------------------------------------------------------------------------

    def full_disk(self):
        """The disk is full before the run has ended, and larger when it goes on."""
        self.begin(rounds=1500, every="40r")
        with Disk(self.home / "disk", self.folder, of_memory=True) as disk:
            disk.resize(self.random.randint(100_000, self.unbroken.stat().st_size))
            status, messages = self.ends(self.start())
            what = f"exit status {status}"
            if status != 75 or "cannot be written" not in messages:
                return f"{self.scheme}, {what}: {messages}"
            disk.resize(64 << 20)
            return self.goes_on(what)


def rounds_kept(checkpoint):
    """Rounds that a checkpoint holds; 0: there is none."""
    try:
        with h5py.File(checkpoint, "r") as file:
            return int(file.attrs["round"])
    except (OSError, KeyError):
        return 0


def send(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


class Disk:
    """A file system of its own, at a folder. Only root makes one; else the folder stays."""

    def __init__(self, image, folder, of_memory=False):
        self.image, self.folder, self.of_memory = image, folder, of_memory

    def __enter__(self):
        if os.geteuid() != 0:
            return self
        if not self.of_memory:
            with open(self.image, "wb") as image:
                image.truncate(64 << 20)
            run("mkfs.ext4", "-q", "-F", self.image)
        self.mount()
        return self

    def __exit__(self, *_):
        if os.geteuid() == 0:
            run("umount", self.folder)

    def mount(self):
        if self.of_memory:
            run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", self.folder)
        else:
            run("mount", "-o", "loop", self.image, self.folder)

    def resize(self, size):
        run("mount", "-o", f"remount,size={size}", self.folder)

    def lose_power(self):
        """Drops what is not on the device, and takes it away: EXT4_IOC_SHUTDOWN, without a flush of
        the log."""
        folder = os.open(self.folder, os.O_RDONLY)
        fcntl.ioctl(folder, 0x8004587D, struct.pack("I", 2))
        os.close(folder)

    def restart(self):
        """Mounts it again, when nobody has it open."""
        run("umount", self.folder)
        self.mount()

    def frozen(self):
        return Frozen(self.folder)


class Frozen:
    """Lets writes of a file system wait, as one that stalls."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        run("fsfreeze", "--freeze", self.folder)

    def __exit__(self, *_):
        run("fsfreeze", "--unfreeze", self.folder)


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True)
