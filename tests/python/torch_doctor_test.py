# SPDX-License-Identifier: BSD-2-Clause
"""What `python3 -m quorate doctor` says of PyTorch."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from program import LAUNCHER, PACKAGE, TIMEOUT, environment  # noqa: E402

from quorate import _doctor  # noqa: E402
from quorate.torch._facts import torch_facts  # noqa: E402


def doctor(*words, launcher=(), path=PACKAGE):
    """The status of the command, and what it has found as JSON."""
    done = subprocess.run(
        [*map(str, launcher), sys.executable, "-m", "quorate", "doctor", "--json", *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment({"PYTHONPATH": str(path)}),
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_each_rank_says_which_pytorch_it_has():
    status, found = doctor(launcher=[*LAUNCHER, "-n", 3])
    assert status == 0
    ranks = [rank["torch"] for rank in found["facts"]["ranks"]]
    assert [rank["version"] for rank in ranks] == [torch.__version__] * 3
    for rank in ranks:
        assert rank["threads"] >= 1 and rank["wrong"] == ""
        assert len(rank["gpus"]) == torch.cuda.device_count()
        assert (rank["takes"] >= 0) == torch.cuda.is_available()


def test_a_pytorch_that_cannot_be_imported_is_an_error(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise OSError('libcudart:\\nnot found')")
    status, found = doctor(path=f"{tmp_path}:{PACKAGE}")
    assert status == 1 and not found["ready"]
    errors = [one["text"] for one in found["findings"] if one["kind"] == "error"]
    assert len(errors) == 1
    assert "cannot import PyTorch (OSError: libcudart: not found)" in errors[0]


def test_without_pytorch_there_is_nothing_to_say(monkeypatch):
    monkeypatch.setattr(_doctor, "find_spec", lambda name: None)
    facts = json.loads(_doctor.look_at_torch())
    assert (facts["version"], facts["wrong"], facts["gpus"], facts["takes"]) == ("", "", [], -1)


def test_gpus_of_the_host_are_counted_by_their_drivers(tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / "dev" / name).mkdir(parents=True)
    nodes = tmp_path / "nodes"
    for node, simds in enumerate([0, 440, 440, 440]):  # the first is the processor
        (nodes / str(node)).mkdir(parents=True)
        (nodes / str(node) / "properties").write_text(f"cpu_cores_count 8\nsimd_count {simds}\n")
    assert _doctor._installed_gpus(str(tmp_path / "dev"), "/nowhere") == 2
    assert _doctor._installed_gpus(str(tmp_path), str(nodes)) == 3
    assert _doctor._installed_gpus(str(tmp_path), "/nowhere") == 0


@pytest.mark.parametrize("properties, named", [({"uuid": "GPU-{}"}, True), ({}, False)])
def test_gpus_are_named_by_what_is_theirs_in_all_processes(monkeypatch, properties, named):
    def of(number):
        return SimpleNamespace(**{key: text.format(number) for key, text in properties.items()})

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", of)
    monkeypatch.setattr(torch.version, "cuda", "12.4")
    monkeypatch.setenv("LOCAL_RANK", "3")
    facts = torch_facts()
    assert facts["gpus"] == (["GPU-0", "GPU-1"] if named else ["", ""])
    assert (facts["takes"], facts["platform"]) == (1, "CUDA 12.4")
