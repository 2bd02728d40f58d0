# SPDX-License-Identifier: BSD-2-Clause
"""compare: curves, bands, the table, targets, speed-up."""

import h5py
import numpy as np
import pytest
from program import attributes_of, whole
from traces import column, edited, simulate
from quorate.analysis import compare, delay_model, histogram, look, quantities
from quorate.analysis.curves import band, reached, usual_targets
from quorate.analysis.figures import styles
from quorate.analysis.groups import caption, group, read_all
from quorate.analysis.speedup import speedup
from quorate.analysis.traces import BadInput, read_trace


def groups_of(paths, *names):
    return group([read_trace(paths[name]) for name in names])


def test_a_png_a_pdf_and_a_csv_are_made(runs, script, tmp_path):
    words = ("--panel", "--name", "figure", "--out", tmp_path / "new", "--quiet")
    done = script("compare", runs["uncoded"], runs["frc"], *words)
    assert (done.returncode, done.stderr) == (0, "")
    png, pdf = tmp_path / "new/figure.png", tmp_path / "new/figure.pdf"
    assert done.stdout.split() == [str(png), str(pdf)]
    assert png.read_bytes().startswith(b"\x89PNG") and pdf.read_bytes().startswith(b"%PDF")
    assert "uncoded,1,auc,time," in (tmp_path / "new/figure.csv").read_text()


def test_each_panel_has_a_line_for_each_configuration_with_its_numbers(runs):
    groups = groups_of(runs, "uncoded", "frc")
    figure = compare.panel(groups).figure
    loss_time, loss_round, auc_time, auc_round = figure.axes
    assert loss_time.get_ylabel() == "training loss" and auc_time.get_ylabel() == "test AUC"
    assert auc_time.get_xlabel() == "wall time (s)" and auc_round.get_xlabel() == "round"
    for axis in figure.axes:
        named = [line for line in axis.get_lines() if not line.get_label().startswith("_")]
        assert [line.get_label() for line in named] == ["uncoded", "frc"]
    drawn = auc_time.get_lines()[0]
    assert list(drawn.get_xdata()) == list(groups[0].first.evaluation["time"])
    assert list(drawn.get_ydata()) == list(groups[0].first.evaluation["auc"])
    assert list(loss_round.get_lines()[0].get_xdata()) == [2, 4, 6]


def test_a_name_that_begins_a_formula_is_a_name(runs, tmp_path):
    path = edited(runs["frc"], tmp_path, lambda file: file.attrs.update({"scheme": r"$\frac{x$"}))
    figure = compare.panel(group(read_all([path, runs["uncoded"]]))).figure
    figure.savefig(tmp_path / "figure.png")
    assert any(r"$\frac{x$" in text.get_text() for text in figure.legends[0].get_texts())


def test_axes_are_chosen_by_name(runs, simulated, analyse, tmp_path):
    words = ("--axes", "loss:samples,test-loss:round", "--out", tmp_path)
    status, out, _ = analyse("compare", runs["frc"], *words)
    assert status == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert {"train-loss-samples.png", "test-loss-round.pdf"} <= names
    samples = groups_of(runs, "frc")
    drawn = compare.panel(samples, [("train_loss", "samples")]).figure.axes[0].get_lines()[0]
    assert list(drawn.get_xdata()) == list(np.cumsum(column(runs["frc"], "round/samples")))
    for bad, known in [
        ("loss:weeks", "time, round, samples, histogram"),
        ("beauty:time", "worker-batch"),
        ("loss:histogram", "one of loss, batch"),
    ]:
        status, _, error = analyse("compare", runs["frc"], "--axes", bad, "--out", tmp_path)
        assert status == 2 and error.count("\n") == 1 and known in error, error


