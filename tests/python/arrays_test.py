# SPDX-License-Identifier: BSD-2-Clause
"""Arrays that users give: each is read as what it is, or refused by name."""

import decimal
import fractions

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")

ROWS = 12
X = np.random.default_rng(7).normal(size=(ROWS, 3))
Y = np.arange(ROWS) % 2
ABC = np.array(["a", "b", "c"] * 4)
FRAME = pd.DataFrame(X, columns=list("abc"))
BEYOND = 2**53


def masked(array, *places):
    made = np.ma.array(array)
    for place in places:
        made[place] = np.ma.masked
    return made


def column(values):
    """A DataFrame of numbers and one column that may be none."""
    return pd.DataFrame({"a": np.arange(ROWS), "b": values})


@pytest.mark.parametrize(
    "rows, sentence",
    [
        (masked(X, (3, 1)), r"X\[3, 1\] is masked"),
        ([masked(X, (3, 1))[i] for i in range(ROWS)], r"X\[3, 1\] is masked"),
        (X + 1j, "X holds complex numbers"),
        (X.astype("M8[s]"), "X holds dates"),
        (X.astype("m8[s]"), "X holds durations"),
        (X.astype(str), "X holds texts"),
        (np.zeros(ROWS, [("a", float), ("b", float)]), "X holds records"),
        (np.array([[1, None]] * ROWS, object), r"X\[0, 1\] is None"),
        (np.array([[1, 1j]] * ROWS, object), r"X\[0, 1\] is 1j"),
        (np.array([[1, np.timedelta64(3, "s")]] * ROWS, object), r"X\[0, 1\] is numpy.timedelta64"),
        (np.array([[1, 10**400]] * ROWS, object), "too large for a double"),
        ([[1, 2]] * (ROWS - 1) + [[3]], "as many in each row"),
        (np.array([[1, 2]] * (ROWS - 1) + [[3]], object), r"X\[0\] is \[1, 2\]"),
        (column(pd.array([1, None, 3] * 4, "Int64")), r"X\[1, 1\] is <NA>"),
        (column(pd.date_range("2020", periods=ROWS)), r"X\[0, 1\] is Timestamp"),
        (column(pd.Categorical(ABC)), r"X\[0, 1\] is 'a'"),
        (X[:, :, None], r"X has the shape \(12, 3, 1\)"),
        (np.empty((0, 3)), "X has no rows"),
        (sparse.csr_matrix(X + 1j), "X.data holds complex numbers"),
        (X.astype(np.longdouble) * np.longdouble("1e400"), "hold -?inf at element 0"),
    ],
)
def test_rows_that_are_no_numbers_are_refused(q, rows, sentence):
    with pytest.raises(q.BadInput, match=sentence) as refused:
        q.dataset(rows, Y)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 250


@pytest.mark.parametrize(
    "rows, numbers",
    [
        (masked(X), X),
        (X.astype(np.longdouble), X),
        (X.astype(np.float16), X.astype(np.float16)),
        (X > 0, X > 0),
        (X.tolist(), X),
        (np.asfortranarray(X), X),
        (
            column(pd.array([True, False, True] * 4, "boolean")),
            [[i, i % 3 != 1] for i in range(12)],
        ),
        (column(pd.Categorical([3, 4, 3] * 4)), [[i, 3 + (i % 3 == 1)] for i in range(12)]),
        (
            np.array([[decimal.Decimal("1.5"), fractions.Fraction(1, 4)]] * ROWS),
            [[1.5, 0.25]] * ROWS,
        ),
    ],
)
def test_rows_that_are_numbers_in_another_form_are_read(q, rows, numbers):
    assert np.array_equal(q.dataset(rows, Y).arrays()[0], np.asarray(numbers, float))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
def test_sparse_matrices_of_all_forms_are_read(q, kind):
    rows = sparse.random(ROWS, 5, density=0.4, random_state=1)
    back = q.dataset(rows.asformat(kind), Y).arrays()[0]
    assert np.array_equal(back.toarray(), rows.toarray())


