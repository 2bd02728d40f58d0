# SPDX-License-Identifier: BSD-2-Clause
"""export and the panel of watch: other programs read it, and so do people."""

import json
import sys
import types
from types import SimpleNamespace

import h5py
import numpy as np
import pandas
import pytest
from program import attributes_of
from traces import edited
from quorate.analysis import panel
from quorate.analysis.traces import read_trace


def test_csv_holds_the_columns_of_the_tables(simulated, analyse, tmp_path):
    status, out, _ = analyse("export", simulated["members"], "--out", tmp_path)
    assert status == 0 and "members.membership.csv" in out
    table = pandas.read_csv(tmp_path / "members.arrival.csv", float_precision="round_trip")
    with h5py.File(simulated["members"]) as file:
        assert set(table.columns) == set(file["arrival"])
        assert np.array_equal(table["sent"], file["arrival/sent"][:])
    assert list(pandas.read_csv(tmp_path / "members.round.csv")["round"]) == list(range(1, 21))


def test_perfetto_events_are_well_formed_and_do_not_overlap(simulated, analyse, tmp_path):
    analyse("export", simulated["members"], "--to", "perfetto", "--out", tmp_path)
    found = json.loads((tmp_path / "members.perfetto.json").read_text())["traceEvents"]
    assert {event["ph"] for event in found} == {"M", "X", "C", "i"}
    assert [e["name"] for e in found if e["ph"] == "i"] == ["left", "joined"]
    spans = [event for event in found if event["ph"] == "X"]
    assert {"computing", "waiting", "cancelled"} <= {event["name"] for event in spans}
    for thread in range(5):
        mine = sorted((e for e in spans if e["tid"] == thread), key=lambda e: e["ts"])
        for one, other in zip(mine, mine[1:]):
            assert one["ts"] + one["dur"] <= other["ts"] + 0.01  # microseconds, rounded


def test_a_tracker_that_is_not_installed_is_told_in_one_line(
    simulated, analyse, tmp_path, monkeypatch
):
    for name in ("tensorboard", "mlflow"):
        monkeypatch.setitem(sys.modules, name, None)
        status, out, error = analyse(
            "export", simulated["members"], "--to", name, "--out", tmp_path
        )
        assert (status, out, error.count("\n")) == (2, "", 1)
        assert f"--to {name} needs the Python package {name} (" in error
        assert error.endswith(f": pip install {name}\n")
    assert not list(tmp_path.iterdir())


def test_tensorboard_gets_each_column_by_round(simulated, analyse, tmp_path, monkeypatch):
    written = []

    class Writer:  # as that of tensorboard.summary
        def __init__(self, output):
            self.output = output

        def add_scalar(self, tag, data, step, *, wall_time=None, description=None):
            written.append((tag, data, step, wall_time))

        def close(self):
            (tmp_path / "members").mkdir()
            (tmp_path / "members" / "events.out.tfevents.1").write_text(self.output)

    monkeypatch.setitem(sys.modules, "tensorboard", types.ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "tensorboard.summary", SimpleNamespace(Writer=Writer))
    words = ("export", simulated["members"], "--to", "tensorboard", "--out", tmp_path)
    assert analyse(*words) == (0, f"{tmp_path}/members\n", "")
    trace = read_trace(simulated["members"])
    used = [row[1:] for row in written if row[0] == "round/used"]
    assert [value for value, _, _ in used] == list(trace.round["used"])
    assert [step for _, step, _ in used] == list(range(1, 21))
    times = np.array([when for _, _, when in used])
    assert np.allclose(np.diff(times), trace.durations[1:], atol=1e-5)
    scored = [row[1:3] for row in written if row[0] == "evaluation/train_loss"]
    assert scored == list(zip(trace.evaluation["train_loss"], trace.evaluation["round"]))
    assert all(np.isfinite(value) for _, value, _, _ in written)
    status, _, error = analyse(*words)  # which would add to it
    assert status == 2 and "members is there: remove it, or give another --out" in error