def test_quantities_of_rounds_and_contributions_are_drawn_from_their_tables(simulated):
    (amb,) = groups_of(simulated, "amb")
    trace = amb.first
    axes = compare.axes_of("batch:round,step:time,sample-rate:samples,compute:round,send:time")
    drawn = [axis.get_lines()[0] for axis in compare.panel([amb], axes).figure.axes if axis.lines]
    sums = trace.round["samples"].to_numpy()
    assert list(drawn[0].get_xdata()) == list(range(1, 41)) and list(drawn[0].get_ydata()) == list(
        sums
    )
    assert list(drawn[1].get_xdata()) == list(trace.round["time"])
    assert list(drawn[1].get_ydata()) == list(trace.round["step_size"])
    assert list(drawn[2].get_xdata()) == list(np.cumsum(sums))
    assert np.allclose(drawn[2].get_ydata(), sums / trace.durations)
    found = trace.arrivals("round", "compute")
    means = found.groupby("round")["compute"].mean()
    assert np.allclose(drawn[3].get_ydata(), means) and list(drawn[3].get_xdata()) == list(
        means.index
    )
    # Of a worker's first contribution nobody has told how long it took to leave.
    assert drawn[4].get_xdata()[0] > trace.round["time"][0]


def test_a_rate_over_a_block_of_rounds_is_samples_over_its_time(simulated, monkeypatch):
    trace = read_trace(simulated["amb"])
    monkeypatch.setattr(quantities, "POINTS", 4)
    ends, rates = quantities.line(trace, "sample_rate")
    sums = trace.round["samples"].to_numpy().reshape(4, 10).sum(1)
    assert list(ends) == [10, 20, 30, 40]
    assert np.allclose(rates, sums / np.diff(trace.edges[[0, *ends]]))


def test_histograms_are_shares_of_contributions_and_rounds(simulated, runs, tmp_path, analyse):
    groups = groups_of(simulated, "uncoded-1", "uncoded-2", "amb")
    plot = compare.panel(groups, compare.axes_of("worker-batch:histogram,round-time:histogram"))
    first, second = [axis for axis in plot.figure.axes if axis.get_visible()]
    assert (first.get_xlabel(), first.get_ylabel()) == (
        "samples of a contribution",
        "share of contributions",
    )
    assert second.get_ylabel() == "share of rounds"
    shares = plot.numbers.groupby(["configuration", "metric"])["mean"].sum()
    assert len(shares) == 4 and np.allclose(shares, 1)
    band = plot.numbers.query("configuration == @groups[0].label and metric == 'round_time'")
    assert (band["seeds"] == 2).all() and (band["least"] <= band["greatest"]).all()
    assert (band["least"] < band["greatest"]).any()
    assert list(histogram.edges(np.array([2.0, 2, 4]))) == [1.5, 2.5, 3.5, 4.5]
    wide = histogram.edges(np.array([1.0, 1.0, 1.0, 1e4]))
    assert histogram.logarithmic(wide) and not histogram.logarithmic(histogram.edges(wide[:9]))

    def unlisted(file):
        file.attrs["trace_arrivals"] = "used"

    path = edited(runs["frc"], tmp_path, unlisted)
    status, _, error = analyse("compare", path, "--axes", "compute:histogram", "--out", tmp_path)
    assert status == 2 and "--trace-arrivals all" in error and error.count("\n") == 1


def test_receive_idle_wait_and_queued_messages_are_told_of_each_contribution(tmp_path):
    network = "--delay exponential:0.01 --bandwidth 1e6 --columns 1000 --rounds 20".split()
    path = simulate(tmp_path, "queue", "--dry", "--scheme", "k-async", "--workers", 6, *network)
    trace = read_trace(path)
    table = quantities.messages(trace)
    left = table["arrived"] - table["send"].fillna(0)
    expected = [
        ((left <= now) & (now < table["arrived"])).sum() for now in table["arrived"].to_numpy()
    ]
    found = quantities.queued(trace)["value"].to_numpy()
    assert list(found) == expected and found.max() > 1 and found.min() == 0
    assert np.allclose(quantities.samples(trace, "wait"), trace.round["wait"])
    assert np.allclose(quantities.samples(trace, "idle"), trace.arrivals("idle")["idle"])
    assert np.allclose(quantities.samples(trace, "receive"), quantities.transfers(trace)["receive"])


