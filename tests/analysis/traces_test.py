# SPDX-License-Identifier: BSD-2-Clause
"""Reading traces, against traces read by hand; what is damaged is refused in one line."""

import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
from program import QUORATE, attributes_of, call, whole
from traces import column, edited, simulate
from quorate.analysis import compare, report
from quorate.analysis.curves import curve
from quorate.analysis.groups import group, labels, lost, same_data
from quorate.analysis.journal import Committed
from quorate.analysis.traces import BadInput, read_trace


def test_a_trace_is_read_as_it_stands_in_the_file(runs):
    trace = read_trace(runs["uncoded"])
    assert (trace.scheme, trace.rounds, trace.evaluated) == ("uncoded", 6, True)
    assert (trace.workers, trace.seed, trace.config["delay"]) == (4, 1, "exponential:0.01")
    assert list(trace.evaluation["round"]) == [2, 4, 6]
    assert trace.time == column(runs["uncoded"], "round/time")[-1]
    assert len(trace.arrivals("worker", "round")["worker"]) == 6 * 4


def test_rounds_that_were_lost_are_read_if_they_are_asked_for(runs, tmp_path):
    def edit(file):
        for loss, first in enumerate([3, 5]):
            group = file.create_group(f"lost/{loss}")
            group.attrs["first_round"] = first
            table = group.create_group("round")
            for name, values in file["round"].items():
                table[name] = values[: loss + 1]

    plain, trace = read_trace(runs["uncoded"]), read_trace(edited(runs["uncoded"], tmp_path, edit))
    assert trace.round.equals(plain.round) and len(plain.lost_rounds) == 0
    lost = trace.lost_rounds
    assert list(lost["number"]) == [3, 5, 6] and list(lost["loss"]) == [0, 1, 1]
    assert list(lost["time"]) == [plain.round["time"][i] for i in (0, 0, 1)]
    assert set(plain.lost_rounds) == set(lost) == {*plain.round, "number", "loss"}


def test_no_text_of_a_trace_is_obeyed_by_a_terminal(runs, tmp_path, analyse):
    def edit(file):
        file.attrs["scheme"] = "un\x1b[2Jcoded\x9b0m"

    path = edited(runs["uncoded"], tmp_path, edit)
    for command in (["compare", "--out", tmp_path], ["workers"], ["rounds"]):
        status, said, errors = analyse(*command, path)
        assert status == 0, errors
        assert "un?[2Jcoded?0m" in said or "coded" not in said
        assert "\x1b" not in said + errors
    done = call("inspect", path)
    assert done.returncode == 0 and "un?[2Jcoded" in done.stdout and "\x1b" not in done.stdout


def test_a_curve_is_a_column_of_the_evaluation_at_the_times_of_its_rounds(runs):
    trace = read_trace(runs["uncoded"])
    rounds, times, values = curve(trace, "auc")
    assert list(rounds) == [2, 4, 6]
    assert np.all(times >= trace.round["time"][rounds - 1])
    assert np.all(times[:-1] < trace.round["time"][rounds[:-1]])  # before the next round's end
    assert list(values) == list(column(runs["uncoded"], "evaluation/auc"))


def test_a_trace_without_evaluation_gives_estimates_of_the_loss_and_no_auc(runs):
    trace = read_trace(runs["bare"])
    assert not trace.evaluated
    rounds, times, values = curve(trace, "train_loss")
    assert list(rounds) == [0, 1, 2, 3, 4, 5]  # an estimate is of the point before its update
    assert list(times) == [0, *trace.round["time"][:-1]]
    assert list(values) == list(column(runs["bare"], "round/loss_estimate"))
    assert len(curve(trace, "auc")[0]) == 0
    assert trace.final_loss == values[-1] and np.isnan(trace.final("auc"))


def test_columns_that_a_killed_run_left_uneven_are_cut_to_the_shortest(runs, tmp_path):
    path = edited(runs["frc"], tmp_path, lambda file: file["round/time"].resize((3,)))
    trace = read_trace(path)
    assert trace.rounds == 3
    assert len(trace.round["loss_estimate"]) == 3
    assert list(trace.evaluation["round"]) == [1, 2, 3]


