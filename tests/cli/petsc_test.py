# SPDX-License-Identifier: BSD-2-Clause
"""What env/petsc leaves behind: a library, or nothing. An apt-get of the test's own serves a
PETSc of a few lines."""

import os
import signal
import subprocess
import tarfile
import time

import pytest

from program import REPOSITORY

pytestmark = pytest.mark.whole

if subprocess.run(["pkg-config", "--exists", "mpich"], check=False).returncode != 0:
    pytest.skip("env/petsc builds for MPICH, which is not here", allow_module_level=True)

PETSC = {
    # Waits as long as there is a file that says so.
    "configure": """
import os, sys, time
while os.path.exists("{wait}"):
    time.sleep(0.05)
os.makedirs("quorate/lib/petsc/conf")
with open("quorate/lib/petsc/conf/files", "w") as files:
    files.write("srcs.c := src/vec/vec/a.c src/tao/b.c")
with open("prefix", "w") as prefix:
    prefix.write([word[9:] for word in sys.argv if word.startswith("--prefix=")][0])
""",
    "gmakefile": """
OBJDIR := quorate/obj
libpetsc_libname := quorate/lib/libpetsc.so
srcs.o := $(OBJDIR)/vec/vec/a.o $(OBJDIR)/tao/b.o
libs: $(libpetsc_libname)
$(libpetsc_libname): $(srcs.o)
\tgcc -shared -o $@ $^ $(PETSC_EXTERNAL_LIB_BASIC)
$(OBJDIR)/%.o: src/%.c
\t@mkdir -p $(@D)
\tgcc -fPIC -fvisibility=hidden -O0 $(CFLAGS) -Iinclude -c -o $@ $<
""",
    "config/install.py": """
import shutil, sys
with open("prefix") as prefix:
    root = sys.argv[1].split("=")[1] + prefix.read()
shutil.copytree("quorate/lib", root + "/lib")
shutil.copytree("include", root + "/include")
""",
    "include/petscsys.h": """
typedef int PetscErrorCode;
#define PETSC_COMM_SELF 0
#define PETSC_ERR_SUP 56
#define SETERRQ(comm, code, text) return code
""",
    # What it calls of dm is left out: an error, nothing to do, nothing to do, zero.
    "src/vec/vec/a.c": """
#include <petscsys.h>
extern PetscErrorCode DMView(int);
extern PetscErrorCode DMDestroy(int);
extern PetscErrorCode DMInitializePackage(void);
extern int DM_CLASSID;
__attribute__((visibility("default"))) PetscErrorCode VecView(int of)
{
    return DMView(of) + DMDestroy(of) + DMInitializePackage() + DM_CLASSID;
}
""",
    "src/tao/b.c": "int nothing;\n",
    "src/dm/makefile": "",
}