def test_time_and_samples_can_be_drawn_upwards(simulated):
    (amb,) = groups_of(simulated, "amb")
    axes = compare.axes_of("time:round,samples:round,round:time,round:samples")
    drawn = [axis.get_lines()[0] for axis in compare.panel([amb], axes).figure.axes if axis.lines]
    trace, rounds = amb.first, list(range(41))
    samples = [0, *np.cumsum(trace.round["samples"])]
    assert [list(line.get_xdata()) for line in drawn[:2]] == [rounds, rounds]
    assert [list(line.get_ydata()) for line in drawn[:2]] == [list(trace.edges), samples]
    assert [list(line.get_xdata()) for line in drawn[2:]] == [list(trace.edges), samples]
    assert [list(line.get_ydata()) for line in drawn[2:]] == [rounds, rounds]


def test_scales_limits_and_smoothing_are_as_asked_for(runs, analyse, tmp_path):
    groups, axes = groups_of(runs, "frc"), [("train_loss", "time")]
    plain = compare.panel(groups, axes).figure.axes[0]
    assert plain.get_xscale() == plain.get_yscale() == "linear"
    asked = look.look_of("y", "x=0.001:,y=0.1:10", 3)
    axis = compare.panel(groups, axes, look=asked).figure.axes[0]
    assert (axis.get_xscale(), axis.get_yscale()) == ("linear", "log")
    assert axis.get_ylim() == (0.1, 10) and axis.get_xlim()[0] == 0.001
    before, after = (one.get_lines()[0].get_ydata() for one in (plain, axis))
    assert (after[0], after[-1]) == (before[0], before[-1])
    assert np.allclose(after[1:-1], (before[:-2] + before[1:-1] + before[2:]) / 3)
    words = ("--axes", "loss:time", "--out", tmp_path)
    assert analyse("compare", runs["frc"], *words, "--log", "xy", "--smooth", "5")[0] == 0
    for bad, said in [
        (("--log", "z"), "--log: 'z' is no scale: say x, y or xy"),
        (("--smooth", "4"), "give an odd number, as 9"),
        (("--smooth", "-1"), "give an odd number, as 9"),
        (("--limits", "y=1"), "write x=LOW:HIGH or y=LOW:HIGH"),
        (("--limits", "z=1:2"), "write x=LOW:HIGH or y=LOW:HIGH"),
        (("--limits", "y=:"), "write x=LOW:HIGH or y=LOW:HIGH"),
        (("--limits", "y=nan:1"), "write x=LOW:HIGH or y=LOW:HIGH"),
        (("--limits", "y=2:1"), "give the lower end first"),
        (("--log", "y", "--limits", "y=0:1"), "give ends above 0"),
    ]:
        status, _, error = analyse("compare", runs["frc"], *words, *bad)
        assert status == 2 and error.count("\n") == 1 and said in error, error
    status, _, error = analyse("compare", runs["frc"], "--log", "x")
    assert status == 2 and "give --out DIR" in error


MODELS = (
    "exponential:0.5",
    "shifted-exponential:1,0.5",
    "pareto:0.5,3",
    "lognormal:1,0.5",
    "gamma:1,0.3",
    "gilbert-elliott:0.4,0.6,2",
    "mixture:0/0.5/1",
    "mixture:1/0.2/0.5,3/0.5/0.5",
    "niagara",
    "cedar",
    "erasurehead",
    "constant:0.25",
    "none",
)


def test_delays_are_drawn_from_the_model_that_the_figure_shows(tmp_path):
    draws = 20 * 500
    words = "--dry --scheme uncoded --workers 20 --rounds 500 --seed 1".split()
    for number, model in enumerate(MODELS):
        path = simulate(tmp_path, str(number), *words, "--delay", model)
        delays = quantities.samples(read_trace(path), "delay")
        bins = histogram.edges(delays)
        expected = delay_model.shares(model, bins)
        drawn = np.histogram(delays, bins)[0] / draws
        error = np.sqrt(expected * (1 - expected) / draws)
        assert np.all(np.abs(drawn - expected) < 5 * error + 1e-3), model
        assert expected.sum() > 0.99, model
    for model in ("trace:times.csv", "fixed:1,0", "uneven:0.1,0.4,0.1,0.5,2,3"):
        assert delay_model.shares(model, np.array([0.0, 1.0])) is None


