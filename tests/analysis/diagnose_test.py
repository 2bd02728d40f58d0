# SPDX-License-Identifier: BSD-2-Clause
"""diagnose: what stragglers cost and who they are, where the answer is known by construction."""

import gzip

import numpy as np
import pytest
from traces import edited, simulate
from quorate.analysis import diagnose
from quorate.analysis.observed import of_csv
from quorate.analysis.traces import BadInput
from quorate.analysis.whatif import DECODE, WAIT, Diagnosis

ROUNDS = 400
TASK = 0.1  # seconds of computation


def dry(folder, name, *options, workers=16):
    """A simulation in which each worker of `uncoded` computes TASK seconds a round."""
    rows = ("--rows", workers * 1000, "--row-time", TASK / 1000)
    common = ("--dry", "--workers", workers, "--rounds", ROUNDS, "--seed", 1)
    return simulate(folder, name, *common, *rows, *options)


def diagnosis(path):
    return diagnose.read(str(path), None, 0)


def told(one):
    return "\n".join(diagnose.findings(one))


def written(folder, rows, name="times.csv", header="worker,round,seconds"):
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def grid(times):
    return [f"{w},{r},{x}" for r, line in enumerate(times) for w, x in enumerate(line)]


def test_one_slow_worker_is_what_a_run_loses(tmp_path):
    one = diagnosis(dry(tmp_path, "one", "--slowdown", "fixed:2,3"))
    assert one.slowdown == pytest.approx(2)  # the models of --slowdown are factors on top: 1 + 1
    assert one.without_one[3] == pytest.approx(1) == one.without_chronic
    assert np.allclose(np.delete(one.without_one, 3), 2)
    assert list(np.flatnonzero(one.chronic)) == [3]
    assert one.all_but(1) == pytest.approx(1)
    # 15 workers at full speed and one at half: 15.5 in place of 16.
    assert one.shared_out() == pytest.approx(16 / 15.5)
    assert one.parts()[WAIT] == pytest.approx(one.seconds / 2)
    assert "Worker 3 is slow all through the run, 2.00 times the median: S without it" in told(one)
    assert "Transient" not in told(one)


def test_equally_slow_workers_hide_each_other_but_not_together(tmp_path):
    one = diagnosis(dry(tmp_path, "two", "--slowdown", "fixed:2,3,7"))
    assert one.slowdown == pytest.approx(2)
    assert np.allclose(one.without_one, 2)  # the other one is as slow
    assert one.without_chronic == pytest.approx(1)
    assert "Workers 3, 7 are slow" in told(one) and "S without them is 1.00" in told(one)


def test_a_slow_node_is_named_in_place_of_its_workers(tmp_path):
    def slower(file):
        mine = np.isin(file["arrival/worker"][:], np.flatnonzero(file["worker/node"][:] == 2))
        later = np.where(mine, TASK, 0)
        file["arrival/compute"][:] += later
        before = (file["arrival/round"][:] - 1) * TASK
        file["arrival/sent"][:] += before
        file["arrival/arrived"][:] += before + later
        file["round/time"][:] += TASK * np.arange(1, ROUNDS + 1)
        file["round/wait"][:] += TASK

    path = edited(dry(tmp_path, "node", "--nodes", 4), tmp_path, slower)
    one = diagnosis(path)
    assert one.slowdown == pytest.approx(2)
    assert one.chronic_nodes() == ["node2"]
    assert one.without(one.of_node("node2")) == pytest.approx(1)
    assert one.without(one.of_node("node1")) == pytest.approx(2)
    assert "Node node2 is slow all through the run, 4 of its 4 workers" in told(one)
    assert "--exclude=node2" in told(one) and "Worker" not in told(one)
    found = diagnose.node_table(one).set_index("node")
    assert found["S without"]["node2"] == "1.000" and found["chronic"]["node2"] == "4"


def test_bursts_are_transient_and_independent_delays_too(tmp_path):
    bursts = diagnosis(dry(tmp_path, "bursts", "--delay", "gilbert-elliott:0.02,0.2,0.5"))
    assert not bursts.chronic.any() and bursts.slowdown > 2
    assert "make 100.0 % of S - 1; they come in bursts" in told(bursts)
    assert "quorate advise --workers 16 --delay trace:" in told(bursts)
    plain = diagnosis(dry(tmp_path, "plain", "--delay", "exponential:0.1"))
    assert not plain.chronic.any() and "in bursts" not in told(plain)
    # The greatest of 16 exponential delays is H(16), their median that of the 8th and 9th.
    greatest = sum(1 / k for k in range(1, 17))
    middle = sum(1 / k for k in range(9, 17)) + 1 / 16
    wanted = (TASK + 0.1 * greatest) / (TASK + 0.1 * middle)
    assert plain.slowdown == pytest.approx(wanted, rel=0.03)
    assert "Delays that --delay injects are" in told(plain)