def test_what_a_killed_run_had_in_its_journal_is_read(runs, tmp_path):
    whole = runs["frc"].read_bytes()
    page, torn = 4096, tmp_path / "torn.h5"
    numbers = [2, 3, len(whole) // page]
    pages = [(n, whole[n * page : (n + 1) * page].ljust(page, b"\0")) for n in numbers]
    content = bytearray(whole)
    for number, _ in pages:
        content[number * page : (number + 1) * page] = b"\0" * page
    torn.write_bytes(content[: len(whole)])
    os.truncate(torn, 1 << 38)  # more than the memory holds
    with pytest.raises(BadInput):
        read_trace(torn)
    length = torn.stat().st_size.to_bytes(8, sys.byteorder)
    content = b"".join(number.to_bytes(8, sys.byteorder) + page for number, page in pages)
    journal = 2 * length + content
    (tmp_path / "torn.h5.journal").write_bytes(journal)
    expected, got = read_trace(runs["frc"]), read_trace(torn)
    shutil.copy(runs["uncoded"], tmp_path / "other.h5")
    (tmp_path / "other.h5.journal").write_bytes(b"\0" * 8 + journal[8:])
    assert read_trace(tmp_path / "other.h5").scheme == "uncoded"
    assert np.array_equal(expected.round["time"], got.round["time"])
    assert np.array_equal(expected.arrivals("worker")["worker"], got.arrivals("worker")["worker"])
    (tmp_path / "torn.h5.journal").write_bytes(journal[:-1])
    with pytest.raises(BadInput, match="is cut off"):
        read_trace(torn)


def test_pages_of_a_journal_lie_over_those_of_the_file(tmp_path):
    page, draw = 4096, np.random.default_rng(3)
    path, journal = tmp_path / "a", tmp_path / "a.journal"
    whole = bytearray(draw.bytes(5 * page + 100))
    path.write_bytes(whole)
    size = len(whole).to_bytes(8, sys.byteorder)
    kept = {number: draw.bytes(page) for number in (1, 2, 4, 6)}
    content = b"".join(n.to_bytes(8, sys.byteorder) + one for n, one in kept.items())
    journal.write_bytes(size + size + content)
    whole += b"\0" * (7 * page - len(whole))
    for number, one in kept.items():
        whole[number * page : (number + 1) * page] = one
    file = Committed(path, journal)
    assert file.seek(0, os.SEEK_END) == len(whole)
    for _ in range(100):
        begin, end = sorted(draw.integers(0, len(whole) + 50, 2))
        file.seek(int(begin))
        assert file.read(int(end - begin)) == whole[begin:end]


@pytest.mark.parametrize(
    "command, written", [("export", "m�rz.round.csv"), *whole(("report", "index.html"))]
)
def test_text_that_is_no_utf_8_is_shown_and_its_files_are_found(
    command, written, runs, tmp_path, analyse
):
    def rename(file):
        config = attributes_of(file)["config"].replace("delay = ", "log = m\udce4rz.log\ndelay = ")
        content = config.encode("utf-8", "surrogateescape")
        file.attrs.create("config", content, dtype=h5py.string_dtype())

    name = os.fsdecode(b"m\xe4rz")
    path = edited(runs["frc"], tmp_path, rename, name)
    trace = read_trace(path)
    shown = "m\N{REPLACEMENT CHARACTER}rz"
    assert trace.name == f"{shown}.h5" and trace.config["log"] == f"{shown}.log"
    for words in ["compare", path], [command, path, "--out", tmp_path]:
        status, out, told = analyse(*words)
        assert status == 0, told


def test_seeds_are_one_configuration_and_other_options_are_not(simulated):
    names = ["uncoded-1", "frc-2", "uncoded-3", "frc-1", "members", "uncoded-2"]
    groups = group([read_trace(simulated[name]) for name in names])
    assert [g.label for g in groups] == ["uncoded", "frc (rounds 30)", "frc (rounds 20)"] or [
        g.first.scheme for g in groups
    ] == ["uncoded", "frc", "frc"]
    assert [g.seeds for g in groups] == [[1, 2, 3], [1, 2], [0]]
    assert group([groups[1].first, groups[0].first], "frc")[0].first.scheme == "frc"
    with pytest.raises(BadInput, match="--base: there is no 'agc'"):
        group([groups[0].first], "agc")


def test_labels_name_options_that_differ_else_the_file_else_the_path(runs, simulated, tmp_path):
    shutil.copy(runs["uncoded"], tmp_path / "uncoded.h5")
    shutil.copy(runs["uncoded"], tmp_path / "other.h5")
    uncoded, frc, bare = (read_trace(runs[name]) for name in ("uncoded", "frc", "bare"))
    virtual = read_trace(simulated["uncoded-1"])
    assert labels([uncoded, frc]) == ["uncoded", "frc"]
    assert labels([uncoded, bare]) == [
        "uncoded (delay exponential:0.01)",
        "uncoded (delay none)",
    ]
    shutil.copy(runs["uncoded"], tmp_path / "twin.h5")
    with h5py.File(tmp_path / "twin.h5", "r+") as file:
        file.attrs["clock"] = "virtual"
    twin = read_trace(tmp_path / "twin.h5")
    assert labels([uncoded, twin]) == ["uncoded (wall)", "uncoded (virtual)"]
    assert labels([uncoded, virtual]) == [
        "uncoded (wall, row-time 0)",
        "uncoded (virtual, row-time 1e-05)",
    ]
    other, again = read_trace(tmp_path / "other.h5"), read_trace(tmp_path / "uncoded.h5")
    assert labels([uncoded, other]) == ["uncoded (uncoded)", "uncoded (other)"]
    assert labels([uncoded, again]) == [f"uncoded ({uncoded.path})", f"uncoded ({again.path})"]


def test_traces_of_different_data_are_refused(runs, tmp_path):
    def other(file):
        file.attrs["rows"] = 300

    changed = read_trace(edited(runs["frc"], tmp_path, other))
    with pytest.raises(BadInput, match="data set data .300 x 6.*--any-data") as refused:
        same_data([read_trace(runs["frc"]), changed])
    assert "\n" not in str(refused.value)


def on_other_data(file):
    file.attrs["data_sha256"] = "0" * 64


def test_a_data_set_of_the_same_name_and_size_is_another_one(simulated, tmp_path, analyse):
    one, two = (read_trace(simulated[f"uncoded-{seed}"]) for seed in (1, 2))
    other = read_trace(edited(two.path, tmp_path, on_other_data))
    same_data([one, two])
    with pytest.raises(BadInput, match="of two data sets data .200 x 6.* whose contents differ"):
        same_data([one, two, other])
    assert [len(found.traces) for found in group([one, two, other])] == [2, 1]
    for command in ["compare", "report", "sweep", "rounds"]:
        words = [one.path, other.path, "--out", tmp_path]
        if command == "sweep":
            words += ["--over", "seed"]
        status, _, errors = analyse(command, *words)
        assert status == 2 and "whose contents differ: give --any-data" in errors


def test_speed_ups_are_not_over_runs_on_other_data(simulated, tmp_path):
    base = read_trace(edited(simulated["uncoded-1"], tmp_path, on_other_data))
    assert group([base, read_trace(simulated["frc-1"])])[1].base is None


@pytest.mark.parametrize("locking", [True, False, "best-effort", None])
def test_a_file_that_another_reader_has_open_is_read(runs, tmp_path, locking):
    path = shutil.copy(runs["uncoded"], tmp_path)
    with h5py.File(path, "r", locking=locking):
        assert read_trace(path).rounds == 6
        assert len(read_trace(path).arrivals("worker")) == 6 * 4


def test_warm_up_is_the_first_rounds_that_are_slower_than_nearly_all_later_ones(
    simulated, tmp_path
):
    def slow(file):
        file.attrs["clock"] = "wall"
        times = file["round/time"][:]
        file["round/time"][:] = times + np.concatenate([[5.0], np.full(len(times) - 1, 9.0)])

    plain = read_trace(simulated["uncoded-1"])
    assert plain.warmup == 0
    assert read_trace(edited(plain.path, tmp_path, slow)).warmup == 2


def test_an_interrupted_run_is_read_and_named_so(runs, tmp_path):
    def stop(file):
        file.attrs["status"] = "interrupted"

    trace = read_trace(edited(runs["frc"], tmp_path, stop))
    assert group([trace])[0].name == "frc (interrupted)"


def test_runs_that_lost_workers_are_named_so_and_those_whose_workers_left_are_not(
    runs, simulated, tmp_path
):
    common = ("--data", runs["data"], "--workers", 5, "--scheme", "cyclic", "--rounds", 12)
    common += ("--stragglers", 2, "--row-time", 1e-4, "--timeout", 0.03, "--events")

    def made(name, events):
        return read_trace(simulate(tmp_path, name, *common, events))

    one, two = made("one", "3r kill 2"), made("two", "3r kill 1,2; 6r leave 3")
    assert (one.lost, two.lost, read_trace(simulated["members"]).lost) == (1, 2, 0)
    assert group([one])[0].name == "cyclic (lost 1 worker)"
    assert group([two])[0].name == "cyclic (lost 2 workers)"
    assert group([read_trace(simulated["members"])])[0].troubles == []
    assert lost([one, two]) == ["lost 1 to 2 workers"]
    assert lost([one, one]) == ["lost 1 worker"]
    whole = read_trace(simulated["frc-1"])
    assert lost([one, whole, two]) == ["lost 1 to 2 workers in 2 of 3 runs"]
    assert list(compare.table(group([two]))["scheme"]) == ["cyclic (lost 2 workers)"]
    # Noticed after --timeout, two rounds and a half later.
    assert "two.h5: lost 2 of 5 workers, the first in round 6" in compare.warnings(group([two]))
    assert list(report.runs([one, whole])["workers"]) == ["5, 1 lost", "4"]


def test_a_trace_that_is_being_written_is_read(runs, tmp_path):
    """Over and over, while the run goes on."""
    shutil.copy(runs["data"], tmp_path / "data.h5")
    path = tmp_path / "live.h5"
    words = ["simulate", "--data", tmp_path / "data.h5", "--workers", 4, "--rounds", 1000]
    words += ["--evaluate-every", 0, "--quiet", "--trace", path]
    running = subprocess.Popen([QUORATE, *map(str, words)])
    seen = []
    while running.poll() is None:
        if path.is_file():
            try:
                seen.append(read_trace(path).rounds)
            except BadInput as error:
                assert "if it is being written, try again" in str(error) or "HDF5" in str(error)
    assert running.returncode == 0
    assert seen == sorted(seen)
    assert read_trace(path).rounds == 1000


def missing_table(file):
    del file["evaluation"]


def empty_table(file):
    del file["round"]
    file.create_group("round")


def other_version(file):
    file.attrs["format_version"] = 99


def no_scheme(file):
    del file.attrs["scheme"]


@pytest.mark.parametrize(
    "edit, message",
    [
        (missing_table, "cannot be read as a trace"),
        (empty_table, "cannot be read as a trace"),
        (other_version, "has trace format 99, this reads 7: use the analysis of"),
        (no_scheme, "no attribute scheme"),
    ],
)
def test_a_damaged_trace_is_refused(runs, tmp_path, edit, message):
    path = edited(runs["frc"], tmp_path, edit)
    with pytest.raises(BadInput, match=message) as refused:
        read_trace(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_a_truncated_trace_is_refused(runs, tmp_path, share):
    whole = runs["frc"].read_bytes()
    path = tmp_path / "cut.h5"
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(BadInput, match="cannot be read as a trace"):
        read_trace(path)


def test_columns_of_arrivals_that_cannot_be_read_are_refused(runs, tmp_path):
    def damage(file):
        del file["arrival/sent"]

    trace = read_trace(edited(runs["frc"], tmp_path, damage))
    with pytest.raises(BadInput, match="cannot be read as a trace"):
        trace.arrivals("sent")


def test_the_folder_of_a_run_stands_for_its_trace(runs, tmp_path, analyse):
    for number in (1, 2):
        folder = tmp_path / f"{number:04}"
        folder.mkdir()
        shutil.copy(runs["uncoded" if number == 1 else "frc"], folder / "trace.h5")
    assert read_trace(tmp_path / "0001").path == tmp_path / "0001" / "trace.h5"
    status, out, _ = analyse("compare", *sorted(tmp_path.iterdir()))
    assert status == 0 and "uncoded" in out and "frc" in out
