# SPDX-License-Identifier: BSD-2-Clause
"""The recipes of jobs/data on real files, large files in little memory, and env/fetch-data."""

import gzip
import hashlib
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

from program import QUORATE, REPOSITORY, call, environment, inspect, whole

# Rows, columns, test rows, entries of a training row (None: they differ), balance.
RECIPES = {
    "amazon": (26215, 241915, 6554, 44, "30872 of 32769 labels positive"),
    "kc-house": (17290, 27654, 4323, 19, "labels from 0.075 to 7.7, mean 0.540088"),
    "covtype-sample": (63377, 14537, 15845, 55, "45328 of 79222 labels positive"),
    "credit": (20000, 219, 10000, None, "6636 of 30000 labels positive"),
    "credit-numeric": (20001, 24, 9999, 24, "6636 of 30000 labels positive"),
    "a9a": (32561, 123, 16281, None, "11687 of 48842 labels positive"),
    "w8a": (39799, 300, 9950, None, "1479 of 49749 labels positive"),
    "mnist": (60000, 784, 10000, 784, "6903 7877 6990 7141 6824 6313 6876 7293 6825 6958 rows"),
    "cifar10-4000": (4000, 3072, 0, 3072, "396 366 420 384 422 393 414 385 407 413 rows"),
}


def fetched(name, real_data):
    """The words of the import that env/fetch-data prints."""
    done = subprocess.run(
        [REPOSITORY / "env" / "fetch-data", name],
        env={**os.environ, "QUORATE_DATA": str(real_data)},
        capture_output=True,
        text=True,
        check=True,
    )
    words = shlex.split(done.stdout)
    assert words[:2] == ["quorate", "import"]
    return words[1:]


SMALL = [name for name in RECIPES if name != "mnist"]


@pytest.mark.parametrize("name", [*SMALL, *whole(("mnist",))])
def test_a_recipe_gives_the_data_set_of_its_paper(name, real_data, tmp_path):
    rows, columns, test_rows, entries, balance = RECIPES[name]
    words = fetched(name, real_data)
    output = tmp_path / "d.h5"
    words[words.index("--output") + 1] = str(output)
    words[words.index("--config") + 1] = str(REPOSITORY / words[words.index("--config") + 1])
    done = call(*words)
    assert done.returncode == 0, done.stderr
    assert f"{rows} x {columns} training rows, {test_rows} test rows" in done.stdout
    assert balance in done.stdout
    found = inspect(output)
    assert found["train_rows"] == rows and found["columns"] == columns
    assert found["test_rows"] == test_rows
    if entries:
        assert found["train_entries"] == entries * rows
    assert balance in found["balance"]
    for digest in found["sha256"].split():
        assert re.fullmatch("[0-9a-f]{64}", digest) and digest in done.stdout


def test_standardised_columns_have_mean_0_and_variance_1(real_data, tmp_path):
    words = fetched("credit-numeric", real_data)
    words[words.index("--output") + 1] = str(tmp_path / "d.h5")
    words[words.index("--config") + 1] = str(REPOSITORY / "jobs/data/credit-numeric.ini")
    assert call(*words).returncode == 0
    with h5py.File(tmp_path / "d.h5") as file:
        values = file["train/values"][:]
    assert np.allclose(values[:, :-1].mean(axis=0), 0, atol=1e-12)
    assert np.allclose(values[:, :-1].std(axis=0), 1, atol=1e-12)
    assert np.all(values[:, -1] == 1)


