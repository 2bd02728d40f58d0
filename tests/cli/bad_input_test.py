# SPDX-License-Identifier: BSD-2-Clause
"""What a user can get wrong: one line on stderr, exit status 2, nothing written."""

import bz2
import gzip
import lzma
import os
import resource
import subprocess

import h5py
import pytest

from program import LAUNCHER, call, command_line, environment, our_lines


def refused(folder, *words, ranks=None, env=None):
    """Runs what must be refused; gives the message without the program's name."""
    before = sorted(folder.iterdir())
    done = call(*words, ranks=ranks, env=env)
    assert done.returncode == 2, done
    assert sorted(folder.iterdir()) == before, "something was written"
    assert done.stdout == ""
    lines = our_lines(done.stderr)
    assert len(lines) == 1, done.stderr
    if ranks is None:
        assert done.stderr == lines[0] + "\n"
    return lines[0].removeprefix("quorate: ")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.svm").write_text("+1 1:1 3:2\n-1 2:1\n+1 1:2\n-1 3:1\n")
    (tmp_path / "good.csv").write_text("y,a,b\n1,2,red\n0,3,blue\n")
    return tmp_path


# --- commands and options -------------------------------------------------------------------------


def test_an_unknown_command_names_the_nearest(folder):
    assert refused(folder, "runn") == "quorate has no command runn; did you mean run?"
    assert refused(folder, "juggle") == (
        "quorate has no command juggle; known: import, generate, encode, run, simulate, evaluate, "
        "predict, optimum, tune, inspect, analysis, hosts, advise, script, submit, status, cancel, "
        "todo, doctor, list or help"
    )


@pytest.mark.parametrize(
    "words, message",
    [
        (["run", "--ruonds", 3], "quorate run has no option --ruonds; did you mean --rounds?"),
        (["run", "--round", 3], "quorate run has no option --round; did you mean --rounds?"),
        (
            ["import", "--ouput", "x"],
            "quorate import has no option --ouput; did you mean --output?",
        ),
        (["generate", "--row", 3], "quorate generate has no option --row; did you mean --rows?"),
        (["inspect", "--jsn", "x"], "quorate inspect has no option --jsn; did you mean --json?"),
        (
            ["simulate", "--scheme", "--workers", 3],
            "quorate simulate: --scheme is without its argument: give --scheme NAME",
        ),
        (
            ["generate", "--rows"],
            "quorate generate: --rows is without its argument: give --rows N",
        ),
        (["inspect"], "quorate inspect needs FILE: quorate inspect FILE"),
        (["inspect", "a", "b"], "quorate inspect: unexpected argument b: options begin with --"),
        (["list"], "quorate list needs WHAT: quorate list WHAT [NAME]"),
        (["list", "scheme"], "quorate list: there are no scheme; did you mean schemes?"),
        (
            ["generate", "extra"],
            "quorate generate: unexpected argument extra: options begin with --",
        ),
    ],
)
def test_words_that_mean_nothing_are_refused(folder, words, message):
    assert refused(folder, *words) == message


# --- generate -------------------------------------------------------------------------------------


def test_generate_refuses_what_it_cannot_make(folder):
    output = folder / "x.h5"
    for words, message in [
        (["--rows", 0, "--output", output], "--rows is 0: use at least 1"),
        (["--columns", "ten", "--output", output], "--columns is ten: give a whole number"),
        (["--test-rows", -1, "--output", output], "--test-rows is -1: use at least 0"),
        ([], "quorate generate needs --output FILE"),
        (
            ["--output", folder / "no" / "x.h5"],
            f"--output is {folder}/no/x.h5, which cannot be written: No such file or directory; "
            "give a file in a folder that can be written",
        ),
        (
            ["--output", folder],
            f"--output is {folder}, which cannot be written: it is a folder; give a file",
        ),
    ]:
        assert refused(folder, "generate", *words) == message


# --- import ---------------------------------------------------------------------------------------


def import_refused(folder, *words):
    return refused(folder, "import", "--output", folder / "x.h5", *words)


