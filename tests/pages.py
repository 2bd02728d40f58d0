# SPDX-License-Identifier: BSD-2-Clause
"""Code of the documentation: what its blocks are, which are commands, and which are Python.

A comment before a block says what is special about it, for the tests alone:

    <!-- not run: REASON -->                 none of its commands, or its Python, can run in a test
    <!-- not run (WORDS; WORDS): REASON -->  not those with such words in them
    <!-- run with --rounds 5 -->             another value of an option, which makes them shorter
    <!-- ends with 1 -->                     their exit status
    <!-- file: NAME -->                      the block is that file
    <!-- from: PATH -->                      it is quoted from that file
"""

import json
import pathlib
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field

from program import LAUNCHER, OPEN_MPI, QUORATE, REPOSITORY, TIMEOUT

PROGRAMS = (
    r"quorate|build/quorate|make|mpiexec\S*|mpirun|srun|sbatch|python3|cat|printf|g\+\+|cmake"
    r"|export|source|\.|git|eb"
    r"|apptainer|podman|mmdebstrap|spack|curl|bash|(env|slurm|tests|examples|jobs)/[\w./-]+|~/\S+"
)
COMMAND = re.compile(rf"(\w+=\S+ )*({PROGRAMS})( |$)")
PYTHON = re.compile(r"(import|from) \w+")  # how a block that is not fenced begins
MARK = re.compile(r"<!-- (not run|run with|ends with|file|from)\b(?: \((.*)\))?:? ?(.*) -->")


@dataclass
class Block:
    """Code between blank lines, where it stands, and what the comment before it says."""

    page: pathlib.Path
    line: int
    text: str
    language: str = ""  # of the fence
    marks: dict[str, tuple[str, str]] = field(default_factory=dict)  # words in brackets, the rest

    @property
    def place(self):
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"

    def is_command(self):
        shell_or_none = self.language in ("", "sh", "bash", "console")
        return shell_or_none and bool(COMMAND.match(self.text.removeprefix("$ ")))

    def is_python(self):
        return self.language == "python" or (not self.language and bool(PYTHON.match(self.text)))

    def commands(self):
        """Each with its continuations and here-documents; output of a session is left out."""
        session = self.text.startswith("$ ")
        found, end = [], None
        for line in self.text.splitlines():
            begins = end is None and not (found and found[-1].endswith("\\"))
            if begins and session and not line.startswith("$ "):
                continue
            if begins:
                found.append(line.removeprefix("$ "))
            else:
                found[-1] += "\n" + line
            if end is None and (here := re.search(r"<<'?(\w+)'?", line)):
                end = here[1]
            elif line == end:
                end = None
        return found


def blocks(page):
    """Blocks of a page. Blank lines divide them, but not what is fenced nor a here-document."""
    marks, lines, first = {}, [], 0
    fence = end = None
    for number, line in enumerate([*page.read_text().splitlines(), "end"], 1):
        inside = line[4:] if line.startswith("    ") else None
        if fence is not None:
            if line.strip() == "```":
                yield Block(page, first, "\n".join(lines), fence, marks)
                marks, lines, fence = {}, [], None
            else:
                lines.append(line)
        elif inside is not None or (end and not line):
            first = first if lines else number
            lines.append(inside or "")
            if end is None and (here := re.search(r"<<'?(\w+)'?", line)):
                end = here[1]
            elif inside == end:
                end = None
        else:
            if lines:
                yield Block(page, first, textwrap.dedent("\n".join(lines)), "", marks)
                marks, lines, end = {}, [], None
            if mark := MARK.fullmatch(line.strip()):
                marks[mark[1]] = (mark[2] or "", mark[3])
            elif line.startswith("```"):
                fence, first = line.removeprefix("```"), number + 1
            elif line:
                marks = {}


def shell(folder, env):
    """An environment in which quorate and python3 are those under test."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "quorate").symlink_to(QUORATE)
    (tools / "python3").symlink_to(sys.executable)
    return {**env, "PATH": f"{tools}:{env['PATH']}"}


def run(command, folder, env, timeout=TIMEOUT):
    """What a command does, started by the launcher under test."""
    if OPEN_MPI:
        command = command.replace("mpiexec.mpich", " ".join(LAUNCHER))
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


class Interpreter:
    """Runs Python, block after block, in the names that those before have left."""

    LOOP = """
import contextlib, json, sys
names = {"__name__": "__main__"}
for line in sys.stdin:
    path, first, text = json.loads(line)
    with contextlib.redirect_stdout(sys.stderr):
        exec(compile("\\n" * (first - 1) + text, path, "exec"), names)
    print("done", flush=True)
"""

    def __init__(self, folder, env):
        self.errors = open(folder / "errors.txt", "w+")
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.LOOP],
            cwd=folder,
            env={**env, "MPLBACKEND": "Agg"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()  # the end of its input ends it
        self.errors.close()

    def run(self, path, first, text):
        """Asserts that this text, from that line on of a page, raises nothing."""
        self.process.stdin.write(json.dumps([str(path), first, text]) + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "done\n":
            self.errors.seek(0)
            raise AssertionError(f"{path}:{first}: {self.errors.read()}")