@pytest.mark.whole
def test_the_full_covertype_needs_little_memory(tmp_path):
    """A file of its 581,012 rows and 54 columns, made up."""
    random = np.random.default_rng(0)
    rows = 581_012
    wide = random.integers(0, 2000, (rows, 10))
    bits = random.integers(0, 2, (rows, 44))
    shares = np.array([211840, 283301, 35754, 2747, 9493, 17367, 20510]) / rows
    label = random.choice(np.arange(1, 8), (rows, 1), p=shares)
    path = tmp_path / "covtype.data.gz"
    with gzip.open(path, "wb", compresslevel=1) as out:
        np.savetxt(out, np.hstack([wide, bits, label]), fmt="%d", delimiter=",")
    kept = int(np.isin(label, [1, 2]).sum())
    words = ["--config", REPOSITORY / "jobs/data/covtype.ini", "--input", path]
    command = [QUORATE, "import", *words, "--output", tmp_path / "d.h5"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run(
        [str(word) for word in command],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
    )
    assert done.returncode == 0, done.stderr
    test_rows = -(-kept // 5)
    assert f"{kept - test_rows} x 20089 training rows, {test_rows} test rows" in done.stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert after == before or after < 2 << 20  # KiB


def test_formats_are_told_by_their_first_bytes(tmp_path):
    def imported(path, *words):
        words = ["--overwrite", *words]
        done = call("import", "--input", path, "--output", tmp_path / "d.h5", *words)
        assert done.returncode == 0, done.stderr
        return inspect(tmp_path / "d.h5")

    idx = tmp_path / "images"
    header = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2])
    idx.write_bytes(gzip.compress(header + bytes(range(8))))
    (tmp_path / "labels").write_text("5\n7\n")
    found = imported(idx, "--labels", tmp_path / "labels", "--task", "multiclass")
    assert (found["image"], found["class_values"], found["dense"]) == ("1x2x2", "5 7", True)

    with h5py.File(tmp_path / "arrays.h5", "w") as file:
        file["x"] = np.eye(4)
        file["y"] = [0.5, 1, 2, 4]
    words = ["--array", "x", "--label", "y", "--task", "regression", "--float32"]
    found = imported(tmp_path / "arrays.h5", *words)
    assert (found["columns"], found["task"]) == (4, "regression")

    big = ">i4"
    matrix = np.array([1211216, 2, 3, 2, 1, 1, 0, 2], big).tobytes()
    (tmp_path / "matrix").write_bytes(matrix + np.array([1.5, 2], ">f8").tobytes())
    vector = np.array([1211214, 2], big).tobytes() + np.array([1, -1], ">f8").tobytes()
    (tmp_path / "vector").write_bytes(vector)
    found = imported(tmp_path / "matrix", "--labels", tmp_path / "vector", "--storage", "sparse")
    assert (found["columns"], found["train_entries"]) == (3, 2)


def test_rows_can_be_limited_and_shuffled(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} 1:{i + 1}\n" for i in range(20)))
    output = tmp_path / "d.h5"
    words = ["--input", path, "--output", output, "--limit-rows", 10, "--shuffle", 3, "--quiet"]
    assert call("import", *words, "--storage", "sparse").returncode == 0
    with h5py.File(output) as file:
        values = list(file["train/value"])
    expected = np.random.RandomState(3).permutation(10) + 1
    assert values == list(expected)


def test_rows_sorted_by_label_are_shuffled_and_folds_hold_all_classes(tmp_path):
    path, mixed, kept = (tmp_path / name for name in ("x.csv", "mixed.h5", "kept.h5"))
    points = np.random.default_rng(1).normal(size=(90, 2))
    classes = np.arange(90) // 30
    rows = [f"{x + 4 * c},{y},{'uvw'[c]}\n" for (x, y), c in zip(points, classes)]
    path.write_text("a,b,label\n" + "".join(rows))
    words = ["import", "--input", path, "--label", "label", "--intercept", "--output"]
    assert "sorted by label, so they are put into a random order" in call(*words, mixed).stdout
    done = call(*words, kept, "--shuffle", "no", "--float32")
    assert done.returncode == 0 and "sorted by label" not in done.stdout
    with h5py.File(mixed) as a, h5py.File(kept) as b:
        order = np.random.RandomState(0).permutation(90)
        assert list(b["train/label"]) == list(classes)
        assert list(a["train/label"]) == list(classes[order])
        assert np.allclose(a["train/values"], b["train/values"][:][order], atol=1e-6)

    words = ["tune", "--data", kept, "--model", "softmax", "--grid", "l2=1e-3", "--folds", 3]
    done = call(*words, "--metric", "accuracy")
    assert float(re.search("best: accuracy ([0-9.]+)", done.stdout)[1]) > 0.9
    refused = call(*words, "--metric", "auc")
    assert refused.returncode == 2
    assert "--metric is auc, which models of these labels do not have" in refused.stderr

    words = ["--model", "softmax", "--workers", 6, "--scheme", "ignore", "--stragglers", 1]
    words += ["--rounds", 2, "--trace", tmp_path / "t.h5", "--overwrite"]
    done = call("simulate", "--data", kept, *words)
    assert "6 of 6 workers lack rows of a class, as worker 0 of class v" in done.stderr
    assert "lack rows" not in call("simulate", "--data", mixed, *words).stderr
    refused = call("simulate", "--data", kept, *words, "--patience", 1)
    assert refused.returncode == 2 and "has no test rows" in refused.stderr