def test_import_refuses_files_it_cannot_read(folder):
    missing = folder / "none.svm"
    assert import_refused(folder) == "quorate import needs --input FILE"
    assert import_refused(folder, "--input", missing) == (
        f"cannot open {missing}: No such file or directory; give a file that can be read"
    )
    assert import_refused(folder, "--input", folder / "god.csv") == (
        f"cannot open {folder}/god.csv: No such file or directory; did you mean {folder}/good.csv?"
    )
    assert import_refused(folder, "--input", folder) == f"{folder} is a folder: give a file"
    empty = folder / "empty"
    empty.write_bytes(b"")
    assert import_refused(folder, "--input", empty) == f"{empty} is empty: give a file with data"


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_import_refuses_truncated_compressed_files(folder, compress):
    text = b"".join(b"%d 1:0.%d 2:1\n" % (i % 2, i * i * 7919 % 10007) for i in range(20000))
    path = folder / "cut"
    path.write_bytes(compress(text)[:-20])
    message = import_refused(folder, "--input", path)
    expected = f"{path} is damaged or truncated: its compressed data end wrongly after byte "
    assert message.startswith(expected)
    assert message.removeprefix(expected).isdigit()


@pytest.mark.parametrize(
    "text, where_and_what",
    [
        ("+1 1:1\nyes 1:1\n", "2:1: expected a label, a finite number, got 'yes'"),
        ("+1 1:1\n-1 2:1 two\n", "2:8: expected index:value, got 'two'"),
        ("+1 1:1\n-1 -1:1\n", "2:4: expected an index of at least 0, got '-1'"),
        ("+1 3:1 2:1 3:1\n", "1:12: index 3 stands twice: give each index of a row once"),
        ("+1 3:x\n", "1:6: expected a finite number, got 'x'"),
        ("y,a\n1,2\n0\n", "3:1: expected 2 fields as in the header, got 1"),
        ('y,a\n1,"2\n0,1\n', "2:3: a quote opened in line 2 is not closed"),
    ],
)
def test_import_names_file_line_and_column_of_a_malformed_line(folder, text, where_and_what):
    path = folder / "bad"
    path.write_text(text)
    words = ["--label", "y"] if text.startswith("y") else []
    message = import_refused(folder, "--input", path, *words)
    if where_and_what.startswith("2:3: a quote"):  # where the file ends
        assert message.endswith("a quote opened in line 2 is not closed")
    else:
        assert message == f"{path}:{where_and_what}"


def test_import_refuses_labels_that_are_not_two_classes(folder):
    path = folder / "three.svm"
    remedy = "; map them with --label-map, or give --task multiclass or regression"
    path.write_text("1 1:1\n2 1:1\n3.5 1:1\n")
    assert import_refused(folder, "--input", path) == (
        "the labels are not two classes but 3: 1, 2, 3.5" + remedy
    )
    path.write_text("1 1:1\n1 1:1\n")
    assert import_refused(folder, "--input", path) == (
        "the labels are not two classes but 1: 1" + remedy
    )
    good = folder / "good.svm"
    assert import_refused(folder, "--input", good, "--label-map", "1:1") == (
        "label -1 is not in --label-map 1:1: add it, or other:drop"
    )


def test_import_refuses_labels_that_do_not_fit_the_rows(folder):
    labels = folder / "labels"
    for text, count in [("1\n-1\n1\n", 3), ("1\n-1\n1\n-1\n1\n", 5)]:
        labels.write_text(text)
        words = ["--input", folder / "good.svm", "--labels", labels]
        message = f"{labels} has {count} labels for 4 rows: give one for each"
        assert import_refused(folder, *words) == message
    labels.write_text("1\nmaybe\n")
    assert import_refused(folder, "--input", folder / "good.svm", "--labels", labels) == (
        f"{labels}:2:1: expected a label, a finite number, got 'maybe'"
    )
    assert import_refused(folder, "--input", folder / "good.svm", "--test-labels", labels) == (
        "--test-labels needs --test-input FILE: the rows that they belong to"
    )


def test_import_refuses_options_that_contradict_its_files(folder):
    svm, csv = folder / "good.svm", folder / "good.csv"
    for words, message in [
        (
            ["--input", svm, "--label", "y"],
            "--label is y, but the input is libsvm and only hdf5, numpy or csv uses it: "
            "leave it out",
        ),
        (["--input", csv], "CSV needs --label COLUMN: the name of the column with the labels"),
        (
            ["--input", csv, "--label", "Y"],
            f"--label names Y, which is not a column of {csv}; did you mean y?",
        ),
        (
            ["--input", csv, "--label", "y"],
            f"{csv}:2:5: column b: expected a finite number, got 'red'; name the column in "
            "--categorical, or leave it out with --drop, if it is not one",
        ),
        (["--input", svm, "--test-fraction", 1], "--test-fraction is 1: use at most 0.99"),
        (["--input", svm, "--format", "svm"], "--format is svm; did you mean csv?"),
        (["--input", svm, "--columns", 2], f"{svm}:1:8: index 3 is beyond --columns 2"),
        (
            ["--input", svm, "--test-input", svm, "--test-fraction", "0.5"],
            "--test-fraction is 0.5 beside --test-input: give one of them",
        ),
    ]:
        got = import_refused(folder, *words)
        if words[-1] in ("Y", "svm"):  # the end depends on what is near
            assert got.split(";")[0] == message.split(";")[0]
        else:
            assert got == message