def test_entries_of_one_place_add_up_without_overflow(q):
    small = np.array([200, 100, 1], np.uint8)
    shape = (ROWS, 2)
    for rows in (
        sparse.coo_matrix((small, ([0, 0, 1], [0, 0, 1])), shape),
        sparse.csr_matrix((small, [0, 0, 1], [0, 2] + [3] * 11), shape),
    ):
        assert q.dataset(rows, Y).arrays()[0].toarray()[:2].tolist() == [[300, 0], [0, 1]]
        assert rows.nnz == 3
    true = sparse.coo_matrix((small > 0, ([0, 0, 1], [0, 0, 1])), shape)
    assert q.dataset(true, Y).arrays()[0].toarray()[:2].tolist() == [[1, 0], [0, 1]]
    spoilt = sparse.csr_matrix(X)
    spoilt.indices[0] = 77
    with pytest.raises(q.BadInput, match="arrays contradict"):
        q.dataset(spoilt, Y)


@pytest.mark.parametrize(
    "labels, sentence",
    [
        (Y.reshape(6, 2), r"y has the shape \(6, 2\)"),
        (Y[None], r"y has the shape \(1, 12\)"),
        (None, r"y has the shape \(\)"),
        (masked(Y, 4), r"y\[4\] is masked"),
        (Y + 1j, "y holds complex"),
        (Y.astype("M8[s]"), "y holds dates"),
        (Y.astype("m8[s]"), "y holds durations"),
        (sparse.csr_matrix(Y[:, None]), "y is a sparse matrix"),
        (BEYOND + np.arange(ROWS) % 3, "9007199254740993 is beyond"),
        ([BEYOND, BEYOND + 1] * 6, "9007199254740993 is beyond"),
        ([str(BEYOND), str(BEYOND + 1), "4"] * 4, "9007199254740993 is beyond"),
        (np.array([2**64 - 1, 0] * 6, np.uint64), "18446744073709551615 is beyond"),
        ([10**400, 1, 2] * 4, "label 0 of y is 1000"),
        ([4] * ROWS, "two different labels, here there are 1"),
        ([np.nan] + [0.0] * 11, "label 0 is missing"),
        ([0, np.inf] + [0.0] * 10, "label 1 of y is inf"),
        ([np.nan] + ["a", "b"] * 5 + ["a"], "label 0 is missing"),
        (["a", "nan"] + ["b"] * 10, "label 1 is missing"),
        (pd.Series([0, 1, None] * 4, dtype="Int64"), "label 2 is missing"),
        ([pd.NaT] + ["a", "b"] * 5 + ["a"], "label 0 is missing"),
        ([pd.Timestamp(0)] + ["a", "b"] * 5 + ["a"], "label 0 of y is Timestamp"),
    ],
)
def test_labels_that_have_no_meaning_are_refused(q, labels, sentence):
    with pytest.raises(q.BadInput, match=sentence):
        q.dataset(X, labels)


@pytest.mark.parametrize(
    "labels, task, stored",
    [
        (Y[:, None], "binary", 2 * Y - 1),
        (Y > 0, "binary", 2 * Y - 1),
        (pd.Series(Y > 0, dtype="boolean"), "binary", 2 * Y - 1),
        (pd.Series(np.arange(ROWS) % 3, dtype="Int64"), "multiclass", np.arange(ROWS) % 3),
        (["0", "1", "2"] * 4, "multiclass", [0, 1, 2] * 4),
        (pd.Series(pd.Categorical(ABC)), "multiclass", [0, 1, 2] * 4),
        (pd.Series(ABC, dtype="string"), "multiclass", [0, 1, 2] * 4),
        (np.arange(ROWS) / 2, "regression", np.arange(ROWS) / 2),
        ([1.0, 2.0, 1e8] * 4, "multiclass", [0, 1, 2] * 4),
        ([1990, 1991, 1992] * 4, "multiclass", [0, 1, 2] * 4),
        ([0.5, 1.5] * 6, "binary", [-1, 1] * 6),
    ],
)
def test_labels_mean_what_they_look_like(q, labels, task, stored):
    data = q.dataset(X, labels)
    assert data.attributes["task"] == task
    assert np.array_equal(data.arrays()[1], stored)