def test_numbers_that_do_not_fit_are_named_with_their_row_and_column(tmp_path):
    path, output = tmp_path / "x.csv", tmp_path / "d.h5"
    path.write_text("a,b,label\n1,2,0\n3,1e39,1\n")
    words = ["import", "--input", path, "--label", "label", "--output", output]
    done = call(*words, "--float32")
    assert done.returncode == 2 and not output.exists()
    assert f"row 2 of {path}, column b: 1e+39 is too large for single precision" in done.stderr
    assert call(*words, "--float32", "--scale", "standardise").returncode == 0


@pytest.mark.whole
def test_generated_data_are_larger_than_the_memory_of_a_rank(tmp_path):
    """Each rank reads just its rows: the file has 1.6 GB, a rank may use 1.2 GB."""
    data, trace = tmp_path / "d.h5", tmp_path / "t.h5"
    words = ["--model", "sparse-onehot", "--rows", 4_000_000, "--columns", 2000]
    words += ["--nnz-per-row", 50, "--test-rows", 0, "--output", data, "--quiet"]
    assert call("generate", *words).returncode == 0
    assert data.stat().st_size > 1_500_000_000
    limit = 1_200_000_000
    run = ["run", "--data", data, "--rounds", 2, "--evaluate-every", 0, "--trace", trace]
    from program import command_line

    done = subprocess.run(
        command_line([*run, "--quiet"], ranks=9),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 0, done.stderr
    assert inspect(trace)["rounds_done"] == 2


def test_fetch_data_knows_its_sets_and_refuses_damaged_files(real_data, tmp_path):
    script = REPOSITORY / "env" / "fetch-data"

    def fetch(name, folder):
        return subprocess.run(
            [script, name],
            env={**os.environ, "QUORATE_DATA": str(folder)},
            capture_output=True,
            text=True,
        )

    done = fetch("amazn", real_data)
    assert done.returncode == 2
    assert done.stderr.startswith("env/fetch-data: no data set is called amazn; known: a9a ")
    (tmp_path / "libsvm").mkdir()
    (tmp_path / "libsvm" / "a9a.gz").write_bytes(gzip.compress(b"1 1:1\n"))
    done = fetch("a9a", tmp_path)
    assert done.returncode == 1
    assert "is not what it should be: its SHA-256 is not f5d5ffd8" in done.stderr


@pytest.fixture
def fetcher(tmp_path):
    """A copy of env/fetch-data, and of the page that it reads, beside which there are no data."""
    for name in ("env/fetch-data", "docs/data.md"):
        copy = tmp_path / "tree" / name
        copy.parent.mkdir(parents=True)
        shutil.copy(REPOSITORY / name, copy)
    return tmp_path / "tree" / "env" / "fetch-data"


@pytest.fixture
def catalogue(fetcher, tmp_path):
    """Runs it; QUORATE_DATA is raw/."""
    (tmp_path / "raw").mkdir()

    def run(*words):
        env = {**os.environ, "QUORATE_DATA": str(tmp_path / "raw")}
        return subprocess.run([fetcher, *map(str, words)], env=env, capture_output=True, text=True)

    return run


def test_check_says_what_is_there_damaged_and_missing(catalogue, real_data, tmp_path):
    folder = tmp_path / "raw" / "libsvm"
    folder.mkdir()
    # A sum is of what is inside: it does not matter how it is compressed.
    (folder / "a9a.gz").write_bytes(gzip.decompress((real_data / "libsvm/a9a.gz").read_bytes()))
    (folder / "a9a.t.gz").write_bytes(gzip.compress(b"1 1:1\n"))
    done = catalogue("--check", "a9a")
    there, damaged = done.stdout.splitlines()
    assert done.returncode == 1 and there == f"there    a9a: {folder}/a9a.gz"
    assert damaged.startswith(f"damaged  a9a: {folder}/a9a.t.gz, whose SHA-256 is not 1f448a15")
    assert damaged.endswith("; env/fetch-data a9a")
    shutil.copy(real_data / "libsvm/a9a.t.gz", folder)
    assert catalogue("--check", "a9a").returncode == 0
    done = catalogue("--check")
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and len(lines) > 20
    assert [line for line in lines if not line.startswith("missing")] == [
        f"there    a9a: {folder}/a9a.gz",
        f"there    a9a: {folder}/a9a.t.gz",
    ]
    (amazon,) = [line for line in lines if "amazon/train.csv.gz" in line]
    assert "by hand, into QUORATE_DATA: from Kaggle, competition" in amazon
    assert catalogue("--check", "a9b").returncode == 2


def test_the_archive_of_cifar10_is_checked_as_it_is(catalogue, tmp_path):
    """As another one of the same content would be another archive."""
    path = tmp_path / "raw" / "cifar10" / "cifar-10-binary.tar.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(b"images"))
    page = tmp_path / "tree" / "docs" / "data.md"
    published = re.search(r"cifar-10-binary.tar.gz` \| `(\w{64})`", page.read_text())[1]
    assert catalogue("--check", "cifar10").stdout.startswith("damaged")
    mine = hashlib.sha256(path.read_bytes()).hexdigest()
    page.write_text(page.read_text().replace(published, mine))
    assert catalogue("--check", "cifar10").stdout == f"there    cifar10: {path}\n"
    assert f"--config jobs/data/cifar10.ini --input {path} " in catalogue("cifar10").stdout


def test_an_experiment_without_its_data_says_how_to_get_them(catalogue, tmp_path):
    done = catalogue("--for", REPOSITORY / "jobs" / "head-to-head.ini")
    first, second = done.stderr.splitlines()
    assert (
        done.returncode == 1 and "needs the data set lambda, which is not there: by hand" in first
    )
    assert second.endswith("needs the data set alibaba, which is not there: env/fetch-data alibaba")
    for path, _ in named_by_experiments():
        (tmp_path / "raw" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "raw" / path).touch()
    assert catalogue("--for", REPOSITORY / "jobs" / "head-to-head.ini").returncode == 0


def test_what_starts_an_experiment_asks_for_its_data_first(catalogue, tmp_path):
    jobs = tmp_path / "tree" / "jobs"
    jobs.mkdir()
    for name in ("experiment", "amb-mnist.ini"):
        shutil.copy(REPOSITORY / "jobs" / name, jobs)
    env = {**os.environ, "QUORATE": "false", "B": "none", "QUORATE_DATA": str(tmp_path / "raw")}
    words = [jobs / "experiment", "simulate", "amb-mnist"]
    done = subprocess.run(words, cwd=jobs.parent, env=env, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr == (
        "env/fetch-data: jobs/amb-mnist.ini needs the data set mnist, which is not there: "
        "env/fetch-data mnist\n"
    )


@pytest.mark.parametrize("name, missing", [("elastic", "credit"), ("networks", "mnist")])
def test_a_script_without_its_data_says_how_to_get_them(catalogue, name, missing, tmp_path):
    jobs = tmp_path / "tree" / "jobs"
    jobs.mkdir()
    shutil.copy(REPOSITORY / "jobs" / name, jobs)
    words = {"QUORATE": "false", "LAUNCHER": "false", "PYTHON": "false", "B": str(tmp_path / "b")}
    env = {**os.environ, **words, "QUORATE_DATA": str(tmp_path / "raw")}
    done = subprocess.run([jobs / name], cwd=jobs.parent, env=env, capture_output=True, text=True)
    first = done.stderr.splitlines()[0]
    assert done.returncode == 2 and first == (
        f"env/fetch-data: jobs/{name} needs the data set {missing}, which is not there: "
        f"env/fetch-data {missing}"
    )


def test_the_folder_of_data_is_the_first_that_is_there(catalogue, tmp_path):
    assert catalogue("--folder").stdout == f"{tmp_path}/raw\n"
    (tmp_path / "raw").rmdir()
    assert catalogue("--folder").stdout == "data\n"


def named_by_experiments():
    """Pairs of a file of raw data and the experiment, or the script, that names it."""
    for path in sorted((REPOSITORY / "jobs").iterdir()):
        text = path.read_text() if path.is_file() and path.suffix != ".py" else ""
        for file in re.findall(r"(?:\{data\}|\$data)/([^\s,\"]+\.\w+)", text):
            yield file, path.name


def test_the_documentation_lists_every_file_of_experiments_and_every_recipe():
    page = (REPOSITORY / "docs" / "data.md").read_text()
    assert {"advice", "elastic", "networks"} <= {name for _, name in named_by_experiments()}
    for path, experiment in named_by_experiments():
        assert f"| `{path}` |" in page, experiment
    recipes = {path.stem for path in (REPOSITORY / "jobs" / "data").glob("*.ini")}
    assert recipes == set(re.findall(r"^\| `\S+` \| `(\S+)` \| \w.* .* \|$", page, re.M))


def test_fetched_files_have_the_names_that_experiments_look_for(fetcher, real_data, tmp_path):
    """As jobs/elastic-credit.ini does; a stand-in for curl copies from the real data."""
    inside = {"train.liblinear": "train.liblinear.gz", "test.liblinear": "test.liblinear.gz"}
    for name, packed in inside.items():
        content = gzip.decompress((real_data / "credit" / packed).read_bytes())
        (tmp_path / name).write_bytes(content)
    curl = tmp_path / "curl"
    curl.write_text(
        "#!/bin/bash\nwhile [[ $1 != --output ]]; do shift; done\n"
        f'cp {tmp_path}/"${{3##*/}}" "$2"\n'
    )
    curl.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "QUORATE_DATA": ""}
    done = subprocess.run([fetcher, "credit"], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "tree" / "data" / "credit"
    assert sorted(path.name for path in folder.iterdir()) == sorted(inside.values())
    assert "--input data/credit/train.liblinear.gz" in done.stdout
    text = (REPOSITORY / "jobs" / "elastic-credit.ini").read_text()
    for packed in inside.values():
        assert f"{{data}}/credit/{packed}" in text


def test_without_curl_an_address_is_told(fetcher, tmp_path):
    (tmp_path / "bin").mkdir()
    env = {**os.environ, "PATH": str(tmp_path / "bin"), "QUORATE_DATA": ""}
    words = [sys.executable, fetcher, "a9a"]
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("env/fetch-data: curl is not installed: install it, or save http")


@pytest.mark.parametrize(
    "wrong, says",
    [
        (None, "cannot read docs/data.md"),
        (b"| `a9a` | `a9a` | features |\n", "the row of a9a has 3 cells; give a file 5, a set 6"),
    ],
)
def test_a_page_without_its_tables_is_refused(catalogue, wrong, says, tmp_path):
    page = tmp_path / "tree" / "docs" / "data.md"
    page.unlink()
    if wrong:
        page.write_bytes(wrong)
    done = catalogue("--check")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert says in done.stderr


def test_numbers_of_samples_are_generated(tmp_path):
    words = ["generate", "--model", "samples", "--rows", 6, "--test-rows", 2]
    done = call(*words, "--output", tmp_path / "numbers.h5", "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "numbers.h5") as file:
        assert file["train/values"][:, 0].tolist() == [0, 1, 2, 3, 4, 5]
        assert file["test/values"][:, 0].tolist() == [6, 7]
    done = call(*words, "--columns", 3, "--output", tmp_path / "wide.h5")
    assert done.returncode == 2 and "--model samples has one column" in done.stderr
