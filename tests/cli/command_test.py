# SPDX-License-Identifier: BSD-2-Clause
"""Commands that do their work: generate, import, inspect, list, help."""

import gzip
import json

import h5py
import numpy
import pytest

from program import REPOSITORY, attributes_of, call, inspect


def ok(*words):
    done = call(*words)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    "what, names",
    [
        ("schemes", ["uncoded", "frc", "agc"]),
        ("models", ["logistic"]),
        ("optimizers", ["gd", "agd", "agd-eh"]),
        (
            "delays",
            [
                "none",
                "constant:SECONDS",
                "pareto:SCALE,SHAPE",
                "mixture:MEAN/SD/WEIGHT,...",
                "cedar",
            ],
        ),
        ("formats", ["csv", "libsvm"]),
    ],
)
def test_list_names_what_can_be_chosen(what, names):
    lines = ok("list", what).splitlines()
    assert {line.split()[0] for line in lines if not line.startswith(" ")} >= set(names)


def test_help_version_and_man_page_are_made_from_the_tables():
    assert ok() == ok("help") == ok("--help")
    assert ok("--version").startswith("quorate ")
    usage = ok("run", "--help=all")
    page = ok("help", "--man")
    for name in ("data", "scheme", "stragglers", "evaluate-every", "l2"):
        assert f"--{name} " in usage
        assert name.replace("-", "\\-") in page


def test_generated_data_depend_on_seed_and_size_alone(tmp_path):
    words = ["--rows", 50, "--columns", 4, "--test-rows", 7]
    for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
        ok("generate", *words, "--seed", seed, "--output", tmp_path / name, "--quiet")
    values = {}
    for name in "abc":
        with h5py.File(tmp_path / name, "r") as file:
            values[name] = file["train/values"][:]
            assert file["test/values"].shape == (7, 4)
            assert set(file["train/label"][:]) <= {-1.0, 1.0}
    assert (values["a"] == values["b"]).all()
    assert (values["a"] != values["c"]).any()


def test_sorted_rows_are_the_same_rows_by_label(tmp_path):
    words = ["--model", "softmax", "--classes", 3, "--rows", 60, "--columns", 4, "--test-rows", 7]
    for name, how in [("a", []), ("b", ["--sorted"])]:
        ok("generate", *words, *how, "--output", tmp_path / name, "--quiet")
    with h5py.File(tmp_path / "a", "r") as plain, h5py.File(tmp_path / "b", "r") as ordered:
        order = numpy.argsort(plain["train/label"][:], kind="stable")
        assert (order != numpy.arange(60)).any()
        for split, rows in [("train", order), ("test", numpy.arange(7))]:
            assert (ordered[f"{split}/label"][:] == plain[f"{split}/label"][:][rows]).all()
            values = plain[f"{split}/values"][:].reshape(len(rows), 4)
            assert (ordered[f"{split}/values"][:].reshape(len(rows), 4) == values[rows]).all()


def test_generated_data_have_the_moments_of_the_original(tmp_path):
    path, p = tmp_path / "x.h5", 16
    ok("generate", "--rows", 40000, "--columns", p, "--test-rows", 0, "--output", path, "--quiet")
    with h5py.File(path, "r") as file:
        x, y = file["train/values"][:], file["train/label"][:]
    # Two Gaussians with means +-(1.5/p) beta: the mean is 0, the deviation 10/sqrt(p) and a little.
    assert numpy.abs(x.mean(axis=0)).max() < 5 * 2.5 / 200
    assert numpy.abs(x.std(axis=0) - (2.5**2 + (1.5 / p) ** 2) ** 0.5).max() < 0.06
    # Labels follow beta: each coordinate of y x has the sign of beta, far from 0.
    pull = (y[:, None] * x).mean(axis=0)
    assert numpy.abs(pull).min() > 0.1