@pytest.mark.parametrize(
    "labels, task",
    [
        ([30, 10, 20] * 4, None),
        ([-1, 0, 7] * 4, None),
        ([30.0, 10.0, 20.0] * 4, None),
        ([10, 20] * 6, None),
        ([2.5, -0.5] * 6, None),
        ([0.25, 0.5, 0.75] * 4, "multiclass"),
        ([0, 1] * 6, "multiclass"),
        (["30", "9", "200"] * 4, None),
        (["b", "a", "C"] * 4, None),
        (["yes", "no"] * 6, None),
        ([1.5, 2.5, 3.5] * 4, "regression"),
        ([True, False] * 6, None),
    ],
)
def test_labels_mean_what_the_same_file_means(q, tmp_path, labels, task):
    given = q.dataset(FRAME, labels, task=task)
    FRAME.assign(y=labels).to_csv(tmp_path / "rows.csv", index=False)
    options = {} if task is None else {"task": task}
    like = q.import_(
        tmp_path / "rows.csv", tmp_path / "rows.h5", label="y", shuffle="no", **options
    )
    for name in ("task", "classes"):
        assert given.attributes[name] == like.attributes[name], name
    assert np.array_equal(given.arrays()[1], like.arrays()[1])
    assert list(given.classes) == list(like.classes) and given.features == like.features
    if task != "regression":
        values = [int(label) for label in labels] if "9" in labels else labels  # texts of numbers
        assert given.classes.tolist() == sorted(set(values))


@pytest.mark.parametrize(
    "labels", [[30, 10, 20] * 4, ["b", "a", "c"] * 4, [2.5, 0.5] * 6, [True, False] * 6]
)
def test_predicted_labels_are_the_users_values(q, labels):
    names = sorted(set(labels))
    rows = np.array([[label == name for name in names] for label in labels], float)
    model = "softmax" if len(names) > 2 else "logistic"
    result = q.simulate(q.dataset(rows, labels), model=model, workers=2, rounds=50, step=1.0)
    assert q.predict(result, rows, labels=True).tolist() == labels
    with pytest.raises(q.BadInput, match="two results"):
        q.predict(result, rows, labels=True, probabilities=True)


def test_rare_classes_of_test_rows_are_warned_of(q, caplog):
    y = np.arange(ROWS) % 3
    more, theirs = np.vstack([X, X]), np.append(np.append(y, y[1:]), 7)
    data = q.dataset(X, y, more, theirs)
    assert "no training row has the label 7 of test rows" in caplog.text
    assert data.classes.tolist() == [0, 1, 2, 7] and data.arrays("test")[1][-1] == 3
    caplog.clear()
    q.dataset(X, y.astype(float))
    assert "3 different whole numbers, which are taken for classes" in caplog.text


def test_what_cannot_be_guessed_is_asked_for(q):
    with pytest.raises(q.BadInput, match="3000 different whole numbers"):
        q.dataset(np.zeros((3000, 1)), np.arange(3000))
    far = BEYOND + np.arange(ROWS)
    assert q.dataset(X, far, task="regression").arrays()[1][0] == BEYOND


