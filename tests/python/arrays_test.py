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
        ([0, 1, 10**8] * 4, "3 different labels, and the largest is 100000000"),
        ([1990, 1991, 1992] * 4, "the largest is 1992"),
        ([-1, 0, 1] * 4, "whole numbers from 0"),
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
        ([1.0, 2.0, 1e8] * 4, "regression", [1.0, 2.0, 1e8] * 4),
    ],
)
def test_labels_mean_what_they_look_like(q, labels, task, stored):
    data = q.dataset(X, labels)
    assert data.attributes["task"] == task
    assert np.array_equal(data.arrays()[1], stored)


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
        (Transposed, "first dimension is 3: return 12 x 3 scores"),
        (Masked, "return an array of 9 parameters"),
        (ComplexLoss, "with a number as loss"),
    ]:
        with pytest.raises(q.BadInput, match=sentence):
            q.simulate(data, model=model, **run)