def test_the_model_is_drawn_over_the_histogram_of_its_delays(simulated):
    (group,) = groups_of(simulated, "uncoded-1")
    plot = compare.panel([group], compare.axes_of("delay:histogram"))
    model = plot.numbers[plot.numbers["configuration"].str.startswith("model ")]
    assert set(model["configuration"]) == {"model " + group.first.attributes["delay"]}
    assert abs(model["mean"].sum() - 1) < 0.05
    legend = [text.get_text() for text in plot.figure.legends[0].get_texts()]
    assert any(text.startswith("model: exponential") for text in legend), legend


def test_a_mark_is_a_line_along_time(runs, analyse, tmp_path):
    groups = groups_of(runs, "uncoded")
    axes = [("train_loss", "time"), ("train_loss", "round")]
    along_time, along_rounds = compare.panel(groups, axes, marks=[(2.5, "another")]).figure.axes
    assert list(along_time.get_lines()[-1].get_xdata()) == [2.5, 2.5]
    assert along_time.get_xlim()[1] > 2.5
    assert [text.get_text() for text in along_time.texts] == ["another"]
    assert not along_rounds.texts
    for bad in ("soon=another", "-1=another", "2.5", "nan=another"):
        status, _, error = analyse("compare", runs["frc"], f"--mark={bad}", "--out", tmp_path)
        assert status == 2 and error.count("\n") == 1 and "SECONDS=TEXT" in error


def test_a_band_is_mean_least_and_greatest_of_the_seeds(simulated):
    (one,) = groups_of(simulated, "uncoded-1", "uncoded-2", "uncoded-3")
    times = np.stack([trace.round["time"] for trace in one.traces])
    losses = np.stack([trace.evaluation["train_loss"] for trace in one.traces])
    found = band(one.traces, "train_loss", "round")
    assert np.allclose(found.mean, losses.mean(0)) and np.allclose(found.high, losses.max(0))
    along = band(one.traces, "train_loss", "time")
    assert along.x[0] == times[:, 0].max() and along.x[-1] == times[:, -1].min()
    assert np.all(along.low <= along.mean) and np.all(along.mean <= along.high)


def test_the_gap_is_the_objective_less_the_optimum_beside_the_data(runs, tmp_path):
    trace = read_trace(runs["frc"])
    data = runs["data"]
    path = data.with_suffix(".optima.h5")
    try:
        with h5py.File(path, "w") as file:
            one = file.create_group("0")
            for name in ("model", "l2", "l1", "rows"):
                one.attrs[name] = trace.attributes[name]
            one.attrs["objective"] = 0.01
        gap = band([trace], "gap", "round").mean
        assert np.allclose(gap, trace.evaluation["objective"] - 0.01)
        figure = compare.panel(group([trace])).figure
        assert "log" in [axis.get_yscale() for axis in figure.axes]
    finally:
        path.unlink()


def test_the_table_holds_the_numbers_of_the_traces(runs):
    table = compare.table(groups_of(runs, "uncoded", "frc"))
    first, second = table.values.tolist()
    times = [column(runs[name], "round/time")[-1] for name in ("uncoded", "frc")]
    assert list(table.columns) == [
        "scheme",
        "time (s)",
        "ms per round",
        "speed-up per round",
        "decode error",
        "final loss",
        "AUC",
    ]
    assert first[0] == "uncoded" and first[3] == "1.00"
    assert second == [
        "frc",
        f"{times[1]:.3f}",
        f"{1000 * times[1] / 5:.2f}",
        f"{(times[0] / 6) / (times[1] / 5):.2f}",  # runs of different length compare by round
        "0",
        f"{column(runs['frc'], 'evaluation/train_loss')[-1]:.4f}",
        f"{column(runs['frc'], 'evaluation/auc')[-1]:.4f}",
    ]


def test_estimates_are_marked(runs, analyse):
    status, out, _ = analyse("compare", runs["uncoded"], runs["bare"])
    assert status == 0
    bare, note = out.splitlines()[2:4]
    estimate = column(runs["bare"], "round/loss_estimate")[-1]
    assert bare.split()[-2:] == [f"~{estimate:.4f}", "-"]
    assert note.startswith("~")
    figure = compare.panel(groups_of(runs, "bare")).figure
    assert figure.axes[0].get_lines()[0].get_label() == "uncoded (estimate)"
    assert len(figure.axes) == 2  # and no panel for the AUC, which it has not