@pytest.mark.parametrize(
    "train, test, sentence",
    [
        (["<=50K", ">50K"] * 6, ["<=50K.", ">50K."] * 6, "has the label '<=50K.', '>50K.'"),
        (["yes", "no"] * 6, ["Yes", "no"] * 6, "'Yes'"),
        (Y, 2 * Y - 1, "label -1 of test rows, theirs are 0, 1"),
        (Y, Y + 1, "label 2 of test rows"),
        (np.arange(ROWS) % 3, np.arange(ROWS) % 3 + 1, "label 3 of test rows"),
        (["yes", "no"] * 6, Y, "label '0', '1'"),
        (Y, ["yes", "no"] * 6, "y_test has words"),
        (Y, Y.reshape(6, 2), "y_test has the shape"),
    ],
)
def test_labels_of_test_rows_are_those_of_training_rows(q, train, test, sentence):
    with pytest.raises(q.BadInput, match=sentence):
        q.dataset(X, train, X, test)


def test_labels_of_both_that_are_the_same_in_another_form_are_read(q):
    assert np.array_equal(q.dataset(X, Y, X, Y.astype(str)).arrays("test")[1], 2 * Y - 1)
    words = q.dataset(X, ABC, X, [f" {word}" for word in ABC])  # as import reads cells
    assert np.array_equal(words.arrays("test")[1], words.arrays()[1])


def test_columns_of_test_rows_are_found_by_name(q):
    test = q.dataset(FRAME, Y, FRAME[["c", "a", "b"]], Y).arrays("test")[0]
    assert np.array_equal(test, X)
    numbered = pd.DataFrame(X)
    assert np.array_equal(q.dataset(numbered, Y, numbered[[2, 0, 1]], Y).arrays("test")[0], X)
    assert np.array_equal(q.dataset(FRAME, Y, X, Y).arrays("test")[0], X)
    for other, sentence in [
        (FRAME.rename(columns={"a": "z"}), "X_test has no column 'a'"),
        (numbered, "X_test has no column 'a'"),
        (pd.DataFrame(X, columns=list("abb")), "X_test has 2 columns 'b'"),
        (FRAME.assign(d=1), "X_test has 4 columns"),
    ]:
        with pytest.raises(q.BadInput, match=sentence):
            q.dataset(FRAME, Y, other, Y)


def test_labels_whose_index_has_another_order_are_refused(q):
    shuffled = pd.Series(Y).sample(frac=1, random_state=1)
    with pytest.raises(q.BadInput, match=r"give y.loc\[X.index\]"):
        q.dataset(FRAME, shuffled)
    with pytest.raises(q.BadInput, match="y_test have one index in two orders"):
        q.dataset(FRAME, Y, FRAME, shuffled)
    later = pd.Series(Y, index=range(50, 50 + ROWS))  # of rows that were chosen before
    assert np.array_equal(q.dataset(FRAME, later).arrays()[1], 2 * Y - 1)


def test_predictions_are_of_columns_by_name(q, tmp_path):
    result = q.simulate(q.dataset(FRAME, Y), workers=2, rounds=5)
    mixed = FRAME[["c", "a", "b"]]
    with pytest.raises(q.BadInput, match="column 0 .* is 'c', but 'a'"):
        q.predict(result, q.dataset(mixed, Y))
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    expected = q.predict(result, q.dataset(FRAME, Y))
    assert np.array_equal(q.predict(result, tmp_path / "mixed.csv"), expected)
    words = np.array(["no", "yes"])[Y]
    result = q.simulate(q.dataset(FRAME, words), workers=2, rounds=5)
    others = q.dataset(FRAME, np.array(["maybe", "yes"])[Y])
    with pytest.raises(q.BadInput, match="class 0 .* is 'maybe', but 'no'"):
        q.predict(result, others)
    # When the run's data are gone, the trace tells.
    trace = result.save(tmp_path / "trace.h5")
    del result
    assert len(q.predict(trace, q.dataset(X, Y))) == ROWS
    for rows, what in [(others, "classes"), (q.dataset(mixed, words), "columns")]:
        with pytest.raises(q.BadInput, match=f"{what} of .* are called otherwise"):
            q.predict(trace, rows)


