# SPDX-License-Identifier: BSD-2-Clause
"""What make install puts into a prefix: a program and libraries that work wherever it is."""

import os
import re
import shlex
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from program import BUILD, REPOSITORY, output, petsc_flags

pytestmark = pytest.mark.whole

PROGRAM = """
#include <cstdio>
#include <quorate/quorate.hpp>
#include <quorate/scheme/scheme.hpp>

#if defined(H5_VERS_MAJOR) || defined(MPI_VERSION) || defined(PETSC_VERSION_MAJOR)
#error the public header includes one of a library that it hides
#endif

int main()
{
    const auto trace = quorate::simulate({{"dry", "on"}, {"workers", "12"}, {"rounds", "12"}});
    std::printf("%zu\\n", trace.rounds.size());
}

static_assert(QUORATE_VERSION_MAJOR + QUORATE_VERSION_MINOR + QUORATE_VERSION_PATCH > 0);
const char* const version = QUORATE_VERSION;
"""

PROJECT = """
cmake_minimum_required(VERSION 3.12)
project(user CXX)
find_package(quorate 0.1 REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE quorate::quorate)
"""


def make(*words):
    return output(os.environ.get("MAKE", "make"), *words, cwd=REPOSITORY)


@pytest.fixture()
def source(tmp_path):
    path = tmp_path / "user.cpp"
    path.write_text(PROGRAM)
    return path


def by_pkg_config(prefix, *words):
    env = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    return shlex.split(output("pkg-config", *words, "--cflags", "--libs", "quorate", env=env))


def libraries(program, **env):
    """The libraries that a program loads: name to path."""
    lines = [line.split() for line in output("ldd", program, env=env).splitlines()]
    return {words[0]: os.path.realpath(words[2]) for words in lines if "=>" in words}


def library_of(prefix):
    return os.path.realpath(prefix / "lib" / "libquorate.so")


def test_a_program_links_with_what_pkg_config_says(prefix, source, tmp_path):
    program = tmp_path / "user"
    output("g++", source, "-o", program, *by_pkg_config(prefix))
    assert output(program) == "12\n"
    assert library_of(prefix) in libraries(program).values()
    # What the library needs is not the program's to name.
    needed = output("objdump", "-p", program)
    assert "libquorate" in needed and "libpetsc" not in needed and "libfmt" not in needed


def test_a_program_links_with_the_build_tree_alike(source, tmp_path):
    program = tmp_path / "user"
    include, library = f"-I{BUILD / 'include'}", f"-L{BUILD}"
    output("g++", "-std=c++20", source, "-o", program, include, library, "-lquorate")
    assert output(program, env={"LD_LIBRARY_PATH": str(BUILD)}) == "12\n"


def test_headers_have_one_root_and_only_those_of_the_list_are_there(prefix):
    assert by_pkg_config(prefix)[:2] == ["-std=c++20", f"-I{prefix}/lib/pkgconfig/../../include"]
    root = prefix / "include"
    assert [path.name for path in root.iterdir()] == ["quorate"]
    listed = make("--eval", "show: ; @echo $(included:$(B)/include/%=%)", "show").split()
    found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert found == set(listed) and len(found) == len(listed)
    for name in found:
        text = (root / name).read_text()
        assert not re.findall(r'#include ".*', text), name
        assert set(re.findall("#include <(quorate/.*)>", text)) <= found, name


def test_each_header_stands_alone(prefix, tmp_path):
    names = sorted(str(path.relative_to(prefix / "include")) for path in prefix.rglob("*.hpp"))
    flags = [flag for flag in by_pkg_config(prefix) if not flag.startswith(("-l", "-L", "-Wl"))]

    def compiled(name):
        source = tmp_path / (name.replace("/", "-") + ".cpp")
        source.write_text(f"#include <{name}>\nstatic_assert(sizeof(int) >= 4);\n")
        more = petsc_flags() if "petsc" in name else []
        output("g++", "-fsyntax-only", "-Wall", "-Werror", source, *flags, *more)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compiled, names))