def test_import_never_writes_over_its_input(folder):
    path = folder / "good.svm"
    before = path.read_bytes()
    message = refused(folder, "import", "--input", path, "--output", path)
    assert message == f"--output is {path}, which is --input as well: give another name"
    assert path.read_bytes() == before


def test_an_ini_file_is_refused_with_its_line(folder):
    config = folder / "x.ini"
    config.write_text("format = libsvm\ncolums = 3\n")
    message = import_refused(folder, "--input", folder / "good.svm", "--config", config)
    assert message == f"{config}:2: quorate import has no option --colums; did you mean --columns?"
    config.write_text("format = libsvm\n\ncolumns = 0\n")
    message = import_refused(folder, "--input", folder / "good.svm", "--config", config)
    assert message == f"{config}:3: --columns is 0: use at least 1"
    config.write_text("%option%\n")  # which Boost replaces for ever
    message = import_refused(folder, "--input", folder / "good.svm", "--config", config)
    assert message == (
        f"{config}:1: '=' character not found in line: write lines 'name = value' and '[section]'"
    )


# --- inspect --------------------------------------------------------------------------------------


def test_inspect_refuses_what_is_neither_trace_nor_data_set(folder, gaussians):
    other = folder / "other.h5"
    with h5py.File(other, "w") as file:
        file["x"] = [1, 2, 3]
    cut = folder / "cut.h5"
    cut.write_bytes(gaussians.read_bytes()[:1000])
    text = folder / "good.svm"
    not_hdf5 = (
        "is not an HDF5 file (or it is truncated): give a data set made by 'quorate import' or a "
        "trace made by 'quorate run'"
    )
    assert refused(folder, "inspect", other) == (
        f"{other} is neither a trace nor a data set: give a file that quorate wrote"
    )
    assert refused(folder, "inspect", text) == f"{text} {not_hdf5}"
    assert refused(folder, "inspect", folder / "none.h5") == (
        f"cannot open {folder}/none.h5: No such file or directory; give a file that can be read"
    )
    assert refused(folder, "inspect", cut).startswith(str(cut))


def test_inspect_refuses_a_damaged_data_set(folder, gaussians):
    path = folder / "damaged.h5"
    path.write_bytes(gaussians.read_bytes())
    with h5py.File(path, "r+") as file:
        del file["train/label"]
        file["train/label"] = [1.0, -1.0]
    message = refused(folder, "inspect", path)
    assert message.startswith(f"{path} is damaged (")
    assert message.endswith("): import it again")


# --- run ------------------------------------------------------------------------------------------


def run_refused(folder, data, *words):
    for option, value in ("--trace", folder / "t.h5"), ("--workers", 4):
        words = words if option in words else [option, value, *words]
    return refused(folder, "run", "--data", data, *words)


@pytest.mark.parametrize(
    "words, message",
    [
        (["--rounds", 0], "--rounds is 0: use at least 1"),
        (["--rounds", "many"], "--rounds is many: give a whole number"),
        (["--step", -1], "--step is -1: use at least 0"),
        (["--l2", "x"], "--l2 is x: give a number of at least 0, or 1/n"),
        (["--l2", -1], "--l2 is -1: use at least 0"),
        (["--seed", -1], "--seed is -1: use at least 0"),
        (["--evaluate-every", -1], "--evaluate-every is -1: use at least 0"),
        (["--log", "everything"], "--log is everything; known: workers"),
        (["--init", "normal"], "--init is normal: write normal:SD with SD of at least 0"),
        (["--init", "normal:-1"], "--init is normal:-1: write normal:SD with SD of at least 0"),
        (
            ["--init", "none.h5"],
            "cannot open none.h5: No such file or directory; give a file that can be read",
        ),
        (["--scheme", "frcc"], "--scheme is frcc; did you mean frc?"),
        (["--model", "logistics"], "--model is logistics; did you mean logistic?"),
        (["--optimizer", "gdd"], "--optimizer is gdd; did you mean gd?"),
        (["--delay", "constant"], "--delay is constant: write constant:SECONDS"),
        (
            ["--delay", "exponential:x"],
            "--delay is exponential:x, but MEAN is x, not a time of at least 0, such as 0.05 or "
            "50ms: write exponential:MEAN",
        ),
        (
            ["--stragglers", 1],
            "--stragglers is 1, but only --scheme ignore, frc, cyclic, short-cyclic, reed-solomon, "
            "partial, partial-frc, partial-cyclic, agc, nested, draco-repetition, draco-cyclic, "
            "pgc-frc, pgc-cyclic or k-sync uses it: leave it out",
        ),
        (
            ["--scheme", "frc", "--collect", 2],
            "--collect is 2, but only --scheme ignore, agc, bernoulli, block, regular, margulis, "
            "bibd, graph, stochastic, is-gc, svrg, robust, local-average, k-batch-sync, k-async, "
            "k-batch-async, async-local, malenia, mindflayer, pgc-frc, dsag, k-sync or rennala "
            "uses it: leave it out",
        ),
        (["--scheme", "agc", "--stragglers", 4], "--stragglers is 4: use at most 3"),
        (["--scheme", "agc", "--collect", 0], "--collect is 0: use at least 1"),
        (["--scheme", "agc", "--collect", 5], "--collect is 5: use at most 4"),
        (["--workers", 0], "--workers is 0: use at least 1"),
    ],
)
def test_run_refuses_values_with_the_remedy(folder, gaussians, words, message):
    assert run_refused(folder, gaussians, *words) == message