def test_predictions_are_of_arrays_and_frames(q, tmp_path):
    data = q.dataset(FRAME, Y, FRAME[::-1], Y[::-1])
    result = q.simulate(data, workers=2, rounds=5)
    expected = X @ result.model
    for rows in (X, X.tolist(), FRAME, FRAME[["c", "a", "b"]], sparse.csr_matrix(X)):
        assert np.allclose(q.predict(result, rows), expected)
    assert np.allclose(q.predict(result, X[:1]), expected[:1])
    for rows, sentence in [
        (FRAME.rename(columns={"a": "z"}), "data has the column 'z', which the run's data lack"),
        (FRAME.assign(y=Y), "data has the column 'y'"),
        (FRAME[["a", "b"]], "data has no column 'c', which the run's data set has"),
        (pd.DataFrame(X), "data has the column '0'"),
        (X[:, :2], "data has 2 columns, the run's data 3"),
        (X[:0], "data has no rows"),
        (X[0], r"data has the shape \(3,\)"),
        (X + np.nan, "the given rows hold nan at element 0"),
        (FRAME.astype(str), r"data\[0, 0\] is"),
    ]:
        with pytest.raises(q.BadInput, match=sentence) as refused:
            q.predict(result, rows)
        assert len(str(refused.value)) < 200
    with pytest.raises(q.BadInput, match="split is of data sets"):
        q.predict(result, X, split="train")
    numbered = pd.DataFrame(X)  # whose columns pandas numbers
    result = q.simulate(q.dataset(numbered, Y), workers=2, rounds=5)
    for rows in (numbered[[2, 0, 1]], FRAME, X):
        assert np.allclose(q.predict(result, rows), expected)


def test_predictions_of_a_saved_trace_need_the_data_of_its_run(q, tmp_path):
    words = np.array(["no", "yes"])[Y]
    kept = q.dataset(FRAME, words, path=tmp_path / "kept.h5")
    result = q.simulate(kept, workers=2, rounds=20, step=1.0)
    trace = result.save(tmp_path / "trace.h5")
    expected = np.where(X @ result.model > 0, "yes", "no").tolist()
    assert q.predict(trace, FRAME[["b", "a", "c"]], labels=True).tolist() == expected
    assert q.predict(q.load(trace), FRAME, labels=True).tolist() == expected
    (tmp_path / "kept.h5").unlink()
    with pytest.raises(q.BadInput, match="data set .* is not there, .*keep the run's"):
        q.predict(trace, FRAME)


def test_frames_are_encoded_like_the_imported_file(q, tmp_path):
    frame = FRAME.assign(city=ABC, y=Y)
    frame.to_csv(tmp_path / "rows.csv", index=False, sep=";", decimal=",")
    data = q.import_(
        tmp_path / "rows.csv",
        tmp_path / "rows.h5",
        label="y",
        categorical="city",
        scale="standardise",
        intercept=True,
        decimal="comma",
        separator="semicolon",
        shuffle="no",
    )
    result = q.simulate(data, workers=2, rounds=5)
    rows = frame[["city", "c", "a", "b"]]
    assert np.allclose(q.predict(result, rows), q.predict(result, data))
    with pytest.raises(q.BadInput, match="scaled or encoded its columns: give a DataFrame"):
        q.predict(result, data.arrays()[0])


def test_missing_numbers_of_frames_are_replaced_like_those_of_the_file(q, tmp_path):
    frame = FRAME.where(FRAME.index.to_series() != 3)
    frame.assign(y=Y).to_csv(tmp_path / "rows.csv", index=False)
    options = {"label": "y", "missing": "mean", "shuffle": "no"}
    data = q.import_(tmp_path / "rows.csv", tmp_path / "rows.h5", **options)
    result = q.simulate(data, workers=2, rounds=5)
    assert np.allclose(q.predict(result, frame), q.predict(result, data))
    assert np.allclose(q.predict(result, X[:1]), q.predict(result, data)[:1])