class Builder:
    """env/petsc with a cache of its own, and with what it downloads."""

    def __init__(self, folder):
        self.cache, self.wait = folder / "cache", folder / "wait"
        self.archive = folder / "petsc_1.orig.tar.xz"
        self.source = {name: text.replace("{wait}", str(self.wait)) for name, text in PETSC.items()}
        apt_get = folder / "bin" / "apt-get"
        apt_get.parent.mkdir()
        apt_get.write_text(f'#!/bin/sh\ncase "$*" in *" source "*) cp {self.archive} . ;; esac\n')
        apt_get.chmod(0o755)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PETSC_")}
        self.environment = {
            **clean,
            "PATH": f"{apt_get.parent}:{os.environ['PATH']}",
            "DEPS": "yes",
            "QUORATE_DEPS": str(self.cache),
            "INDEX": "64",  # so that no other PETSc is asked for
        }

    def pack(self):
        """Writes the archive."""
        tree = self.archive.parent / "petsc-1"
        for name, text in self.source.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        with tarfile.open(self.archive, "w:xz") as archive:
            archive.add(tree, tree.name)

    def start(self, **more):
        return subprocess.Popen(
            [REPOSITORY / "env" / "petsc", "mpich"],
            env={**self.environment, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def begin(self):
        """Starts, and returns when configure waits."""
        self.wait.touch()
        started = self.start()
        until(lambda: self.running("configure"))
        return started

    def running(self, what):
        """Processes below the cache."""
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        return [
            line for line in listed.stdout.splitlines() if str(self.cache) in line and what in line
        ]

    def left(self):
        return sorted(path.name for path in self.cache.iterdir())


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


NOTHING = ["lock", "petsc-build.log"]


@pytest.fixture
def builder(tmp_path):
    made = Builder(tmp_path)
    made.pack()
    return made


def test_it_builds_once_and_stands_in_for_what_is_left_out(builder):
    first = builder.start()
    prefix, said = first.communicate(timeout=60)
    assert first.returncode == 0, said
    assert builder.left() == sorted([*NOTHING, os.path.basename(prefix.strip())])
    assert builder.start(DEPS="no").communicate(timeout=60) == (prefix, "")
    library = prefix.strip() + "/lib/libpetsc.so"
    caller = f"import ctypes; print(ctypes.CDLL({library!r}).VecView(1))"
    called = subprocess.run(["python3", "-c", caller], capture_output=True, text=True, check=True)
    assert called.stdout == "56\n"
    # A program that calls what is left out does not link.
    names = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True)
    assert "VecView" in names.stdout and "DM" not in names.stdout


def test_only_what_a_killed_build_left_is_removed(builder):
    killed, mine, other = (
        builder.cache / f"{name}/a"
        for name in ("petsc-build.123456", "build", "petsc-build.backup")
    )
    for file in (killed, mine, other):
        file.parent.mkdir(parents=True)
        file.touch()
    (killed.parent / "phase").touch()
    built = builder.start()
    prefix = built.communicate(timeout=60)[0].strip()
    assert mine.exists() and other.exists()
    expected = [*NOTHING, os.path.basename(prefix), mine.parent.name, other.parent.name]
    assert builder.left() == sorted(expected)


def test_with_DEPS_no_the_remedies_are_named(builder):
    refused = builder.start(DEPS="no")
    printed, said = refused.communicate(timeout=60)
    assert refused.returncode == 1 and printed == ""
    assert said.endswith("DEPS=no builds none: set PETSC_DIR (env/README.md) or DEPS=yes\n")
    assert not builder.cache.exists()


@pytest.mark.parametrize(
    "phase, file, text",
    [
        ("download", None, None),
        ("configure", "configure", "raise SystemExit('no compiler')"),
        ("compile", "src/tao/b.c", "wrong"),
        # A name that is another library's, and that no library has.
        ("link", "src/tao/b.c", "void dgemv_(void); void b(void) { dgemv_(); }"),
        ("install", "config/install.py", "raise SystemExit(1)"),
    ],
)
def test_a_failed_build_leaves_nothing_and_says_how_to_go_on(builder, phase, file, text):
    if file:
        builder.source[file] = text
        builder.pack()
    else:
        builder.archive.unlink()
    failed = builder.start()
    printed, said = failed.communicate(timeout=60)
    assert failed.returncode == 1 and printed == ""
    last = said.splitlines()[-1]
    assert f"PETSc's {phase} failed, see {builder.cache}/petsc-build.log" in last
    assert "run make deps again" in last
    assert builder.left() == NOTHING


@pytest.mark.parametrize(
    "number, kill",
    [(signal.SIGINT, os.kill), (signal.SIGTERM, os.kill), (signal.SIGINT, os.killpg)],
)
def test_an_interrupted_build_leaves_nothing(builder, number, kill):
    build = builder.begin()
    kill(build.pid, number)
    printed, said = build.communicate(timeout=30)
    assert build.returncode == 128 + number and printed == ""
    assert said.splitlines()[-1].endswith("nothing is left behind, make deps begins again")
    assert builder.left() == NOTHING
    assert builder.running("") == []


def test_what_ignores_signals_is_killed(builder):
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    builder.source["configure"] = ignore + builder.source["configure"]
    builder.pack()
    build = builder.begin()
    build.terminate()
    # A second one does not end the first one's cleaning up.
    time.sleep(0.5)
    build.terminate()
    said = build.communicate(timeout=30)[1]
    assert said.splitlines()[-1].endswith("nothing is left behind, make deps begins again")
    assert builder.left() == NOTHING
    assert builder.running("") == []


def test_a_second_build_waits_for_the_first(builder):
    first = builder.begin()
    second, third = builder.start(), builder.start()
    for waiting in (second, third):
        assert "another build is running" in waiting.stderr.readline()
    third.terminate()
    third.communicate(timeout=30)
    assert third.returncode == -signal.SIGTERM
    builder.wait.unlink()
    prefix = first.communicate(timeout=60)[0]
    assert prefix.strip() and second.communicate(timeout=60)[0] == prefix