def test_the_slowest_are_those_of_each_round(tmp_path):
    one = diagnosis(dry(tmp_path, "plain", "--delay", "exponential:0.1"))
    found = np.sort(one.found.answered, axis=1)
    for count in (1, 5):
        assert one.all_but(count) * one.ideal == pytest.approx(found[:, -1 - count].sum())
    assert np.isnan(one.all_but(16))


def test_the_ideal_shares_out_work_by_delays_and_speeds(tmp_path):
    one = diagnosis(dry(tmp_path, "plain", "--delay", "exponential:0.1"))
    delay, compute = one.found.parts[:2]
    low, high = np.zeros(ROUNDS), np.full(ROUNDS, 10.0)
    for _ in range(60):  # towards the end at which the work of 16 tasks is done
        middle = (low + high) / 2
        done = (np.maximum(middle[:, None] - delay, 0) / compute).sum(1)
        low, high = np.where(done < 16, middle, low), np.where(done < 16, high, middle)
    assert one.shared_out() * one.ideal == pytest.approx(high.sum())


def test_redundancy_is_no_work_of_an_ideal_scheme(tmp_path):
    frc = diagnosis(dry(tmp_path, "frc", "--scheme", "frc", "--stragglers", 1))
    assert frc.found.load == pytest.approx(2)
    # Who comes after the first of each group is not waited for, so the ideal has the others only.
    assert frc.answers.min() >= 8 and frc.answers.max() <= 15
    assert frc.shared_out() * frc.ideal == pytest.approx((TASK * 16 / frc.answers).sum())


@pytest.mark.parametrize("name", ["uncoded-1", "frc-1", "members", "amb", "asynchronous"])
def test_parts_of_rounds_add_up_to_the_run(simulated, name):
    one = diagnosis(simulated[name])
    assert sum(one.parts().values()) == pytest.approx(one.seconds, rel=1e-6)
    assert np.all(one.without_one <= one.slowdown + 1e-12)
    everybody = np.ones(one.workers, dtype=bool)
    assert one.without(everybody) <= min(one.without_chronic, one.slowdown)


def test_measured_rounds_have_decoding_and_their_time_is_that_of_the_run(runs, tmp_path):
    one = diagnosis(runs["uncoded"])
    assert one.parts()[DECODE] > 0
    times = one.found.wait + one.found.decode
    assert one.seconds == pytest.approx(times.sum(), rel=1e-6)


def test_common_slowness_is_not_that_of_stragglers(tmp_path):
    times = np.full((40, 4), 1.0)
    times[::4] = 3.0
    one = Diagnosis(of_csv(written(tmp_path, grid(times))))
    assert one.slowdown == pytest.approx(1)
    assert "In 10 of 40 rounds the median worker itself" in told(one)
    assert "look for time elsewhere" in told(one)


def test_csv_of_others_with_nodes(tmp_path, analyse):
    rows = [
        f"w{w},{r},{2.0 if w > 2 else 1.0},{'slow' if w > 2 else f'n{w % 2}'}"
        for w in range(5)
        for r in range(100)
    ]
    path = written(tmp_path, rows, header="worker,step,response_s,host")
    status, out, error = analyse("diagnose", path, "--out", tmp_path)
    assert (status, error) == (0, "")
    assert "S = 2.00" in out and "without node slow" in out and "S without it is 1.00" in out
    written_files = {file.name for file in tmp_path.iterdir()}
    assert {"diagnosis.png", "diagnosis.pdf", "diagnosis.csv"} <= written_files
    packed = tmp_path / "times.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert analyse("diagnose", packed)[0] == 0
    status, out, _ = analyse("diagnose", path, "--per-node", 2, "--last", 2)
    assert status == 0 and "among last 2" in out and "\nnode  workers" in out