def test_inspect_describes_a_data_set(gaussians):
    found = inspect(gaussians)
    assert found["kind"] == "data set" and found["dense"]
    assert (found["train_rows"], found["test_rows"], found["columns"]) == (203, 41, 12)
    assert json.loads(ok("inspect", "--json", gaussians)) == found
    assert "train_rows                   203" in ok("inspect", gaussians)


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """A data set of named columns, whose names and levels hold = * and quotes, and its CSV."""
    folder = tmp_path_factory.mktemp("visits")
    rows = ['age,city,"a=b",device,bought']
    for i in range(120):
        city = ["Bonn", "Ulm=Neu", 'Bad "O"', *map(str, range(20))][i % 23]
        quoted = '"' + city.replace('"', '""') + '"'
        rows.append(
            f"{20 + i % 50},{quoted},{i % 7},{'ab'[i % 2]},{'yes' if i % 50 > 25 else 'no'}"
        )
    (folder / "d.csv").write_text("\n".join(rows) + "\n")
    words = [
        "--label",
        "bought",
        "--categorical",
        "city,device",
        "--interactions",
        2,
        "--intercept",
    ]
    words += ["--scale", "standardise", "--quiet"]
    ok("import", "--input", folder / "d.csv", *words, "--output", folder / "d.h5")
    return folder / "d.h5"


def test_inspect_lists_the_columns_of_a_data_set_by_name(visits):
    columns = {one["name"]: one for one in inspect(visits)["named_columns"]}
    kinds = {name: one["kind"] for name, one in columns.items()}
    assert kinds == {
        "age": "number",
        "city": "category",
        '"a=b"': "number",
        "device": "category",
        "city*device": "pair",
        "intercept": "ones",
    }
    assert columns["city"]["levels"] == 23 and len(columns["city"]["level_names"]) == 20
    assert columns["device"]["level_names"] == ["a", "b"]
    with h5py.File(visits) as file:
        assert columns["age"]["factor"] == file["scaling/factor"][0]
    whole = json.loads(ok("inspect", "--json", "--all", visits))["named_columns"]
    assert {"Ulm=Neu", 'Bad "O"'} <= set(whole[[*columns].index("city")]["level_names"])
    assert sum(one.get("levels", 1) for one in whole) == inspect(visits)["columns"]
    lines = ok("inspect", visits).partition("columns by name\n")[2].splitlines()
    assert len(lines) == 6 and all(len(line) <= 80 for line in lines)
    city = next(line for line in lines if line.startswith("  city "))
    assert "category of 23 levels: " in city and city.endswith(", ...")
    assert "Ulm=Neu" in ok("inspect", "--all", visits)


def test_inspect_lists_no_columns_where_they_have_no_names(gaussians):
    assert "named_columns" not in inspect(gaussians)
    assert "columns by name" not in ok("inspect", gaussians)


@pytest.mark.parametrize("model", ["logistic", "softmax"])
def test_inspect_names_the_coefficients_of_a_linear_model(visits, tmp_path, model):
    trace = tmp_path / "t.h5"
    words = ["--data", visits, "--workers", 3, "--rounds", 9, "--model", model, "--quiet"]
    ok("simulate", "--trace", trace, *words)
    with h5py.File(visits) as data, h5py.File(trace) as run:
        names = [name.decode() for name in data["feature/name"][:]]
        final = run["model/final"][:].reshape(len(names), -1)
    classes = [None] if model == "logistic" else ["no", "yes"]
    values = {(n, c): final[i, k] for i, n in enumerate(names) for k, c in enumerate(classes)}
    told = json.loads(ok("inspect", trace, "--coefficients", "all", "--json"))["model_coefficients"]
    both = told["intercept"] + told["coefficients"]
    assert {(one["column"], one.get("class")): one["value"] for one in both} == values
    assert {one["column"] for one in told["intercept"]} == {"intercept"}
    sizes = [abs(one["value"]) for one in told["coefficients"]]
    assert sizes == sorted(sizes, reverse=True) and told["left_out"] == 0 and told["scaled"]
    lines = ok("inspect", trace, "--coefficients", 2).splitlines()
    assert len(lines) == 2 + len(classes) + 2 + 1
    assert lines[2].split()[0] == "intercept" and f"{sizes[0]:.6g}" in lines[2 + len(classes)]
    assert lines[-1] == f"  ... and {len(sizes) - 2} smaller ones: --coefficients all lists them"