def test_speed_up_is_the_geometric_mean_of_pairs_and_its_interval_holds_it(simulated):
    names = [f"{scheme}-{seed}" for scheme in ("uncoded", "frc") for seed in (1, 2, 3)]
    uncoded, frc = groups_of(simulated, *names)
    found = speedup(uncoded, frc)
    pairs = [a.time / b.time for a, b in zip(uncoded.traces, frc.traces)]
    assert found.pairs == pytest.approx(pairs)
    assert found.ratio == pytest.approx(np.exp(np.mean(np.log(pairs))))
    assert found.low == pytest.approx(min(pairs)) and found.high == pytest.approx(max(pairs))
    assert found.low < found.ratio < found.high
    alone = speedup(uncoded, groups_of(simulated, "frc-2")[0])
    assert alone.ratio == pytest.approx(pairs[1]) and np.isnan(alone.low)
    unpaired = speedup(groups_of(simulated, "uncoded-1")[0], groups_of(simulated, "frc-2")[0])
    assert unpaired.pairs == []
    assert unpaired.ratio == pytest.approx(uncoded.first.time / frc.traces[1].time)


def test_a_target_is_reached_at_the_first_model_that_is_as_good(simulated, analyse):
    trace = read_trace(simulated["uncoded-1"])
    losses, times = trace.evaluation["train_loss"], trace.evaluation["time"]
    value = float(losses[10])
    assert reached(trace, "train_loss", value) == (times[10], 11)
    assert np.isnan(reached(trace, "accuracy", 1.5)[0])
    groups = groups_of(simulated, "uncoded-1", "frc-1")
    for target in usual_targets(groups, "train_loss"):
        assert np.isfinite([reached(g.first, "train_loss", target) for g in groups]).all()
    status, out, _ = analyse("compare", trace.path, "--target", f"loss={value}")
    assert status == 0 and f"{times[10]:.2f}" in out
    assert analyse("compare", trace.path, "--target", "loss")[0] == 2


def test_the_caption_says_what_all_traces_share(runs):
    text = caption([read_trace(runs["uncoded"]), read_trace(runs["bare"])])
    assert "data, 200 x 6" in text and "4 workers" in text
    assert "delay" not in text  # one has delays, one has none


def test_many_configurations_have_lines_that_differ():
    seen = {(style["color"], str(style["linestyle"])) for style in styles(28)}
    assert len(seen) == 28


def test_a_diverged_run_is_named_so_and_does_not_spoil_the_scale(simulated, analyse):
    groups = groups_of(simulated, "uncoded-1", "diverged")
    bad = groups[1]
    assert bad.first.diverged and bad.name.endswith("diverged)")
    axis = compare.panel(groups, [("train_loss", "round")]).figure.axes[0]
    good = groups[0].first
    assert axis.get_ylim()[1] < 2 * max(good.first_loss, good.losses.max())
    alone = compare.panel([bad], [("train_loss", "round")]).figure.axes[0]
    assert alone.get_ylim()[1] < 1e6 * bad.first.first_loss
    out = analyse("compare", simulated["diverged"])[1]
    assert "diverged" in out.splitlines()[1] and "diverged.h5: diverged: loss" in out


def test_losses_that_are_no_numbers_are_left_out_and_told(simulated, tmp_path, analyse):
    def spoil(file):
        file["evaluation/train_loss"][5:7] = np.nan

    path = edited(simulated["uncoded-1"], tmp_path, spoil)
    status, out, _ = analyse("compare", path, "--panel", "--out", tmp_path)
    assert status == 0 and "2 losses are not finite, the first at row 6" in out


def test_warm_up_is_marked_and_told(simulated, tmp_path, analyse):
    def slow(file):
        file.attrs["clock"] = "wall"
        file["round/time"][:] = file["round/time"][:] + 5.0

    path = edited(simulated["uncoded-1"], tmp_path, slow)
    assert "the first round is warm-up" in analyse("compare", path)[1]
    axis = compare.panel(group([read_trace(path)])).figure.axes[0]
    assert "warm-up" in [text.get_text() for text in axis.texts]