def test_what_the_public_header_declares_has_the_version_in_its_name(prefix):
    symbols = output("nm", "-DC", library_of(prefix))
    abi = "v" + (REPOSITORY / "VERSION").read_text().strip().replace(".", "_")
    for function in ("simulate", "run", "finish", "add_code", "data_of", "Data::Data"):
        assert f" quorate::{abi}::{function}(" in symbols, function


def test_a_program_links_with_the_static_library(prefix, source, tmp_path):
    program = tmp_path / "user"
    flags = by_pkg_config(prefix, "--static")
    flags[flags.index("-lquorate")] = "-l:libquorate.a"
    output("g++", source, "-o", program, *flags)
    assert output(program) == "12\n"
    assert not any("libquorate" in name for name in libraries(program))


def test_a_program_links_with_the_target_of_cmake(prefix, source, tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("cmake is not installed")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    build = tmp_path / "build"
    output(
        *["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"],
        "-DCMAKE_CXX_COMPILER=g++",
    )
    output("cmake", "--build", build)
    assert output(build / "user") == "12\n"
    assert library_of(prefix) in libraries(build / "user").values()


def test_two_copies_load_their_own_library(prefix, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(prefix, other, symlinks=True)
    for one, another in ((prefix, other), (other, prefix)):
        found = libraries(one / "bin" / "quorate", LD_LIBRARY_PATH=str(another / "lib"))
        assert library_of(one) in found.values() and library_of(another) not in found.values()
    assert "stragglers" in output(other / "bin" / "quorate", "list", "experiments")


def test_what_is_installed_needs_nothing_of_a_home_or_a_cache(prefix):
    cache = os.environ.get("QUORATE_DEPS", str(Path.home() / ".cache" / "quorate"))
    petsc = re.search(r"^PETSc .* (/.*)$", make("info"), re.MULTILINE)[1]
    own = petsc.startswith(f"{cache}/")
    # A PETSc of the user's own stays where it is.
    private = [cache, str(REPOSITORY), *([str(Path.home())] if own else [])]
    for file in [prefix / "bin" / "quorate", *prefix.glob("lib/**/*.so")]:
        paths = re.findall(r"R(?:UN)?PATH +(.*)", output("objdump", "-p", file))
        folders = [folder for path in paths for folder in path.split(":")]
        loaded = [path for path in libraries(file).values() if not path.startswith(str(prefix))]
        for path in [*folders, *loaded]:
            assert not any(f"{path}/".startswith(f"{folder}/") for folder in private), (file, path)
    described = (prefix / "lib" / "pkgconfig" / "quorate.pc").read_text()
    assert not any(f"{folder}/" in described for folder in private)
    assert (prefix / "lib" / "quorate" / "libpetsc.so").exists() == own


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_user_runs_what_root_installed(prefix):
    # Below /tmp the folder of the tests is closed to others.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        place, work = Path(folder) / "installed", Path(folder) / "work"
        shutil.copytree(prefix, place, symlinks=True)
        work.mkdir()
        work.chmod(0o777)
        words = (
            "setpriv --reuid 65534 --regid 65534 --clear-groups env -i PATH=/usr/bin:/bin".split()
        )
        nobody = [*words, "HOME=/nonexistent", place / "bin" / "quorate"]
        assert "quorate 0.1.0" in output(*nobody, "--version", cwd=work)
        output(*nobody, *"generate --rows 50 --columns 3 --output d.h5".split(), cwd=work)
        run = "simulate --data d.h5 --workers 3 --rounds 4 --trace t.h5 --quiet"
        output(*nobody, *run.split(), cwd=work)
        assert "completed" in output(*nobody, "inspect", "t.h5", cwd=work)


def test_it_takes_tens_of_megabytes(prefix):
    size = sum(path.stat().st_size for path in prefix.rglob("*") if path.is_file())
    assert size < 100e6
    assert "quorate 0.1.0" in output(prefix / "bin" / "quorate", "--version")


def test_nothing_is_left_of_it(tmp_path):
    where = f"DESTDIR={tmp_path}"
    make("install", where)
    make("uninstall", where)
    assert not [path for path in tmp_path.rglob("*") if not path.is_dir()]
