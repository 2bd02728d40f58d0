# SPDX-License-Identifier: BSD-2-Clause
"""tune: the best value for each scheme, where the answer is known by construction."""

import numpy as np
import pytest
from program import attributes_of
from traces import edited, simulate
from quorate.analysis.traces import BadInput, read_trace
from quorate.analysis.tuning import Tuning

STEPS = (0.1, 0.2, 0.4)
# By scheme and step: when each of two seeds has a training loss of 0.5; 0: never.
WHEN = {
    "uncoded": {0.1: (9, 9), 0.2: (3, 3), 0.4: (2, 0)},
    "frc": {0.1: (6, 8), 0.2: (9, 9), 0.4: (9, 9)},
}


def made(folder, like, scheme, step, seed, losses, **more):
    """A copy of a trace that claims this, with these losses at the ends of its rounds."""

    def edit(file):
        config = str(attributes_of(file)["config"]).split("\n")
        wanted = {"scheme": scheme, "step": step, "seed": seed, **more}
        kept = [line for line in config if line.partition(" = ")[0] not in wanted]
        lines = [*kept, *(f"{name} = {value}" for name, value in wanted.items())]
        file.attrs["config"] = "\n".join(lines)
        file.attrs["scheme"], file.attrs["seed"] = scheme, seed
        time = file["evaluation/time"]
        assert len(time) == len(losses)
        time[:] = np.arange(1, len(losses) + 1)
        file["evaluation/train_loss"][:] = losses

    name = f"{scheme}-{step}-{seed}" + "".join(map(str, more.values()))
    return edited(like, folder, edit, name)


@pytest.fixture(scope="module")
def like(runs, tmp_path_factory):
    """A run of ten rounds that is scored at first and after each of them."""
    words = ("--data", runs["data"], "--workers", 4, "--step", 0.3, "--rounds", 10)
    return simulate(tmp_path_factory.mktemp("like"), "like", *words, "--evaluate-every", 1)


def falls(at, to=0.5):
    """Losses of 0.6 until some time and then `to`; at 0: never."""
    return [to if at and i >= at else 0.6 for i in range(1, 11)]


@pytest.fixture
def traces(like, tmp_path):
    return [
        made(tmp_path, like, scheme, step, 1001 + i, falls(at))
        for scheme, steps in WHEN.items()
        for step, times in steps.items()
        for i, at in enumerate(times)
    ]


def test_most_runs_that_reach_the_target_and_then_the_least_time(traces, analyse, tmp_path):
    words = ("--target", "loss=0.5", "--out", tmp_path / "out", "--name", "figure")
    status, out, error = analyse("tune", *traces, *words)
    # Of uncoded 0.4 is faster, with one seed; of frc the first one is the best.
    found = Tuning([read_trace(path) for path in traces], "step", "train_loss", 0.5)
    assert found.best == {"uncoded": "0.2", "frc": "0.1"}
    assert "1 of 2, 2.00 s" in out and "2 of 2, 7.00 s" in out
    # Neither is known to be: the file has no value.
    assert status == 1 and not error
    doubts = {
        "uncoded": "beside step 0.2, 0.1 is 200 % worse and 0.4 is missed by runs",
        "frc": "step 0.1 is at an end of the grid",
    }
    lines = [
        f"{scheme}: no best value: {words}: try further ones" for scheme, words in doubts.items()
    ]
    assert out.splitlines()[-2:] == lines
    text = (tmp_path / "out" / "figure.tuned").read_text()
    assert text.splitlines()[-2:] == [f"# {line}" for line in lines]


def test_a_value_is_the_best_if_its_neighbours_are_as_good(like, tmp_path, analyse):
    when = {"uncoded": (9, 9, 9), "frc": (7, 8, 4)}
    paths = [
        made(tmp_path, like, scheme, step, 1, falls(at))
        for scheme, times in when.items()
        for step, at in zip(STEPS, times)
    ]
    words = ("--target", "loss=0.5", "--out", tmp_path / "out", "--name", "figure")
    status, out, _ = analyse("tune", *paths, *words)
    # Of equal ones that which is not at an end.
    text = (tmp_path / "out" / "figure.tuned").read_text()
    assert status == 1 and text.endswith("[scheme uncoded]\nstep = 0.2\n")
    assert "frc: no best value: step 0.4 is at an end of the grid" in out


def test_without_any_run_at_the_target_the_end_decides(like, tmp_path):
    paths = [
        made(tmp_path, like, "uncoded", step, seed, falls(5, to))
        for step, to in zip(STEPS, (0.58, 0.55, 0.57))
        for seed in (1, 2)
    ]
    found = Tuning([read_trace(path) for path in paths], "step", "train_loss", 0.1)
    assert found.best == {"uncoded": "0.2"}
    assert found.notes() == [
        "uncoded: no run reached the target; chosen by training loss in the end"
    ]


def test_a_target_that_the_first_model_reaches_is_refused(like, tmp_path):
    def start(file):
        file["evaluation/time"][0] = 0

    paths = [made(tmp_path, like, "uncoded", step, 1, falls(1)) for step in STEPS]
    paths.append(edited(paths[0], tmp_path, start))
    with pytest.raises(BadInput, match="the first model of edited.h5 reaches it"):
        Tuning([read_trace(path) for path in paths], "step", "train_loss", 0.5)


def test_what_diverges_is_not_chosen(like, tmp_path):
    ends = zip(STEPS, (0.59, 0.55, np.nan))
    paths = [made(tmp_path, like, "uncoded", step, 1, falls(5, to)) for step, to in ends]
    traces = [read_trace(path) for path in paths]
    assert Tuning(traces, "step", "train_loss", 0.1).best == {"uncoded": "0.2"}
    both = [read_trace(made(tmp_path, like, "frc", s, 1, falls(5, np.nan))) for s in STEPS]
    with pytest.raises(BadInput, match="frc diverges with every step"):
        Tuning(both, "step", "train_loss", 0.1)


def test_a_value_is_for_all_configurations_of_a_scheme(like, tmp_path):
    """By ratios of times, not by sums: a slow configuration does not decide alone."""
    when = {"slow": {0.1: 9, 0.2: 8}, "fast": {0.1: 1, 0.2: 3}}
    paths = [
        made(tmp_path, like, "uncoded", step, 1, falls(at), delay=delay)
        for delay, steps in when.items()
        for step, at in steps.items()
    ]
    found = Tuning([read_trace(path) for path in paths], "step", "train_loss", 0.5)
    assert found.best == {"uncoded": "0.1"}


@pytest.mark.parametrize(
    "words, said",
    [
        (("--target", "loss"), "is no METRIC=VALUE"),
        (("--target", "loss=1", "--option", "workers"), "'workers' is 4 in all runs"),
        (("--target", "loss=0.5", "--option", "steps"), "no run has the option 'steps'"),
    ],
)
def test_what_cannot_be_tuned_is_refused_in_one_line(traces, analyse, words, said):
    status, out, error = analyse("tune", *traces, *words)
    assert (status, out) == (2, "") and said in error and error.count("\n") == 1
