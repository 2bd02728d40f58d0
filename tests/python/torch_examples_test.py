# SPDX-License-Identifier: BSD-2-Clause
"""The examples with PyTorch, at a small size."""

import lzma
import subprocess
import sys

import numpy as np
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


def test_images_are_read_from_records(examples, tmp_path):
    import cifar10_resnet

    record = np.arange(2 * 3073) % 10
    (tmp_path / "a.bin").write_bytes(record.astype(np.uint8).tobytes())
    with lzma.open(tmp_path / "b.bin.xz", "wb") as file:
        file.write(record[:3073].astype(np.uint8).tobytes())
    paths = [str(tmp_path / name) for name in ("a.bin", "b.bin.xz")]
    images, labels = cifar10_resnet.records(paths)
    assert images.shape == (3, 3, 32, 32) and labels.tolist() == [0, 3073 % 10, 0]
    assert images[0, 0, 0, :3].tolist() == [1, 2, 3]


def test_a_loop_of_ones_own_learns_images(tmp_path):
    words = ["--width", "4", "--batch", "60", "--rounds", "20", "--stragglers", "0"]
    printed = over_mpi(tmp_path, 4, EXAMPLES / "cifar10_resnet.py", *words)
    assert float(printed.split()[-1]) > 0.2  # 0.1 is chance
