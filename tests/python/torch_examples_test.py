# SPDX-License-Identifier: BSD-2-Clause
"""The examples with PyTorch, at a small size."""

import subprocess
import sys

import pytest

from program import LAUNCHER, PACKAGE, REPOSITORY, TIMEOUT, environment

torch = pytest.importorskip("torch")

EXAMPLES = REPOSITORY / "examples"
SMALL = ["--layers", "1", "--width", "16", "--batch", "8", "--rounds", "10"]
TEXT = "to be or not to be, " * 200


@pytest.fixture(scope="module")
def examples():
    """Where imports find them."""
    sys.path.insert(0, str(EXAMPLES))
    yield
    sys.path.remove(str(EXAMPLES))


@pytest.fixture
def characters(examples, tmp_path, monkeypatch):
    """The example, as if it had been started with these words."""
    import characters

    def start(*words):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["characters.py", *words])
        characters.main()

    characters.start = start
    return characters


def over_mpi(folder, ranks, *words):
    done = subprocess.run(
        [*LAUNCHER, "-n", str(ranks), sys.executable, *map(str, words)],
        cwd=folder,
        env=environment({"PYTHONPATH": PACKAGE, "OMP_NUM_THREADS": "1"}),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def losses(printed):
    """The last column of a table of evaluations."""
    rows = [line.split() for line in printed.splitlines()]
    return [float(row[-1]) for row in rows if len(row) == 5 and row[0].isdigit()]


def test_characters_learns_and_leaves_a_state_that_torch_reads(characters, tmp_path, capsys):
    (tmp_path / "text.txt").write_text(TEXT)
    characters.start("--simulate", "3", "--text", "text.txt", *SMALL)
    found = losses(capsys.readouterr().out)
    assert len(found) == 5 and found == sorted(found, reverse=True)
    state = torch.load(tmp_path / "characters.pt")
    module = characters.Transformer(len(set(TEXT)), width=16, layers=1)
    module.load_state_dict(state["module"])
    assert state["scheduler"]["last_epoch"] == 10


def test_characters_reads_a_text_over_mpi(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT)
    program = EXAMPLES / "characters.py"
    found = losses(over_mpi(tmp_path, 3, program, "--text", "text.txt", *SMALL))
    assert len(found) == 5 and found[-1] < found[0]


def test_the_learning_rate_rises_and_falls_by_a_cosine(characters):
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=1.0)
    scheduler = characters.warm_up_and_cosine(100)(optimizer)
    rates = []
    for _ in range(101):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert rates[0] == 0.1 and max(rates) == rates[10] == 1
    assert rates[55] == pytest.approx(0.55) and rates[100] == pytest.approx(0.1)


def test_without_a_text_sentences_are_made(characters):
    text = characters.made(3)
    assert text == characters.made(3) and text.count(".\n") == text.count("\n") == 3