def test_rows_of_csv_may_be_ordered_by_time_and_have_loads(tmp_path):
    rows = [f"{w},{10 * r + w},{1 + w}" for r in range(4) for w in range(2)] + ["1,99,9"]
    found = of_csv(written(tmp_path, rows, header="rank,time,compute_time"))
    assert found.answered.tolist() == [[1, 2]] * 4
    rows = [f"{w},{r},{1 + load},{load}" for w in range(2) for r in range(3) for load in (0.5, 1)]
    found = of_csv(written(tmp_path, rows, header="worker,round,seconds,load"))
    assert np.all(found.answered == 1.5)


def test_of_few_rounds_nobody_is_called_transient(tmp_path):
    few = Diagnosis(of_csv(written(tmp_path, grid(np.tile([1.0, 2.0], (9, 1))))))
    assert "Of 9 rounds nobody can tell" in told(few) and "give 10 or more" in told(few)
    enough = Diagnosis(of_csv(written(tmp_path, grid(np.tile([1.0, 2.0], (10, 1))))))
    assert "Worker 1 is slow all through the run" in told(enough)
    assert "Transient" not in told(few) + told(enough)


@pytest.mark.parametrize(
    "content, words",
    [
        ("", "is empty"),
        ("worker,round,seconds\n", "has no row below its header"),
        ("a,b\n1,2\n", "has the columns a, b: give CSV with the columns worker, round, seconds"),
        ("not HDF5\n", "has the columns not HDF5"),
        ("worker,round,seconds\n0,1,1\n0,2,-1\n", "row 3: seconds is -1: give a number"),
        ("worker,round,seconds\n0,1,x\n", "row 2: seconds is x"),
        ("worker,round,seconds\n0,1,inf\n", "row 2: seconds is inf"),
        ("worker,round,seconds\n0,1,1\n0,2,1\n", "has one worker"),
        ("worker,round,seconds\n0,1,1\n1,1,1\n", "has less than two rounds"),
        ("worker,round,seconds\n0,1,1\n1,1,1\n0,2,1\n", "has no row of worker 1 in round 2"),
        ("worker,round,seconds\n0,1,1\n0,1,2\n", "has two rows of worker 0 in round 1"),
        ("worker,round,seconds\n,1,1\n0,1,2\n", "without a worker or a round"),
        ("worker,round,seconds\n0,1,0\n1,1,0\n0,2,0\n1,2,0\n", "take no time"),
        ("worker,round,seconds\n0,1\n0,1,2,3,4\n", "is neither a trace nor CSV"),
    ],
)
def test_bad_csv_is_refused_in_one_line(tmp_path, analyse, content, words):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    status, out, error = analyse("diagnose", path)
    assert (status, out, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"quorate analysis: {path}") and words in error


def test_bad_traces_are_refused_in_one_line(tmp_path, runs, analyse):
    few = ("--dry", "--row-time", 1, "--rows", 10)
    paths = [
        simulate(tmp_path, "lonely", *few, "--workers", 1, "--rounds", 5),
        simulate(tmp_path, "short", *few, "--workers", 4, "--rounds", 1),
        simulate(tmp_path, "none", "--dry", "--workers", 4, "--rounds", 5),
        tmp_path / "missing.csv",
        tmp_path,
        runs["data"],
    ]
    binary = tmp_path / "binary.csv"
    binary.write_bytes(bytes(range(256)))
    for path in [*paths, binary]:
        status, out, error = analyse("diagnose", path)
        assert (status, out, error.count("\n")) == (2, "", 1), path
    with pytest.raises(BadInput, match="--trace-arrivals all"):
        options = ("--workers", 4, "--rounds", 5, "--trace-arrivals", "none")
        diagnosis(simulate(tmp_path, "silent", *few, *options))


def independent(number):
    """Times of workers that are alike and independent, rounds x workers: of another kind and size
    for each number."""
    random = np.random.default_rng(number)
    shape = [(20, 4), (60, 10), (200, 8), (100, 40), (400, 25)][number % 5]
    kind = number // 5 % 4
    if kind == 0:
        return random.exponential(1.0, shape)
    if kind == 1:
        return 1 + random.exponential(0.3, shape)
    if kind == 2:
        return random.lognormal(0, 1, shape)
    return 1 + (random.random(shape) < 0.1) * random.pareto(1.5, shape)


def test_of_500_runs_of_independent_workers_one_in_a_hundred_has_a_finding_at_most(tmp_path):
    false = []
    for number in range(500):
        one = Diagnosis(of_csv(written(tmp_path, grid(independent(number)))))
        who = [word for word in one.found.slow.verdict if word != "-"]
        if who or "median worker itself took" in told(one) or "slow all through" in told(one):
            false.append(number)
    assert len(false) <= 5, false
