# SPDX-License-Identifier: BSD-2-Clause
"""Data as people have them: words, gaps and semicolons in CSV, NumPy's arrays, new rows
to predict."""

import csv
import io
import json
import re
import tarfile
import zipfile

import h5py
import numpy as np
import pytest

from program import call, inspect

TABLE = """city;minutes;pages;bought
Bonn;7,5;8;yes
Celle;NA;3;no
?;1,5;2;no
Bonn;9;;yes
Celle;2;1;no
Aachen;3;4;yes
Celle;4;2;
"""


def imported(folder, *words, output="d.h5"):
    """What an import says, on stdout and behind that on stderr."""
    done = call("import", "--output", folder / output, "--overwrite", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def refused(folder, *words):
    done = call("import", "--output", folder / "x.h5", *words)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert not (folder / "x.h5").exists()
    return done.stderr.removeprefix("quorate: ").strip()


def rows_of(path, split="train"):
    with h5py.File(path) as file:
        return file[f"{split}/values"][:], file[f"{split}/label"][:]


@pytest.fixture
def visits(tmp_path):
    (tmp_path / "visits.csv").write_text(TABLE)
    return ["--input", tmp_path / "visits.csv", "--label", "bought", "--categorical", "city"]


def test_a_table_with_words_gaps_and_semicolons(visits, tmp_path):
    assert "give --decimal comma" in refused(tmp_path, *visits)
    words = [*visits, "--decimal", "comma"]
    assert refused(tmp_path, *words) == (
        f"{tmp_path}/visits.csv:3:7: column minutes: the value is missing, 'NA'; fill it, or give "
        "--missing mean or drop"
    )
    told = imported(tmp_path, *words, "--missing", "mean,category,drop")
    assert "1 rows with missing values are left out" in told
    assert "3 of 6 labels positive (yes)" in told
    found = inspect(tmp_path / "d.h5")
    assert found["class_values"] == "no, yes" and found["train_rows"] == 6
    assert found["command_line"].startswith("quorate import --output ")
    with h5py.File(tmp_path / "d.h5") as file:
        names = [name.decode() for name in file["feature/name"]]
        assert [name.decode() for name in file["class/name"]] == ["no", "yes"]
    assert sorted(names) == sorted(
        ["city=Bonn", "city=Celle", "city=missing", "city=Aachen", "minutes", "pages"]
    )
    values, label = rows_of(tmp_path / "d.h5")
    assert list(label) == [1, -1, -1, 1, -1, 1]
    assert values[1, names.index("minutes")] == pytest.approx((7.5 + 1.5 + 9 + 2 + 3) / 5)
    assert values[2, names.index("city=missing")] == 1


def test_new_rows_need_no_options_no_labels_and_lose_no_row(visits, tmp_path):
    words = [*visits, "--decimal", "comma", "--missing", "mean,category,drop"]
    imported(tmp_path, *words, "--scale", "standardise", "--intercept", "--test-fraction", "0.2")
    old, new = tmp_path / "d.h5", tmp_path / "new.csv"
    new.write_text("minutes;city;extra;pages\n7,5;Bonn;x;8\nNA;Ulm;y;3\n")
    told = imported(tmp_path, "--input", new, "--like", old, output="n.h5")
    assert "1 columns that" in told and told.endswith("left out: 'city=Ulm'\n")
    found = inspect(tmp_path / "n.h5")
    assert (found["train_rows"], found["unlabelled"], found["test_rows"]) == (2, "2", 0)
    with h5py.File(old) as file:
        names = [name.decode() for name in file["feature/name"]]
    values, label = rows_of(tmp_path / "n.h5")
    assert np.isnan(label).all()
    assert values[1, names.index("minutes")] == pytest.approx(0), "the mean, standardised"
    assert list(values[:, names.index("intercept")]) == [1, 1]
    done = call("simulate", "--data", tmp_path / "n.h5", "--workers", 2, "--trace", tmp_path / "t")
    assert done.returncode == 2 and "has 2 rows without a label" in done.stderr
    new.write_text("minutes;city\n7,5;Bonn\n")
    assert refused(tmp_path, "--input", new, "--like", old) == (
        f"{new} has no column pages, which {old} was made of: give files of one form"
    )
    new.write_text("minutes;city;pages\n1;Bonn;many\n")
    assert f"column pages: expected a finite number, got 'many'; {old} has numbers there" in (
        refused(tmp_path, "--input", new, "--like", old)
    )
    new.write_text("minutes;city;pages;bought\n1;Bonn;1;maybe\n")
    assert "label maybe is none of the classes no, yes" in refused(
        tmp_path, "--input", new, "--like", old
    )


def test_dates_as_categories_are_warned_of(tmp_path):
    days = "".join(f"2026-11-{day:02},{day % 2},{day % 3}\n" for day in range(1, 26))
    (tmp_path / "a.csv").write_text(f"day,y,kind\n{days}")
    words = ["import", "--input", tmp_path / "a.csv", "--label", "y", "--output", tmp_path / "d.h5"]
    assert "leave it out with --drop" in call(*words).stderr
    done = call(*words, "--categorical", "day,kind", "--overwrite")
    assert done.returncode == 0
    assert "column day has 25 different values in 25 rows" in done.stderr
    assert "column kind" not in done.stderr


def test_rows_are_dropped_on_demand_only(tmp_path):
    (tmp_path / "a.csv").write_text("y,a\n1,2\n0,\n0,3\n")
    words = ["--input", tmp_path / "a.csv"]
    imported(tmp_path, *words, "--label", "y", "--missing", "drop")
    like = [*words, "--like", tmp_path / "d.h5"]
    assert "give --missing drop, which leaves the row out" in refused(tmp_path, *like)
    assert "holds no means" in refused(tmp_path, *like, "--missing", "mean")
    assert "1 rows with missing" in imported(tmp_path, *like, "--missing", "drop", output="n.h5")


def test_columns_without_names_are_found_without_the_labels_column(tmp_path):
    (tmp_path / "a.csv").write_text("5,1,2\n7,3,4\n")
    (tmp_path / "b.csv").write_text("1,2\n3,4\n")
    imported(tmp_path, "--input", tmp_path / "a.csv", "--header", "no", "--label", 1)
    imported(tmp_path, "--input", tmp_path / "b.csv", "--like", tmp_path / "d.h5", output="n.h5")
    assert np.array_equal(rows_of(tmp_path / "n.h5")[0], [[1, 2], [3, 4]])


@pytest.mark.parametrize("model", ["logistic", "softmax"])
def test_predictions_on_raw_csv_are_probabilities_in_the_words_of_the_file(model, tmp_path):
    kinds = ["setosa", "versicolor", "virginica"] if model == "softmax" else ["no", "yes"]
    random = np.random.default_rng(1)
    which = random.integers(len(kinds), size=200)
    text = "a,b,kind\n" + "".join(
        f"{c + random.normal(0, 0.3):.3f},{-c + random.normal(0, 0.3):.3f},{kinds[c]}\n"
        for c in which
    )
    (tmp_path / "rows.csv").write_text(text)
    imported(tmp_path, "--input", tmp_path / "rows.csv", "--label", "kind", "--intercept")
    trace = tmp_path / "t.h5"
    words = ["--data", tmp_path / "d.h5", "--model", model, "--workers", 4, "--rounds", 200]
    words += ["--optimizer", "agd", "--step", 0.2]
    assert call("simulate", *words, "--trace", trace, "--quiet").returncode == 0
    new = tmp_path / "new.csv"
    new.write_text("b,a\n" + "".join(f"{-c},{c}\n" for c in range(len(kinds))))
    before = sorted(tmp_path.iterdir())
    done = call("predict", trace, "--data", new, "--json")
    assert done.returncode == 0, done.stderr
    assert sorted(tmp_path.iterdir()) == before, "something is left"
    told = json.loads(done.stdout)
    assert told["classes"] == kinds and "loss" not in told
    assert [row["predicted"] for row in told["predictions"]] == kinds
    for row in told["predictions"]:
        assert list(row["probabilities"]) == kinds and "label" not in row
        assert sum(row["probabilities"].values()) == pytest.approx(1, abs=1e-12)
        assert row["predicted"] == max(row["probabilities"], key=row["probabilities"].get)

    output = tmp_path / "scores.csv"
    done = call("predict", trace, "--data", tmp_path / "rows.csv", "--output", output)
    assert done.returncode == 0 and "accuracy" in done.stdout
    with open(output, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [kinds[c] for c in which]
    right = np.mean([row["label"] == row["predicted"] for row in rows])
    assert f"accuracy {right:.4f}" in done.stdout and right > 0.8
    for row in rows:
        probabilities = [float(row[f"probability_{kind}"]) for kind in kinds]
        assert sum(probabilities) == pytest.approx(1, abs=1e-12)
    done = call("predict", trace, "--data", tmp_path / "none.csv", "--json")
    assert done.returncode == 2 and "cannot open" in done.stderr
    done = call("predict", trace)
    assert done.returncode == 2 and "needs --output FILE, .csv or .h5, or --json" in done.stderr


def trained(folder, data="d.h5"):
    trace = folder / "t.h5"
    words = ["--data", folder / data, "--workers", 2, "--rounds", 50, "--trace", trace, "--quiet"]
    assert call("simulate", *words).returncode == 0
    return trace


def test_a_file_whose_names_stand_twice_has_the_scores_of_its_import(tmp_path):
    rows = RANDOM.normal(size=(40, 3))
    (tmp_path / "a.csv").write_text(
        "x,b,x,y\n" + "".join(f"{a},{b},{c},{int(a > c)}\n" for a, b, c in rows)
    )
    told = imported(tmp_path, "--input", tmp_path / "a.csv", "--label", "y")
    assert "2 columns are called x and become 'x (1 of 2)', 'x (2 of 2)'" in told
    trace = trained(tmp_path)
    scores = [
        call("predict", trace, "--json", *words) for words in ([], ["--data", tmp_path / "a.csv"])
    ]
    assert scores[0].returncode == 0 and scores[0].stdout == scores[1].stdout
    assert scores[1].stderr == ""


def test_libsvm_text_to_predict_has_dummy_labels_and_other_columns(tmp_path):
    (tmp_path / "a.svm").write_text("+1 1:1 3:2\n-1 2:1\n+1 1:2\n-1 2:2 3:1\n")
    imported(tmp_path, "--input", tmp_path / "a.svm", "--scale", "standardise", "--intercept")
    trace = trained(tmp_path)
    new = tmp_path / "new.svm"
    new.write_text("0 1:1 7:3\n0 2:2\n")
    done = call("predict", trace, "--data", new, "--json")
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert len(lines) == 2 and lines[1].endswith("does not have are left out: '7'")
    assert "label 0 is none of the classes -1, 1 of the data set" in lines[0]
    told = json.loads(done.stdout)
    assert "accuracy" not in told and told["rows"] == 2
    assert [row["predicted"] for row in told["predictions"]] == ["1", "-1"]
    new.write_text("0 1:1\n1 2:2\n")
    done = call("predict", trace, "--data", new, "--json")
    assert done.returncode == 2 and "label 0 is none of the classes" in done.stderr


def test_classes_that_are_numbers_are_compared(tmp_path):
    def data(name, labels):
        (tmp_path / "a.csv").write_text("a,y\n" + "".join(f"{y * y},{y}\n" for y in labels))
        imported(tmp_path, "--input", tmp_path / "a.csv", "--label", "y", output=name)
        return tmp_path / name

    data("d.h5", [0, 1, 0, 1])
    done = call("predict", trained(tmp_path), "--data", data("e.h5", [-1, 1]), "--json")
    assert done.returncode == 0
    assert f"the classes -1, 1 of {tmp_path}/e.h5 are taken for 0, 1 of" in done.stderr
    data("d.h5", [0, 1, 2, 0])
    (tmp_path / "t.h5").unlink()
    words = ["--data", tmp_path / "d.h5", "--model", "softmax", "--workers", 2, "--rounds", 5]
    assert call("simulate", *words, "--trace", tmp_path / "t.h5", "--quiet").returncode == 0
    done = call("predict", tmp_path / "t.h5", "--data", data("e.h5", [1, 2, 3]), "--json")
    assert done.returncode == 2 and "class 0 of" in done.stderr


# --- NumPy and SciPy ------------------------------------------------------------------------------

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(50, 4))
Y = (X[:, 0] > 0).astype(int)
WORDS = np.array(["no", "yes"])[Y]


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<i2", ">i4", "u1", "i8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_type_and_order(dtype, order, tmp_path):
    values = np.abs(10 * X).astype(dtype, order=order)
    np.savez_compressed(tmp_path / "a.npz", X=values, y=Y.reshape(-1, 1).astype(dtype))
    imported(tmp_path, "--input", tmp_path / "a.npz", "--storage", "dense")
    got, label = rows_of(tmp_path / "d.h5")
    assert np.array_equal(got, values.astype(float)) and np.array_equal(label, 2 * Y - 1)


def test_archives_have_labels_in_words_and_test_rows(tmp_path):
    path = tmp_path / "a.npz"
    for names in (["X", "y", "X_test", "y_test"], ["x_train", "y_train", "x_test", "y_test"]):
        np.savez(path, **dict(zip(names, [X, WORDS, X[:5], WORDS[:5].astype("S3")])))
        told = imported(tmp_path, "--input", path)
        assert "50 x 4 training rows, 5 test rows" in told and "positive (yes)" in told
        assert np.array_equal(rows_of(tmp_path / "d.h5", "test")[0], X[:5])
    assert "has test rows of its own, x_test" in refused(
        tmp_path, "--input", path, "--test-fraction", 0.2
    )
    assert "3 x 4 training rows, 3 test rows" in imported(
        tmp_path, "--input", path, "--limit-rows", 3
    )
    np.savez(path, features=X, target=Y)
    words = ["--input", path, "--array", "features", "--label", "target"]
    assert "50 x 4 training rows" in imported(tmp_path, *words)
    assert "did you mean features?" in refused(tmp_path, "--input", path, "--array", "feature")
    assert "it holds features, target" in refused(tmp_path, "--input", path)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", WORDS)
    words = ["--input", tmp_path / "x.npy", "--labels", tmp_path / "y.npy"]
    assert "positive (yes)" in imported(tmp_path, *words)
    images = RANDOM.integers(0, 256, size=(50, 3, 4)).astype("u1")
    np.savez(path, X=np.asfortranarray(images), y=Y)
    imported(tmp_path, "--input", path)
    assert inspect(tmp_path / "d.h5")["image"] == "1x3x4"
    assert np.array_equal(rows_of(tmp_path / "d.h5")[0], images.reshape(50, -1))


def test_missing_values_of_ones_own(tmp_path):
    (tmp_path / "a.csv").write_text(
        "age,city,y\n1,Bonn,1\n-999,Celle,0\n3,unknown,1\n-999.0,Bonn,0\n"
        "5,Celle,unknown\n?,Bonn,1\n"
    )
    words = ["--input", tmp_path / "a.csv", "--label", "y", "--categorical", "city"]
    words += ["--shuffle", "no"]
    own = ["--missing-values", "unknown,-999"]
    assert refused(tmp_path, *words, *own) == (
        f"{tmp_path}/a.csv:3:1: column age: the value is missing, '-999'; fill it, or give "
        "--missing mean or drop"
    )
    told = imported(tmp_path, *words, *own, "--missing", "mean,category,drop")
    assert "1 rows with missing values are left out" in told and "warning" not in told
    values, labels = rows_of(tmp_path / "d.h5")
    with h5py.File(tmp_path / "d.h5") as file:
        names = [name.decode() for name in file["feature/name"][:]]
    assert sorted(names) == ["age", "city=Bonn", "city=Celle", "city=missing"]
    assert list(values[:, names.index("age")]) == [1, 2, 3, 2, 2]  # 2 is the mean of 1 and 3
    assert list(values[:, names.index("city=missing")]) == [0, 0, 1, 0, 0]
    assert list(labels) == [1, -1, 1, -1, 1]
    # New rows that are to be like these have the same.
    (tmp_path / "b.csv").write_text("age,city\n-999,unknown\n")
    imported(tmp_path, "--input", tmp_path / "b.csv", "--like", tmp_path / "d.h5", output="n.h5")
    new = rows_of(tmp_path / "n.h5")[0]
    assert new[0, names.index("age")] == 2 and new[0, names.index("city=missing")] == 1
    trace = tmp_path / "t.h5"
    run = ["--data", tmp_path / "d.h5", "--workers", 2, "--rounds", 3, "--trace", trace]
    assert call("simulate", *run, "--quiet").returncode == 0
    done = call("predict", trace, "--data", tmp_path / "b.csv", "--output", tmp_path / "s.csv")
    assert done.returncode == 0, done.stderr


def test_a_missing_value_that_no_cell_holds_is_warned_of(tmp_path):
    (tmp_path / "a.csv").write_text('a,y\n1,1\n"n, a",0\n3,1\n4,0\n')
    words = ["--input", tmp_path / "a.csv", "--label", "y", "--missing", "mean"]
    told = imported(tmp_path, *words, "--missing-values", 'absent,"n, a"')
    assert "warning: no value of" in told and "is absent, which --missing-values names" in told
    assert "--missing-values is ,: write texts" in refused(
        tmp_path, *words, "--missing-values", ","
    )


def test_nan_in_a_file_of_labels_is_refused_with_its_place(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    np.save(tmp_path / "y.npy", [1.0, 0, np.nan])
    words = ["--input", tmp_path / "X.npy"]
    said = refused(tmp_path, *words, "--labels", tmp_path / "y.npy")
    assert "y.npy has NaN for a label in row 2 from 0: give a number" in said
    np.save(tmp_path / "z.npy", [1.0, 0, 1])
    words += ["--labels", tmp_path / "z.npy", "--test-input", tmp_path / "X.npy"]
    said = refused(tmp_path, *words, "--test-labels", tmp_path / "y.npy")
    assert "y.npy has NaN for a label in row 2 from 0: give a number" in said


@pytest.mark.parametrize(
    "shape, message",
    [
        ((0, 4611686018427387904, 4), "is damaged: its shape is (0, 4611686018427387904, 4)"),
        ((1, 4611686018427387904, 4), "is damaged: its shape is (1, 4611686018427387904, 4)"),
    ],
)
def test_a_shape_that_cannot_be_counted_is_refused(tmp_path, shape, message):
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    with open(tmp_path / "X.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
    assert message in refused(tmp_path, "--input", tmp_path / "X.npy")


def test_a_number_of_an_array_may_stand_for_missing(tmp_path):
    X = np.array([[1.0, -999], [3, 2], [-999, 4], [2, 6]])
    np.savez(tmp_path / "a.npz", X=X, y=np.array(["a", "b", "a", "unknown"]))
    words = ["--input", tmp_path / "a.npz", "--missing-values", "-999,unknown"]
    assert "holds -999 in row 0, column 1" in refused(tmp_path, *words)
    told = imported(tmp_path, *words, "--missing", "mean,drop", "--shuffle", "no")
    assert "1 rows with missing values are left out" in told
    values, labels = rows_of(tmp_path / "d.h5")
    assert values.tolist() == [[1, 3], [3, 2], [2, 4]] and len(labels) == 3
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"], file["y"] = X, [1.0, 0.0, 1.0, -999.0]
    words = ["--input", tmp_path / "a.h5", "--array", "X", "--label", "y"]
    words += ["--missing-values", "-999", "--missing", "mean,drop", "--shuffle", "no"]
    imported(tmp_path, *words, output="e.h5")
    assert rows_of(tmp_path / "e.h5")[0].tolist() == [[1, 3], [3, 2], [2, 4]]


def test_nan_is_a_missing_value(tmp_path):
    path, values, labels = tmp_path / "a.npz", X.copy(), Y.astype(float)
    values[3, 2] = np.nan
    np.savez(path, X=values, y=labels)
    assert "array X holds nan in row 3, column 2" in refused(tmp_path, "--input", path)
    imported(tmp_path, "--input", path, "--missing", "mean")
    assert rows_of(tmp_path / "d.h5")[0][3, 2] == pytest.approx(np.nanmean(values[:, 2]))
    imported(tmp_path, "--input", path, "--missing", "drop")
    assert np.array_equal(rows_of(tmp_path / "d.h5")[0], np.delete(values, 3, 0))
    labels[7] = np.nan
    np.savez(path, X=X, y=labels)
    assert "NaN for a label in row 7" in refused(tmp_path, "--input", path)
    assert "49 x 4" in imported(tmp_path, "--input", path, "--missing", "drop")
    np.savez(path, X=np.full((3, 2), np.nan), y=[0, 1, 1])
    assert "column 1 has no number" in refused(tmp_path, "--input", path, "--missing", "mean")


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"X": X.astype(object), "y": Y}, "array X holds Python objects"),
        ({"X": X, "y": Y.astype(object)}, "array y holds Python objects"),
        ({"X": X.astype(complex), "y": Y}, "array X holds complex numbers (<c16)"),
        ({"X": X.astype("g"), "y": Y}, "elements of the type <f16"),
        ({"X": X.astype(str), "y": Y}, "array X holds text (<U32) where numbers are needed"),
        ({"X": X[:, 0], "y": Y}, "of NumPy X.reshape(-1, 1) for one column"),
        ({"X": X[:0], "y": Y[:0]}, "has the shape (0, 4)"),
        ({"X": np.zeros(3, [("a", "f8")]), "y": Y}, "rows of several types"),
        ({"X": X, "y": Y[1:]}, "array y has 49 labels for 50 rows"),
        ({"X": X, "y": np.eye(50)}, "of one-hot rows give y.argmax(axis=1)"),
        ({"X": X, "y": Y, "X_test": X}, "has no array y_test"),
        ({"X": X, "y": Y, "X_test": X[:, :2], "y_test": Y}, "has 2 columns, the training file 4"),
        ({"X": np.full_like(X, np.inf), "y": Y}, "inf in row 0"),
    ],
)
def test_arrays_that_are_no_rows_and_labels_are_refused(arrays, message, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    assert message in refused(tmp_path, "--input", tmp_path / "a.npz")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_arrays_of_one_name_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for _ in range(2):
            with io.BytesIO() as bytes_of_x:
                np.save(bytes_of_x, X)
                archive.writestr("X.npy", bytes_of_x.getvalue())
    assert "has two arrays X" in refused(tmp_path, "--input", tmp_path / "a.npz")


def test_arrays_are_found_by_names_in_any_letters(tmp_path):
    np.savez(tmp_path / "a.npz", größe=X, y=Y)
    words = ["--input", tmp_path / "a.npz", "--storage", "dense"]
    assert "it holds größe, y" in refused(tmp_path, *words)
    imported(tmp_path, *words, "--array", "größe")
    assert np.array_equal(rows_of(tmp_path / "d.h5")[0], X)


def test_encrypted_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    whole = bytearray((tmp_path / "a.npz").read_bytes())
    for mark, flags in (b"PK\3\4", 6), (b"PK\1\2", 8):
        for found in re.finditer(re.escape(mark), bytes(whole)):
            whole[found.start() + flags] |= 1
    (tmp_path / "a.npz").write_bytes(whole)
    assert "a.npz: X.npy is encrypted" in refused(tmp_path, "--input", tmp_path / "a.npz")


def test_damaged_arrays_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    for save in (np.savez, np.savez_compressed):
        save(path, X=X, y=Y)
        whole = path.read_bytes()
        for left in (10, 200, len(whole) // 2, len(whole) - 30, len(whole) - 1):
            path.write_bytes(whole[:left])
            assert "is damaged or truncated" in refused(tmp_path, "--input", path)
        for at in (400, len(whole) // 3):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
            assert "is damaged" in refused(tmp_path, "--input", path)
    np.save(tmp_path / "x.npy", X)
    whole = (tmp_path / "x.npy").read_bytes()
    words = ["--input", tmp_path / "x.npy", "--labels", tmp_path / "y.npy"]
    np.save(tmp_path / "y.npy", Y)
    (tmp_path / "x.npy").write_bytes(whole[:-8])
    assert "is truncated" in refused(tmp_path, *words)
    (tmp_path / "x.npy").write_bytes(whole + b"more")
    assert "longer than it says" in refused(tmp_path, *words)
    (tmp_path / "x.npy").write_bytes(whole.replace(b"(50, 4)", b"(9999999999, 4)"[:7]))
    assert "is damaged" in refused(tmp_path, *words)


def test_a_sparse_matrix_of_scipy_is_refused_with_a_way_to_write_it_otherwise(tmp_path):
    path = tmp_path / "a.npz"
    arrays = {"indices": [1, 0], "indptr": [0, 1, 2], "data": [1.0, 2.0]}
    np.savez_compressed(path, format=b"csr", shape=(2, 2), **arrays)
    said = refused(tmp_path, "--input", path)
    assert "a.npz is a sparse matrix of SciPy" in said and "dump_svmlight_file" in said


BATCHES = [f"data_batch_{i}.bin" for i in range(1, 6)]
PIXELS = 3072


def images(count, seed):
    """Labels and pixels, and the records that hold them."""
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 10
    pixels = random.integers(0, 256, (count, PIXELS))
    return labels, pixels, np.column_stack([labels, pixels]).astype(np.uint8).tobytes()


def cifar_archive(path, batches, leave_out=""):
    """As cifar-10-binary.tar.gz: a folder, in which files do not stand in their order."""
    order = [BATCHES[0], "batches.meta.txt", *BATCHES[2:4], "test_batch.bin", "readme.html"]
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as archive:
        folder = tarfile.TarInfo("cifar-10-batches-bin")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name in [*order, BATCHES[4], BATCHES[1]]:
            content = batches.get(name, b"airplane\n")
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            info.size = len(content)
            if name != leave_out:
                archive.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture
def cifar(tmp_path):
    """An archive; its training rows and labels in the order of batches, and those of the test."""
    sets = [images(10 + i, i) for i in range(6)]
    batches = dict(zip([*BATCHES, "test_batch.bin"], [one[2] for one in sets]))
    train = [np.concatenate([one[i] for one in sets[:5]]) for i in (1, 0)]
    return cifar_archive(tmp_path / "cifar-10-binary.tar.gz", batches), train, sets[5], batches


@pytest.mark.parametrize("words", [(), ("--format", "cifar10")])
def test_the_archive_of_cifar10_is_imported_as_it_is(cifar, words, tmp_path):
    path, (pixels, labels), test, _ = cifar
    imported(tmp_path, "--input", path, "--task", "multiclass", "--divide", 255, *words)
    found = inspect(tmp_path / "d.h5")
    assert (found["train_rows"], found["test_rows"], found["image"]) == (60, 15, "3x32x32")
    for split, values, wanted in (("train", pixels, labels), ("test", test[1], test[0])):
        rows, classes = rows_of(tmp_path / "d.h5", split)
        assert np.allclose(rows, values / 255, rtol=1e-15) and np.array_equal(classes, wanted)


def test_rows_of_the_archive_can_be_limited(cifar, tmp_path):
    path, (pixels, _), test, _ = cifar
    imported(tmp_path, "--input", path, "--task", "multiclass", "--limit-rows", 13)
    assert np.array_equal(rows_of(tmp_path / "d.h5")[0], pixels[:13])
    assert np.array_equal(rows_of(tmp_path / "d.h5", "test")[0], test[1][:13])


def test_other_archives_of_cifar10_are_refused(cifar, tmp_path):
    path, _, _, batches = cifar

    def says(given, *words):
        return refused(tmp_path, "--format", "cifar10", "--input", given, *words)

    assert f"but {path} has test rows of its own, test_batch.bin" in says(
        path, "--test-fraction", 0.2
    )
    records = tmp_path / "records.bin"
    records.write_bytes(batches[BATCHES[0]])
    assert "--test-input is" in says(records, "--test-input", path)
    other = cifar_archive(tmp_path / "other.tar.gz", batches, leave_out="data_batch_4.bin")
    assert "holds no data_batch_4.bin: give the binary version of CIFAR-10" in says(other)
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(path.read_bytes()[:-3000])
    assert "is damaged or truncated" in says(cut)
    short = cifar_archive(tmp_path / "s.tar.gz", {**batches, BATCHES[1]: batches[BATCHES[1]][:-1]})
    assert f"{short}: cifar-10-batches-bin/data_batch_2.bin is truncated: record 11" in says(short)
