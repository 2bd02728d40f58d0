# SPDX-License-Identifier: BSD-2-Clause
"""What a run says when it ends, and what inspect says of its trace in short."""

import re

import h5py
import pytest

from program import call, inspect

DELAYED = ["--workers", 8, "--delay", "exponential:1", "--row-time", 1e-4, "--rounds", 30]


def ok(*words, ranks=None):
    done = call(*words, ranks=ranks)
    assert done.returncode == 0, done.stderr
    return done


def simulate(trace, *words):
    """What a simulation prints below its setting, whose last line begins with optimizer."""
    done = ok("simulate", "--trace", trace, *words)
    return done.stdout.partition("\noptimizer ")[2].partition("\n")[2]


def paragraphs(text):
    """Word to text, on one line."""
    joined = re.sub(r"\n {10}", " ", text)
    return dict(re.split(r"  +", line, maxsplit=1) for line in joined.splitlines() if "  " in line)


def seconds(trace):
    with h5py.File(trace) as file:
        return file["round/time"][-1]


def test_a_run_ends_with_a_summary_for_a_mail(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    words = ["--data", gaussians, "--delay", "exponential:0.002", "--step", 0.3, "--rounds", 5]
    done = ok("run", "--trace", trace, "--scheme", "frc", "--stragglers", 1, *words, ranks=5)
    said = paragraphs(done.stdout)
    assert said["setting"].startswith("frc --stragglers 1, 4 workers, delay exponential:0.002")
    assert re.match(r"\S+% of the time: for delays \S+%", said["waiting"])
    assert re.match(r"worker \d \S+ m?s", said["slowest"])
    assert "better" not in said  # nobody has seen the answers that were not waited for
    assert all(len(line) <= 80 for line in done.stdout.partition("setting ")[2].splitlines())
    words += ["--overwrite", "--quiet"]
    assert ok("run", "--trace", trace, *words, ranks=5).stdout == ""


def test_a_step_that_is_chosen_is_read_with_four_digits_and_kept_with_all(gaussians, tmp_path):
    words = ["--data", gaussians, "--rounds", 3, "--workers", 2, "--trace", tmp_path / "t.h5"]
    said = ok("simulate", *words).stdout + ok("inspect", tmp_path / "t.h5").stdout
    config = inspect(tmp_path / "t.h5")["config"]
    kept = re.search("^step = (.*)", config, re.M).group(1)
    assert len(kept) > 12
    assert re.findall(r"step\s+([\d.]+)", said) == [f"{float(kept):.4g}"] * 3


@pytest.mark.parametrize("stragglers", [1, 2])
def test_what_a_better_scheme_would_have_saved_is_what_it_takes(stragglers, tmp_path):
    """Delays have the same keys, so that the promise can be kept to the last digit."""
    # So many workers that this is the best number of stragglers, and one that cyclic codes need no
    # more than S + 1 partitions for.
    words = [*DELAYED, "--dry"]
    words[1] = {1: 2, 2: 5}[stragglers]
    said = paragraphs(simulate(tmp_path / "u.h5", *words))["better"]
    coded, ignoring = re.search(r"^(\S+) s in .*; (\S+) s with no more computing", said).groups()
    assert f"as a code for {stragglers} straggler" in said
    for scheme, promised in [("cyclic", coded), ("ignore", ignoring)]:
        trace = tmp_path / f"{scheme}.h5"
        simulate(trace, *words, "--scheme", scheme, "--stragglers", stragglers)
        assert float(promised) == pytest.approx(seconds(trace), rel=1e-3)


def test_a_long_dry_run_lists_no_arrivals_and_names_the_command(tmp_path):
    words = ["--dry", "--workers", 1001, "--rounds", 1000, "--scheme", "ignore"]
    words += ["--stragglers", 1000, "--delay", "exponential:1", "--row-time", 1e-3]
    said = paragraphs(simulate(tmp_path / "t.h5", *words))
    assert said["summary"] == f"quorate inspect {tmp_path / 't.h5'}"


def test_free_computing_is_noted(tmp_path, gaussians):
    words = ["simulate", "--dry", "--workers", 4, "--rounds", 3, "--overwrite", "--trace"]
    note = "quorate: computing takes no time here: --row-time gives the seconds of a row"
    words += [tmp_path / "t.h5"]
    assert ok(*words).stderr.count(note) == 1
    assert ok(*words, "--quiet").stderr == ""
    assert note not in ok(*words, "--row-time", 1e-3).stderr
    ok("simulate", "--data", gaussians, "--workers", 4, "--trace", tmp_path / "a.h5", "--quiet")
    again = ["--replay", tmp_path / "a.h5", "--trace", tmp_path / "b.h5"]
    assert note not in ok("simulate", *again).stderr
    recorded = ["--delay", f"trace:{tmp_path / 'a.h5'}"]
    assert note not in ok(*words, *recorded).stderr


# --- inspect --------------------------------------------------------------------------------------


def short(trace):
    text = ok("inspect", trace).stdout
    lines = text.splitlines()
    # The name of a file stands in a line of its own, however long it is.
    assert len(lines) <= 15 and all(len(line) <= 80 or line.strip() == str(trace) for line in lines)
    return paragraphs(text)


def test_inspect_says_in_short_what_happened(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    words = ["--data", gaussians, "--step", 0.3, "--scheme", "agc", "--stragglers", 1]
    simulate(trace, *words, *DELAYED)
    text = ok("inspect", trace).stdout
    assert text.startswith("run       completed: 30 rounds in ")
    said, facts = short(trace), inspect(trace)
    assert f"{facts['time']:.4g} s (virtual clock), " in said["run"]
    assert said["result"].startswith(
        f"training loss {facts['last_evaluation']['train_loss']:.4g}, "
        f"test loss {facts['last_evaluation']['test_loss']:.4g}, accuracy "
    )
    assert said["setting"].startswith("agc --stragglers 1 --rescale coverage, 8 workers")
    assert f"{facts['used_per_round']:.4g} of 8 workers used" in said["answers"]
    assert said["more"] == f"quorate inspect --all {trace}"
    assert "optimum" not in said
    assert said["speed"].startswith(f"{facts['samples_per_second']:.4g} samples/s used, ")
    # The rest is what it was, in both forms.
    everything = ok("inspect", "--all", trace).stdout
    for name in facts:
        assert name == "faults" or re.search(rf"^{name}( |$)", everything, re.MULTILINE), name


def test_the_speed_counts_the_samples_of_an_update_once(gaussians, tmp_path):
    """Cyclic codes hold each sample twice, and may use workers that hold the same ones."""
    trace = tmp_path / "t.h5"
    words = ["--data", gaussians, "--scheme", "cyclic", "--stragglers", 1, "--workers", 6]
    words += ["--delay", "exponential:0.05", "--row-time", 1e-3]
    simulate(trace, *words, "--rounds", 10, "--batch", 100)
    facts = inspect(trace)
    with h5py.File(trace) as file:
        time, answered = file["round/time"][-1], file["arrival/samples"][:].sum()
        used = file["arrival/used"][:] > 0
        shares = [
            file[f"arrival/{part}"][:][used].sum() / (6 * time) for part in ("compute", "delay")
        ]
        assert file["round/samples"][:].max() > 100
    assert facts["samples_per_second"] == pytest.approx(10 * 100 / time)
    assert facts["samples_answered_per_second"] == pytest.approx(answered / time)
    assert [facts["computing_share"], facts["delay_share"]] == pytest.approx(shares)


@pytest.mark.parametrize(
    "words, known",
    [
        (["--scheme", "amb", "--batch", 100, "--row-time", 1e-3], True),
        (["--trace-arrivals", "none"], False),
    ],
    ids=["varying", "unlisted"],
)
def test_the_speed_is_what_the_trace_knows(words, known, gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    simulate(trace, "--data", gaussians, *DELAYED[:4], "--rounds", 10, *words)
    facts = inspect(trace)
    with h5py.File(trace) as file:
        used = file["round/samples"][:].sum() / file["round/time"][-1]
    assert facts["samples_per_second"] == pytest.approx(used)
    assert ("computing_share" in facts) == known


def test_steps_are_no_samples(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    words = ["--data", gaussians, "--scheme", "local-average", "--step", 0.1, "--workers", 4]
    simulate(trace, *words, "--row-time", 1e-3, "--rounds", 3)
    assert "samples_per_second" not in inspect(trace) and "speed" not in short(trace)


def test_inspect_says_in_short_how_far_the_optimum_is(gaussians, tmp_path):
    data = tmp_path / "d.h5"
    data.write_bytes(gaussians.read_bytes())
    ok("optimum", "--data", data, "--quiet")
    trace = tmp_path / "t.h5"
    words = ["--data", data, "--step", 0.3, "--optimizer", "agd", *DELAYED]
    simulate(trace, *words)
    gap = inspect(trace)["optimum"]["last_gap"]
    assert short(trace)["optimum"].startswith(f"{gap:.4g} above; within 1e-")


def test_inspect_says_in_short_what_went_wrong(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    words = ["--data", gaussians, "--step", 0.3, "--scheme", "frc", "--stragglers", 1]
    simulate(trace, *words, *DELAYED, "--events", "3r leave 1; 5r kill 4; 9r join 1")
    assert short(trace)["workers"].startswith("1 died, 1 left, 1 joined")
    with h5py.File(trace, "r+") as file:
        file.attrs["status"] = "interrupted"
        file["round/time"][3] = 0
        for name in file["evaluation"]:
            file["evaluation"][name].resize((0,))
    done = call("inspect", trace)
    assert done.returncode == 1
    assert "run       interrupted after 30 of 30 rounds in " in done.stdout
    assert "result    training loss about " in done.stdout
    assert "faults    1, see below" in done.stdout
    assert "round 4 ends before the one before it" in done.stderr


def test_inspect_says_in_short_that_there_is_no_round_yet(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    simulate(trace, "--data", gaussians, "--rounds", 2, *DELAYED[:4])
    with h5py.File(trace, "r+") as file:
        file.attrs["status"] = "running"
        for table in ("round", "arrival", "evaluation"):
            for name in file[table]:
                file[table][name].resize((0,))
    said = short(trace)
    assert said["run"] == "running after 0 of 2 rounds"
    assert set(said) == {"run", "setting", "made by", "more"}