def test_inspect_refuses_coefficients_of_what_has_none(visits, gaussians, tmp_path):
    network, stopped = tmp_path / "n.h5", tmp_path / "s.h5"
    words = ["--data", gaussians, "--workers", 3, "--rounds", 2, "--quiet", "--trace"]
    ok("simulate", *words, network, "--model", "mlp")
    ok("simulate", *words, stopped)
    with h5py.File(stopped, "r+") as file:
        del file["model/final"]
    for words, message in [
        ([network, "--coefficients", 3], f"{network} holds a model mlp, which is not linear: "),
        (
            [stopped, "--coefficients", 3],
            f"{stopped} holds no final model: give the trace of a run",
        ),
        ([stopped, "--coefficients", 0], "--coefficients is 0: give how many, from 1 on, or all"),
        ([gaussians, "--coefficients", 3], f"--coefficients is 3, but {gaussians} is a data set: "),
        ([stopped, "--coefficients", 3, "--data", visits], f"{visits} holds other data than"),
    ]:
        done = call("inspect", *words)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr.startswith("quorate: " + message) and done.stderr.count("\n") == 1
    done = call("predict", stopped, "--json")
    assert done.returncode == 2 and f"quorate: {stopped} holds no final model: " in done.stderr


def test_coefficients_of_columns_without_names_have_their_numbers(gaussians, tmp_path):
    words = ["--data", gaussians, "--workers", 3, "--rounds", 5, "--quiet"]
    ok("simulate", "--trace", tmp_path / "t.h5", *words)
    lines = ok("inspect", tmp_path / "t.h5", "--coefficients", "all").splitlines()
    assert lines[1].endswith("has no names of columns: they are counted from 0")
    assert sorted(line.split()[1] for line in lines[2:]) == sorted(map(str, range(12)))


def test_import_reads_libsvm_with_labels_and_test_rows_of_their_own(tmp_path):
    (tmp_path / "x").write_text("0 1:1 3:0.5\n0 2:1\n0 1:1 2:1\n")
    (tmp_path / "y").write_text("3\n8\n3\n")
    (tmp_path / "test").write_bytes(gzip.compress(b"8 5:2\n3 1:1\n"))
    words = [
        "--input",
        tmp_path / "x",
        "--labels",
        tmp_path / "y",
        "--test-input",
        tmp_path / "test",
    ]
    ok("import", *words, "--output", tmp_path / "x.h5", "--quiet")
    with h5py.File(tmp_path / "x.h5", "r") as file:
        assert attributes_of(file)["columns"] == 5
        assert list(file["train/label"]) == [-1, 1, -1]
        assert list(file["train/row_start"]) == [0, 2, 3, 5]
        assert list(file["train/column"]) == [0, 2, 1, 0, 1]
        assert list(file["train/value"]) == [1, 0.5, 1, 1, 1]
        assert list(file["test/label"]) == [1, -1]
        assert list(file["test/column"]) == [4, 0]


def test_import_leaves_no_half_written_file(tmp_path):
    (tmp_path / "x").write_text("1 1:1\n-1 2:1\n")
    ok("import", "--input", tmp_path / "x", "--output", tmp_path / "x.h5", "--quiet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "x.h5"]


# --- real data ------------------------------------------------------------------------------------


def test_amazon_is_imported_as_the_erasurehead_code_does(amazon):
    found = inspect(amazon)
    assert found["train_rows"] == 26215 and found["columns"] == 241915
    assert found["test_rows"] == 6554
    assert found["train_entries"] == 44 * 26215 and found["test_entries"] == 44 * 6554
    assert found["train_positive"] + found["test_positive"] == 30872
    assert found["ones"] is True
    with h5py.File(amazon, "r") as file:
        names = file["feature/name"][:]
    assert len(set(names)) == 241915
    singles = sum(b"*" not in name for name in names)
    assert singles == 15626 + 1 and b"intercept" in names


def test_credit_is_imported_as_its_readme_says(real_data, tmp_path):
    folder, output = real_data / "credit", tmp_path / "credit.h5"
    config = REPOSITORY / "jobs" / "data" / "credit.ini"
    files = ["--input", folder / "train.liblinear.gz", "--test-input", folder / "test.liblinear.gz"]
    ok("import", "--config", config, *files, "--output", output, "--quiet")
    found = inspect(output)
    assert (found["train_rows"], found["columns"], found["test_rows"]) == (20000, 219, 10000)
    assert (found["train_positive"], found["test_positive"]) == (4408, 2228)