def test_a_dry_run_has_times_and_no_loss(analyse, tmp_path):
    words = ("--dry", "--workers", 4, "--rounds", 5, "--delay", "constant:2", "--scheme", "ignore")
    trace = simulate(tmp_path, "dry", *words)
    (row,) = compare.table(group([read_trace(trace)])).values.tolist()
    assert row == ["ignore", "10.000", "2000.00", "1.00", "1.33", "-", "-"]
    status, _, error = analyse("compare", trace, "--panel", "--out", tmp_path)
    assert status == 2
    assert error.endswith("holds no finite loss or AUC: nothing to plot\n")
    assert analyse("compare", trace, "--axes", "round:time", "--out", tmp_path)[0] == 0


def test_a_run_without_a_round_is_nothing_to_show(runs, analyse, tmp_path):
    def empty(file):
        for name in ("round", "evaluation"):
            for data in file[name].values():
                data.resize((0,))

    path = edited(runs["frc"], tmp_path, empty)
    status, out, error = analyse("compare", path)
    assert (status, out) == (2, "") and "holds no round yet" in error
    with pytest.raises(BadInput):
        compare.usual_axes(group([read_trace(path)]))


# --- files of others ------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["pdf", *whole(("csv",), ("png",))])
def test_figures_replace_figures_only(suffix, runs, analyse, tmp_path):
    words = ["compare", runs["uncoded"], runs["frc"], "--panel", "--quiet"]
    words += ["--out", tmp_path, "--name", "visits"]
    mine = tmp_path / f"visits.{suffix}"
    mine.write_text("city,device,bought\nBonn,desktop,1\n")
    status, _, err = analyse(*words)
    assert status == 2
    assert err == (
        f"quorate analysis: {mine} is there, and quorate analysis did not write it: "
        "give another name or folder\n"
    )
    assert mine.read_text() == "city,device,bought\nBonn,desktop,1\n"
    mine.unlink()
    assert analyse(*words)[0] == 0
    # Ours are replaced, with other columns too.
    (tmp_path / "visits.csv").write_text("of,an,earlier,version\n")
    assert analyse(*words)[0] == 0
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    "words, name",
    [
        (["export", "--to", "csv"], "agc.round.csv"),
        (["export", "--to", "perfetto"], "agc.perfetto.json"),
        *whole((["report"], "index.html")),
    ],
)
def test_exports_and_reports_replace_their_own_only(words, name, runs, analyse, tmp_path):
    trace = tmp_path / "agc.h5"
    trace.write_bytes(next(iter(runs.values())).read_bytes())
    mine = tmp_path / name
    mine.write_text("my notes\n")
    words = [words[0], trace, *words[1:], "--out", tmp_path]
    assert analyse(*words)[0] == 2
    assert mine.read_text() == "my notes\n"
    mine.unlink()
    assert [analyse(*words)[0] for _ in range(2)] == [0, 0]


def test_what_is_no_trace_is_left_out_with_a_note(runs, analyse, tmp_path):
    (tmp_path / "notes.txt").write_text("not HDF5\n")
    empty = edited(runs["frc"], tmp_path, lambda file: [c.resize((0,)) for c in rounds_of(file)])
    others = [runs["data"], tmp_path / "notes.txt", tmp_path, empty]
    status, out, error = analyse("compare", runs["frc"], *others)
    alone = analyse("compare", runs["frc"])
    assert (status, out) == alone[:2] == (0, alone[1])
    words = ", ".join(str(path) for path in others)
    assert error == f"quorate analysis: left out, no traces with rounds: {words}\n"
    # A name that is not there is a mistake, and nothing else is no trace either.
    for wrong in ([runs["frc"], tmp_path / "none.h5"], others):
        status, out, error = analyse("compare", *wrong)
        assert (status, out) == (2, "") and error.count("\n") == 1


