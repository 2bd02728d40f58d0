# SPDX-License-Identifier: BSD-2-Clause
"""quorate encode: data mixed by a tight frame."""

import h5py
import numpy as np
import pytest
from program import call, our_lines
from traces import quorate

ROWS, COLUMNS = 300, 12


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("encode") / "data.h5"
    size = f"--rows {ROWS} --columns {COLUMNS} --test-rows 40 --noise 0.3 --seed 1".split()
    quorate("generate", "--model", "ridge", *size, "--output", path)
    return path


def encoded(data, folder, *words):
    path = folder / "encoded.h5"
    quorate("encode", "--data", data, "--output", path, "--quiet", "--overwrite", *words)
    return path


def arrays(path, split):
    with h5py.File(path) as file:
        return file[f"{split}/values"][:], file[f"{split}/label"][:]


def objectives(data, folder, *words):
    """Of the models of a run, on the rows as they were."""
    trace = folder / "t.h5"
    setting = "--model ridge --optimizer gd --step 0.1 --workers 6 --evaluate-every 1 --quiet"
    quorate("simulate", "--data", data, *setting.split(), *words, "--overwrite", "--trace", trace)
    with h5py.File(trace) as file:
        return file["iterate/model"][:], file["evaluation/objective"][:]


@pytest.mark.parametrize("frame", ["hadamard", "steiner"])
def test_means_of_squares_stay_and_test_rows_do(data, tmp_path, frame):
    path = encoded(data, tmp_path, "--frame", frame, "--seed", 4)
    (x, y), (mixed, target) = arrays(data, "train"), arrays(path, "train")
    assert len(target) == {"hadamard": 1024, "steiner": 1024}[frame]
    assert np.allclose(mixed.T @ mixed / len(target), x.T @ x / ROWS)
    assert np.allclose(mixed.T @ target / len(target), x.T @ y / ROWS)
    assert np.allclose(target @ target / len(target), y @ y / ROWS)
    for one, other in zip(arrays(data, "test"), arrays(path, "test")):
        assert (one == other).all()


def test_all_answers_make_the_same_steps(data, tmp_path):
    path = encoded(data, tmp_path)
    words = "--scheme uncoded --rounds 15 --l2 0.001".split()
    plain, mixed = (objectives(one, tmp_path, *words) for one in (data, path))
    assert np.allclose(plain[0], mixed[0], rtol=1e-9) and np.allclose(plain[1], mixed[1])


def test_stragglers_that_are_always_ignored_cost_less(data, tmp_path):
    path = encoded(data, tmp_path, "--redundancy", 3)
    always = "--scheme ignore --stragglers 2 --delay fixed:1,0,1 --rounds 400 --l2 0".split()
    (x, y) = arrays(data, "train")
    best = np.linalg.lstsq(x, y, rcond=None)[0]

    def excess(of):
        model = objectives(of, tmp_path, *always)[0][-1]
        return np.mean((x @ model - y) ** 2) - np.mean((x @ best - y) ** 2)

    assert excess(path) < 0.2 * excess(data)


def test_sparse_rows_are_mixed_too(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.4)
    y = rng.normal(size=50)
    lines = [
        " ".join([f"{label:.17g}", *(f"{j + 1}:{v:.17g}" for j, v in enumerate(row) if v)])
        for label, row in zip(y, x)
    ]
    (tmp_path / "rows.txt").write_text("\n".join(lines) + "\n")
    path = tmp_path / "sparse.h5"
    words = "--format libsvm --columns 6 --task regression --quiet".split()
    quorate("import", "--input", tmp_path / "rows.txt", *words, "--output", path)
    mixed, target = arrays(encoded(path, tmp_path), "train")
    assert np.allclose(mixed.T @ mixed / len(target), x.T @ x / 50)
    assert np.allclose(mixed.T @ target / len(target), x.T @ y / 50)


def test_what_cannot_be_encoded_is_refused(data, tmp_path):
    classes = tmp_path / "classes.h5"
    quorate("generate", *"--rows 20 --columns 3 --test-rows 0".split(), "--output", classes)
    output = ("--output", tmp_path / "new.h5")
    for said, words in [
        ("give a regression", ("--data", classes, *output)),
        ("needs --data FILE", output),
        ("--redundancy is 3", ("--data", data, *output, "--frame", "steiner", "--redundancy", 3)),
        ("--redundancy is 0.5", ("--data", data, *output, "--redundancy", 0.5)),
        ("hadamard", ("--data", data, *output, "--frame", "paley")),
        ("--overwrite", ("--data", data, "--output", data)),
    ]:
        done = call("encode", *words)
        (line,) = our_lines(done.stderr)
        assert done.returncode == 2 and said in line, line
    assert not (tmp_path / "new.h5").exists()