def test_rows_of_the_other_kind_are_predicted_alike(q):
    """By a model of Python, whose parameters depend on whether the data are sparse."""
    from numpy_logistic import NumpyLogistic

    rows = sparse.random(ROWS, 5, density=0.4, format="csr", random_state=1)
    for train, other in ((rows, rows.toarray()), (rows.toarray(), rows)):
        result = q.simulate(q.dataset(train, Y), model=NumpyLogistic, workers=2, rounds=5, step=0.1)
        assert np.allclose(q.predict(result, other), rows @ result.model)


def test_times_and_coefficients_are_checked_alike(q):
    dry = {"workers": 3, "rounds": 2}
    for times, sentence in [
        (np.ones((3, 4)) + 1j, "delay holds complex"),
        (masked(np.ones((3, 4)), (1, 2)), r"delay\[1, 2\] is masked"),
        (np.ones((3, 4), "m8[s]"), "delay holds durations"),
        ([[None, 1]] * 3, r"delay\[0, 0\] is None"),
        (lambda worker, draw, load: np.complex128(1 + 1j), "return seconds"),
        (lambda worker, draw, load: np.timedelta64(3, "s"), "return seconds"),
    ]:
        with pytest.raises(q.BadInput, match=sentence):
            q.simulate(**dry, delay=times)
    for matrix, sentence in [
        (np.eye(3) + 1j, "B holds complex"),
        (masked(np.eye(3), (0, 0)), r"B\[0, 0\] is masked"),
        (sparse.eye(3), "B is a sparse matrix"),
    ]:
        with pytest.raises(q.BadInput, match=sentence):
            q.code(matrix)
    with pytest.raises(q.BadInput, match="whole number"):
        q.simulate(**dry, scheme=q.code(np.eye(3), collect=np.float32(2.7)))
    for weights in (np.ones(3) + 1j, masked(np.ones(3), 0)):
        code = q.code(np.eye(3), lambda known, w=weights: w if len(known) == 3 else None)
        with pytest.raises(q.BadInput, match="return weights"):
            q.simulate(**dry, scheme=code)
    with pytest.raises(q.BadInput, match="workers is numpy.timedelta64"):
        q.simulate(workers=np.timedelta64(3, "s"), rounds=1)
    with pytest.raises(TypeError, match="weight of a term"):
        q.Step([(1, np.complex128(1 + 1j))], 1)
    with pytest.raises(q.BadInput, match="over has the text 'agc'"):
        q.sweep(over={"scheme": "agc"})


def test_what_a_model_returns_is_checked_alike(q):
    class Classes(q.Model):
        def parameters(self, columns):
            return 3 * columns

        def loss_and_gradient(self, X, y, w):
            return 0.0, np.zeros(len(w))

        def scores(self, X, w):
            return X @ w.reshape(-1, 3)

        def loss(self, scores, y):
            return 0.0

    class Transposed(Classes):
        def scores(self, X, w):
            return super().scores(X, w).T

    class Masked(Classes):
        def loss_and_gradient(self, X, y, w):
            return 0.0, masked(np.zeros(len(w)), 0)

    class ComplexLoss(Classes):
        def loss_and_gradient(self, X, y, w):
            return np.complex128(1j), np.zeros(len(w))

    data = q.dataset(X, np.arange(ROWS) % 3)
    run = {"workers": 2, "rounds": 2, "step": 0.1, "evaluate_every": 1}
    assert q.simulate(data, model=Classes, **run).status == "completed"
    for model, sentence in [
        (Transposed, "first dimension is 3: return 2 x 3 scores"),
        (Masked, "return an array of 9 parameters"),
        (ComplexLoss, "with a number as loss"),
    ]:
        with pytest.raises(q.BadInput, match=sentence):
            q.simulate(data, model=model, **run)