def test_what_is_wrong_is_one_line_even_where_some_files_are_no_traces(runs, analyse, tmp_path):
    (tmp_path / "notes.txt").write_text("not HDF5\n")
    for words, line in [
        (["--axees", "loss"], "compare has no option --axees; did you mean --axes?"),
        (["--axes", "height"], "'height' cannot be drawn: say one of "),
        (["--out", tmp_path / "notes.txt"], f"--out is {tmp_path}/notes.txt, which is a file: "),
        (["--base", "frcc"], "frcc"),
    ]:
        status, out, error = analyse("compare", runs["frc"], tmp_path / "notes.txt", *words)
        assert (status, out) == (2, "") and error.count("\n") == 1, error
        assert line in error


def test_runs_that_differ_in_how_their_command_was_given_only_are_one(runs, analyse, tmp_path):
    def with_config(file):
        config = attributes_of(file)["config"]
        file.attrs["config"] = config + "config = a.ini\noverwrite = on\nseed = 9\n"

    other = edited(runs["frc"], tmp_path, with_config)
    status, out, _ = analyse("compare", runs["frc"], other, runs["uncoded"])
    assert status == 0 and "config" not in out
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["uncoded", "frc"]
    assert len([line for line in out.splitlines() if line.startswith("frc")]) == 1


def test_runs_in_folders_of_their_own_have_the_names_of_these(runs, analyse, tmp_path):
    for name in ("0001", "0002"):
        (tmp_path / name).mkdir()
        edited(runs["frc"], tmp_path / name, lambda file: None, "trace")
        with h5py.File(tmp_path / name / "trace.h5", "r+") as file:
            file.attrs["status"] = "interrupted"
    _, out, _ = analyse("compare", tmp_path / "0001", tmp_path / "0002")
    assert "0001: interrupted after round 5" in out and "0002: interrupted" in out


def rounds_of(file):
    return [file["round"][name] for name in file["round"]]


def has_numbers(axis):
    labels = [tick.label1 for tick in axis.get_major_ticks()]
    return any(label.get_visible() and label.get_text() for label in labels)


def shown(figure):
    """Of each panel that is shown: names of its axes, and whether its ticks have numbers."""
    figure.canvas.draw()
    return [
        (at.get_xlabel(), at.get_ylabel(), has_numbers(at.xaxis), has_numbers(at.yaxis))
        for at in figure.axes
        if at.get_visible()
    ]


def test_panels_without_axes_in_common_have_names_and_numbers_of_their_own(runs):
    groups = groups_of(runs, "uncoded", "frc")
    diagonal = compare.panel(groups, [("train_loss", "time"), ("auc", "round")]).figure
    assert shown(diagonal) == [
        ("wall time (s)", "training loss", True, True),
        ("round", "test AUC", True, True),
    ]
    corner = [("train_loss", "time"), ("train_loss", "round"), ("auc", "round")]
    assert shown(compare.panel(groups, corner).figure) == [
        ("wall time (s)", "training loss", True, True),
        ("round", "training loss", True, True),
        ("round", "test AUC", True, True),
    ]
    whole = [(metric, along) for metric in ("train_loss", "auc") for along in ("time", "round")]
    assert shown(compare.panel(groups, whole).figure) == [
        ("", "training loss", False, True),
        ("", "", False, False),
        ("wall time (s)", "test AUC", True, True),
        ("round", "", True, False),
    ]
    assert shown(compare.panel(groups).figure) == [
        ("", "training loss", False, True),
        ("", "", False, False),
        ("wall time (s)", "test AUC", True, True),
        ("round", "", True, False),
    ]


def test_a_panel_without_numbers_says_so(runs):
    groups = groups_of(runs, "uncoded", "bare")
    # The runs differ in their delay, and one was not scored.
    figure = compare.panel(groups, [("auc", "round")], by="delay").figure
    words = [[text.get_text() for text in axis.texts] for axis in figure.axes]
    assert sorted(words) == [[], ["no numbers"]]
    assert all(named[0] == "round" and named[2] for named in shown(figure))
    titles = {axis.get_title("left") for axis in figure.axes}
    assert titles == {"delay exponential, mean 0.01\N{NO-BREAK SPACE}s", "delay none"}