def test_mlflow_gets_options_metrics_and_the_trace(simulated, analyse, tmp_path, monkeypatch):
    calls = []

    class MlflowClient:  # the calls that MLflow's client documents
        def __init__(self, tracking_uri):
            calls.append(("uri", tracking_uri))

        def get_experiment_by_name(self, name):
            return None

        def create_experiment(self, name):
            return "7"

        def create_run(self, experiment_id, start_time=None, tags=None, run_name=None):
            calls.append(("run", experiment_id, start_time, tags, run_name))
            return SimpleNamespace(info=SimpleNamespace(run_id="r"))

        def log_batch(self, run_id, metrics=(), params=(), tags=()):
            assert run_id == "r" and len(metrics) <= 1000 and len(params) <= 100
            calls.append(("batch", list(metrics), list(params)))

        def log_artifact(self, run_id, local_path):
            calls.append(("artifact", local_path))

        def set_terminated(self, run_id, status=None, end_time=None):
            calls.append(("end", status, end_time))

    def entity(*values):
        return values

    stand_in = SimpleNamespace(
        MlflowClient=MlflowClient,
        entities=SimpleNamespace(Metric=entity, Param=entity),
        exceptions=SimpleNamespace(MlflowException=RuntimeError),
    )
    monkeypatch.setitem(sys.modules, "mlflow", stand_in)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    words = ("export", simulated["members"], "--to", "mlflow", "--out", tmp_path)
    assert analyse(*words) == (0, f"{tmp_path}/mlruns\n", "")
    assert calls[0] == ("uri", (tmp_path / "mlruns").as_uri())
    _, experiment, start, tags, name = calls[1]
    assert (experiment, name) == ("7", "members") and "simulate" in tags["command_line"]
    batches = [call for call in calls if call[0] == "batch"]
    parameters = dict(sum((params for _, _, params in batches), []))
    assert parameters["scheme"] == "frc" and parameters["delay"] == "exponential:0.01"
    metrics = sum((metrics for _, metrics, _ in batches), [])
    trace = read_trace(simulated["members"])
    used = [metric for metric in metrics if metric[0] == "round/used"]
    assert [value for _, value, _, _ in used] == list(trace.round["used"])
    assert [step for _, _, _, step in used] == list(range(1, 21))
    assert used[-1][2] == start + round(1000 * trace.time)
    assert ("artifact", str(simulated["members"])) in calls
    assert calls[-1] == ("end", "FINISHED", start + round(1000 * trace.time))

    def refuse(*_):
        raise RuntimeError("no\nfolders")

    monkeypatch.setattr(MlflowClient, "create_run", refuse)
    status, _, error = analyse(*words)
    assert status == 2 and error.endswith("mlruns: no folders\n") and error.count("\n") == 1


def opened(path, group):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    return xarray.open_dataset(path, group=group, engine="h5netcdf")


def test_a_trace_opens_in_xarray_and_pandas_without_help(simulated):
    path = simulated["members"]
    trace = read_trace(path)
    with opened(path, "round") as table:
        assert dict(table.sizes) == {"time": 20} and table.time.attrs["units"] == "s"
        assert np.array_equal(table.decode_error, trace.round["decode_error"])
        assert table.to_dataframe()["used"].sum() == trace.round["used"].sum()
    with opened(path, "iterate") as table:
        assert dict(table.sizes) == {"round": 20, "parameter": 6} and "parameter" not in table
        last = table.model[-1].values
    with opened(path, "model") as table:
        assert table.final.dims == ("parameter",) and np.array_equal(table.final, last)
    for name in ("arrival", "evaluation", "item", "measure", "membership", "timer", "worker"):
        opened(path, name).close()
    with opened(path, None) as root:
        assert root.attrs["scheme"] == "frc"
    with h5py.File(path) as file:
        table = pandas.DataFrame({name: column[:] for name, column in file["round"].items()})
    assert len(table) == 20


def test_every_time_of_a_trace_has_its_unit(simulated):
    with h5py.File(simulated["members"]) as file:
        seconds = "time wait sent arrived compute delay idle send".split()
        for table in ("round", "arrival", "evaluation", "membership"):
            for name, column in file[table].items():
                unit = attributes_of(column).get("units", "")
                assert (unit == "s") == (name in seconds), (table, name)
                assert column.dims[0].keys() or h5py.h5ds.is_scale(column.id), (table, name)


def test_a_killed_run_opens_as_far_as_its_columns_go(runs, tmp_path):
    path = edited(runs["frc"], tmp_path, lambda file: file["round/wait"].resize((3,)))
    assert read_trace(path).rounds == 3
    with opened(path, "round") as table:
        assert len(table.time) == 5


def test_the_view_of_a_running_job(simulated, runs, analyse, tmp_path):
    def cut(file):
        file.attrs["status"] = "running"
        file.attrs["rounds"] = 60

    trace = read_trace(edited(simulated["uncoded-1"], tmp_path, cut))
    lines = panel.lines(trace, 100, 2.0)
    assert "running" in lines[0]
    assert "round 30 of 60" in lines[1] and "left" in lines[1]
    assert any(line.startswith("loss") for line in lines)
    assert all(len(line) <= 100 for line in lines)
    assert "may be dead" in panel.lines(trace, 100, 100.0)[-1]
    status, out, _ = analyse("watch", simulated["members"], "--panel")  # ends, as the run has
    assert status == 0 and "1 left" in out and "1 joined" in out
    assert analyse("watch", runs["data"], "--once")[0] == 2


def test_sparks_and_durations():
    assert panel.spark(np.array([0, 1, 2, 3]), 4, "0123") == "0123"
    assert panel.spark(np.full(10, 2.0), 3, "01") == "000"
    assert panel.spark(np.array([np.nan]), 3, "01") == ""
    assert panel.duration(5.04) == "5.0 s"
    assert panel.duration(125) == "2 min 05 s" and panel.duration(7265) == "2 h 01 min"
    assert panel.bar(0.5, 4) == "[##--]"
