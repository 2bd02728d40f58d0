# SPDX-License-Identifier: BSD-2-Clause
"""Copies of results and data sets, those of pickle too, and text that is no UTF-8."""

import copy
import gc
import os
import pickle

import numpy as np
import pytest

OPTIONS = {"workers": 2, "rounds": 4, "evaluate_every": 2}


def test_the_file_of_a_data_set_lives_as_long_as_its_copies(q, arrays):
    data = q.dataset(*arrays)
    copies = [copy.copy(data), copy.deepcopy(data)]
    path = data.path
    del data
    gc.collect()
    for one in copies:
        assert q.simulate(one, **OPTIONS).status == "completed"
    del one, copies
    gc.collect()
    assert not path.parent.exists()


def test_a_pickled_data_set_has_its_rows(q, arrays, tmp_path):
    data = q.dataset(*arrays)
    pickled = pickle.dumps(data)
    del data
    gc.collect()
    again = pickle.loads(pickled)
    assert np.array_equal(again.arrays()[0], arrays[0])
    kept = pickle.loads(pickle.dumps(again.save(tmp_path / "kept.h5")))
    assert kept.path == tmp_path / "kept.h5"


def test_results_are_copied_and_pickled(q, data, tmp_path):
    result = q.simulate(data, **OPTIONS)
    loaded = q.load(result.save(tmp_path / "trace.h5"))
    makers = [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
    for one in (result, loaded, q.simulate(**{**OPTIONS, "evaluate_every": None})):
        for made in [make(one) for make in makers]:
            assert made == one and made.label == one.label
            assert not one.attributes["data"] or np.array_equal(made.model, one.model)
            for table in ("rounds", "arrivals", "evaluations", "workers", "membership"):
                assert getattr(made, table).equals(getattr(one, table))
            attributes = made.attributes
            assert {name: attributes[name] for name in one.attributes} == one.attributes
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(q.predict(again), q.predict(result))
    assert q.load(again.save(tmp_path / "again.h5")) == result
    trace = pickle.loads(pickle.dumps(result.to_trace()))
    assert trace.arrivals().equals(result.arrivals)


def test_other_results_are_pickled(q):
    runs = q.compare(["uncoded", q.scheme("frc", stragglers=1)], workers=4, rounds=3, seeds=2)
    again = pickle.loads(pickle.dumps(runs))
    assert again.table.equals(runs.table)
    advice = q.advise(workers=4, delay=q.exponential(1), rounds=5, repeat=1)
    assert pickle.loads(pickle.dumps(advice)).best == advice.best


def test_a_loaded_result_has_its_model_and_numbers(q, data, tmp_path):
    result = q.simulate(data, **OPTIONS)
    loaded = q.load(result.save(tmp_path / "trace.h5"))
    assert len(loaded.model) == 6 and loaded.attributes["workers"] == 2


def test_a_trace_without_a_final_model_says_why(q, data, tmp_path):
    dry = q.simulate(workers=2, rounds=2)
    for one in (dry, q.load(dry.save(tmp_path / "dry.h5"))):
        with pytest.raises(q.BadInput, match="was a dry run, which trains no model: give it data"):
            one.model.sum()
    h5py = pytest.importorskip("h5py")
    path = q.simulate(data, workers=2, rounds=2, step=0.1).save(tmp_path / "killed.h5")
    with h5py.File(path, "a") as file:  # as of a run that goes on, or was killed
        del file["model"]
        file.attrs["status"] = "running"
    with pytest.raises(q.BadInput, match="no final model, its run is running: let it end"):
        q.load(path).model.sum()


def test_text_that_is_no_utf_8_keeps_its_bytes_and_is_shown(q, tmp_path):
    rows = "\n".join(f"{i},{i % 7},{'männlich' if i % 3 else 'weiblich'}" for i in range(30))
    folder = tmp_path / os.fsdecode(b"m\xe4rz")
    folder.mkdir()
    text = ("größe,b,geschlecht\n" + rows).encode("latin-1")
    (folder / "latin.csv").write_bytes(text)
    data = q.import_(folder / "latin.csv", folder / "d.h5", label="geschlecht")
    word = os.fsdecode(b"m\xe4nnlich")
    assert q.open(data.path).attributes["class_values"] == f"{word}, weiblich"
    assert q.inspect(data)["class_values"] == "m\N{REPLACEMENT CHARACTER}nnlich, weiblich"
    result = q.simulate(data, **OPTIONS)
    assert result.options["data"] == str(data.path)
    assert "m\N{REPLACEMENT CHARACTER}rz" in result.to_trace().config["data"]
    trace = result.save(folder / "trace.h5")
    assert len(q.predict(trace, folder / "latin.csv")) == 30
    assert "m\N{REPLACEMENT CHARACTER}rz" in q.inspect(trace)["config"]
    assert pickle.loads(pickle.dumps(result)) == result
    again = q.dataset(np.eye(4), [b"m\xe4nnlich", b"weiblich"] * 2)
    assert q.inspect(again)["classes"] == "2"
    with pytest.raises(q.BadInput, match="m\N{REPLACEMENT CHARACTER}rz"):
        q.open(folder / "none.h5")
