# SPDX-License-Identifier: BSD-2-Clause
"""The compiled module for pip: made by make, beside whose Makefile this file stands.

QUORATE_MODULE=no leaves it out: what is left, quorate.analysis, needs no MPI.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
WANTED = os.environ.get("QUORATE_MODULE") != "no" and (HERE / "Makefile").is_file()


class Build(build_py):
    """Also copies the module and the libraries that it loads into the package."""

    def run(self) -> None:
        super().run()
        if not WANTED:
            return
        folder = os.environ.get("B", "build")
        make = [os.environ.get("MAKE", "make"), "-j", str(os.cpu_count()), f"B={folder}", "python"]
        subprocess.run(make, cwd=HERE, check=True)
        made = HERE / folder
        tag = f"cpython-{sys.version_info[0]}{sys.version_info[1]}"
        package = made / "python" / "quorate"
        modules = list(package.glob(f"_quorate.{tag}*.so"))
        if not modules:
            sys.exit(f"quorate was configured for another Python than {sys.executable}: use that")
        version = (HERE / "VERSION").read_text().strip()
        # Of the libraries those that are Quorate's own: PETSc too, unless it is the system's.
        libraries = [made / f"libquorate.so.{version}", *made.glob("libpetsc.so.*")]
        for file in (*modules, package / "_built.py", *libraries):
            shutil.copy(file, Path(self.build_lib) / "quorate")


class Compiled(Distribution):
    """A package for this machine's kind alone."""

    def has_ext_modules(self) -> bool:
        return WANTED


setup(cmdclass={"build_py": Build}, distclass=Compiled)
