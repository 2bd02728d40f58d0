# SPDX-License-Identifier: BSD-2-Clause
"""What make install puts into a prefix: a program that runs, and a library that links."""

import os
import shlex
import subprocess

import pytest

from program import REPOSITORY

PROGRAM = """
#include <base/parallel.hpp>
#include <cli/command.hpp>

#include <cstdio>

int main()
{
    // Of all layers: commands() names each of them, and so everything is linked.
    quorate::in_parallel(2, 2, [](std::size_t) {});
    std::printf("%zu\\n", quorate::commands().size());
}
"""


def output(*words, **more):
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=300, **more
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    output(os.environ.get("MAKE", "make"), "install", f"PREFIX={folder}", cwd=REPOSITORY)
    return folder


def test_a_program_links_with_what_pkg_config_says(prefix, tmp_path):
    source, program = tmp_path / "user.cpp", tmp_path / "user"
    source.write_text(PROGRAM)
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = shlex.split(output("pkg-config", "--cflags", "--libs", "quorate", env=env))
    output("g++", source, "-o", program, *flags)
    assert int(output(program)) > 10


def test_it_takes_tens_of_megabytes(prefix):
    size = sum(path.stat().st_size for path in prefix.rglob("*") if path.is_file())
    assert size < 100e6
    assert "quorate 0.1.0" in output(prefix / "bin" / "quorate", "--version")
