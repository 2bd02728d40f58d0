# SPDX-License-Identifier: BSD-2-Clause
"""Data sets that several tests use, where the Python package is, and what tests start."""

import collections
import os
import pathlib
import sys

import pytest

from program import PACKAGE, REPOSITORY, call, output

# As make builds it; the analysis does without the module, too.
sys.path.insert(0, PACKAGE if pathlib.Path(PACKAGE).is_dir() else str(REPOSITORY / "analysis"))


@pytest.fixture(scope="session")
def real_data():
    """The folder with real data sets, or a skip."""
    folder = pathlib.Path(os.environ.get("QUORATE_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real data: set QUORATE_DATA to the folder with amazon/ and credit/")
    return folder


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    """An installed copy; staged, and so not where PREFIX says: as if it had been moved."""
    folder = tmp_path_factory.mktemp("stage")
    words = [os.environ.get("MAKE", "make"), "install", f"DESTDIR={folder}", "PREFIX=/opt/quorate"]
    output(*words, cwd=REPOSITORY)
    return folder / "opt" / "quorate"


@pytest.fixture(scope="session")
def amazon(real_data, tmp_path_factory):
    """The Amazon data set, imported, and what import said."""
    output = tmp_path_factory.mktemp("amazon") / "amazon.h5"
    config = REPOSITORY / "jobs" / "data" / "amazon.ini"
    source = real_data / "amazon" / "train.csv.gz"
    done = call("import", "--config", config, "--input", source, "--output", output)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="session")
def gaussians(tmp_path_factory):
    """A small dense data set; 203 rows are no multiple of any number of workers here."""
    output = tmp_path_factory.mktemp("gaussians") / "gaussians.h5"
    size = ["--rows", 203, "--columns", 12, "--test-rows", 41]
    done = call("generate", *size, "--seed", 3, "--output", output)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="session")
def sparse(tmp_path_factory):
    """Rows of which a worker's touch some of the columns, as a rule an odd number of them."""
    output = tmp_path_factory.mktemp("sparse") / "sparse.h5"
    size = ["--rows", 400, "--columns", 5000, "--nnz-per-row", 20, "--test-rows", 40]
    done = call("generate", *size, "--seed", 5, "--output", output)
    assert done.returncode == 0, done.stderr
    return output


# --- the processes that tests start ---------------------------------------------------------------

KINDS = ("mpiexec", "quorate", "other")
started: collections.Counter = collections.Counter()  # of this process, since the last report
totals: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)  # by test


def note(event, values):
    """Counts what any test starts, however it does; not what those start in turn."""
    if event != "subprocess.Popen":
        return
    words = values[1] if isinstance(values[1], (list, tuple)) else [values[1]]
    names = {pathlib.Path(os.fsdecode(word)).name.split(".")[0] for word in words}
    started[next((kind for kind in KINDS if kind in names), "other")] += 1


def pytest_addoption(parser):
    parser.addoption(
        "--processes",
        type=int,
        metavar="N",
        help="count the processes that tests start, and list the N tests that start most",
    )


def pytest_configure(config):
    if config.getoption("--processes") is not None:
        sys.addaudithook(note)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    report = (yield).get_result()
    report.user_properties.append(("processes", dict(started)))
    started.clear()


def pytest_runtest_logreport(report):
    for name, value in report.user_properties:
        if name == "processes":
            totals[report.nodeid.partition("[")[0]].update(value)


def pytest_terminal_summary(terminalreporter, config):
    most = config.getoption("--processes")
    if most is None:
        return
    terminalreporter.section("processes")
    lines = sorted(totals.items(), key=lambda one: -one[1].total())[:most]
    every = sum(totals.values(), collections.Counter())
    for name, count in [*lines, ("all tests", every)]:
        text = ", ".join(f"{count[kind]} {kind}" for kind in KINDS)
        terminalreporter.line(f"{count.total():6} {name}: {text}")