def test_run_wants_a_data_set(folder):
    other = folder / "other.h5"
    with h5py.File(other, "w") as file:
        file["x"] = [1, 2, 3]
    make = "make one with 'quorate import' or 'quorate generate'"
    assert run_refused(folder, other) == f"{other} is not a data set: {make}"
    assert run_refused(folder, folder / "none.h5") == (
        f"cannot open {folder}/none.h5: No such file or directory; give a file that can be read"
    )
    assert run_refused(folder, folder / "good.svm").startswith(
        f"{folder}/good.svm is not an HDF5 file (or it is truncated)"
    )
    message = refused(folder, "run", "--trace", folder / "t.h5", "--workers", 4)
    assert message == f"quorate run needs --data FILE: {make}"


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Data for which a linear model has 160 MB."""
    path = tmp_path_factory.mktemp("wide") / "wide.h5"
    words = ["--rows", 20, "--columns", 20_000_000, "--nnz-per-row", 3, "--test-rows", 0]
    done = call("generate", *words, "--output", path, "--quiet")
    assert done.returncode == 0, done.stderr
    return path


def test_what_takes_more_memory_than_there_is_is_refused_before_it_begins(folder, wide):
    words = ["--data", wide, "--model", "mlp", "--hidden", 100_000, "--workers", 2, "--step", 0.1]
    words += ["--trace", folder / "t.h5"]
    said = refused(folder, "simulate", *words)
    assert said.startswith("the simulation takes 8e+04 GB of memory at least, and ")
    said = refused(folder, "run", *words)
    assert "and the run takes 2.08e+05 GB there at least (the coordinator takes 8e+04 GB" in said
    assert said.endswith("ask for more memory, or spread the ranks over more hosts")
    words = ["--model", "softmax", "--classes", 1000, "--columns", 2_000_000_000]
    said = refused(folder, "generate", *words, "--output", folder / "d.h5")
    assert said.startswith("to make 2000000000000 weights takes 1.6e+04 GB of memory at least")


def test_memory_that_ends_in_the_middle_is_said(folder, wide):
    words = ["simulate", "--data", wide, "--workers", 2, "--step", 0.1, "--quiet"]
    done = subprocess.run(
        command_line([*words, "--trace", folder / "t.h5"]),
        env=environment(),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    )
    assert done.returncode == 1
    message = "quorate: there is not enough memory: ask for more, or use more hosts\n"
    assert done.stderr == message


def test_run_wants_a_row_for_each_worker(folder):
    data = folder / "tiny.h5"
    words = ["--rows", 3, "--columns", 2, "--test-rows", 0, "--output", data]
    assert call("generate", *words).returncode == 0
    assert run_refused(folder, data) == (
        f"{data} has 3 training rows, too few for 4 workers: use --workers 3 or fewer"
    )


def test_a_trace_that_cannot_be_written_is_found_before_any_work(folder, gaussians):
    assert run_refused(folder, gaussians, "--trace", folder / "no" / "t.h5") == (
        f"--trace is {folder}/no/t.h5, which cannot be written: No such file or directory; give a "
        "file in a folder that can be written"
    )
    assert run_refused(folder, gaussians, "--trace", folder) == (
        f"--trace is {folder}, which cannot be written: it is a folder; give a file"
    )
    if os.geteuid() != 0:
        locked = folder / "locked"
        locked.mkdir()
        locked.chmod(0o500)
        message = run_refused(folder, gaussians, "--trace", locked / "t.h5")
        assert "Permission denied" in message


@pytest.mark.parametrize("name", ["a data set", "text"])
def test_a_file_that_is_not_a_trace_survives_as_the_trace_path(folder, gaussians, name):
    path = folder / "precious"
    path.write_bytes(gaussians.read_bytes() if name == "a data set" else b"years of work\n")
    before = path.read_bytes()
    assert run_refused(folder, gaussians, "--trace", path) == (
        f"--trace is {path}, which exists and is not a trace: remove it or give another name"
    )
    assert path.read_bytes() == before


def test_a_trace_without_final_model_is_no_initial_model(folder, gaussians):
    assert run_refused(folder, gaussians, "--init", gaussians) == (
        f"--init is {gaussians}, which holds no final model: give zero, normal:SD, he, "
        "glorot or a finished trace"
    )


# --- the world ------------------------------------------------------------------------------------


def world_refused(folder, data, *words, ranks=None, env=None):
    words = ["--data", data, "--trace", folder / "t.h5", *words]
    return refused(folder, "run", *words, ranks=ranks, env=env)


def test_a_world_of_one_is_to_know_how_many_threads(folder, gaussians):
    launcher = " ".join(LAUNCHER)
    message = (
        "--workers is missing: --workers N makes them threads of this process, and "
        f"'{launcher} -n N' starts processes, a coordinator and N - 1 workers"
    )
    assert world_refused(folder, gaussians) == message
    assert world_refused(folder, gaussians, ranks=1) == message


def test_one_rank_of_a_world_refuses_values_with_the_remedy(folder, gaussians):
    assert world_refused(folder, gaussians, "--workers", 5, ranks=5) == (
        "--workers is 5, but 5 ranks make a coordinator and 4 workers: start 6 ranks"
    )
    # What rank 0 alone has to do with.
    words = ["--data", gaussians, "--trace", folder]
    message = refused(folder, "run", *words, ranks=3)
    assert message == f"--trace is {folder}, which cannot be written: it is a folder; give a file"


def test_the_world_must_be_as_large_as_slurm_says(folder, gaussians):
    message = world_refused(folder, gaussians, ranks=3, env={"SLURM_NTASKS": "7"})
    assert message == (
        "the world has 3 ranks but SLURM_NTASKS is 7: start all 7 with srun or "
        f"{' '.join(LAUNCHER)}, or ask SLURM for 3"
    )


def test_the_launcher_of_another_mpi_is_named_with_the_right_one(folder, gaussians):
    # What a rank sees that Open MPI's mpiexec starts and that belongs to MPICH, and the reverse.
    other = "PMI" if os.environ.get("MPI") == "openmpi" else "OMPI_COMM_WORLD"
    env = {f"{other}_SIZE": "4", f"{other}_RANK": "0"}
    assert world_refused(folder, gaussians, env=env) == (
        "this is 4 ranks that each see a world of one: the launcher belongs to another MPI; start "
        f"this build with {' '.join(LAUNCHER)} -n 4"
    )


@pytest.mark.parametrize("form", ["auto", "csv", "libsvm", "cifar10", "idx"])
def test_a_device_is_no_input(form, tmp_path):
    output = tmp_path / "d.h5"
    words = ["import", "--input", "/dev/zero", "--format", form, "--output", output]
    done = call(*words, timeout=30)
    assert done.returncode == 2
    assert done.stderr == "quorate: /dev/zero is a device or a pipe: give a file\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["csv", "libsvm"])
def test_a_file_without_line_ends_is_given_up(form, tmp_path):
    path = tmp_path / "endless"
    with open(path, "wb") as file:
        for _ in range(140):
            file.write(b"1" * (1 << 20))
    words = ["import", "--input", path, "--format", form, "--output", tmp_path / "d.h5"]
    done = call(*words, timeout=60)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"quorate: {path} is no text of rows: line 1 is longer than 128 MB"
    )
    assert list(tmp_path.iterdir()) == [path]


def test_more_workers_than_memory_are_refused(tmp_path):
    words = ["simulate", "--dry", "--workers", 2000000000, "--trace", tmp_path / "t.h5"]
    done = call(*words, timeout=30)
    assert done.returncode == 2
    assert "--workers is 2000000000, whose simulation would take 5000 GB of memory" in done.stderr
    assert list(tmp_path.iterdir()) == []
