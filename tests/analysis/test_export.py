# SPDX-License-Identifier: BSD-2-Clause
"""export and the panel of watch: other programs read it, and so do people."""

import json

import h5py
import numpy as np
import pandas
import pytest
from conftest import edited
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
                unit = column.attrs.get("units", "")
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
