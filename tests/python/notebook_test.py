# SPDX-License-Identifier: BSD-2-Clause
"""The notebooks of docs/notebooks, cell by cell."""

import os

import pytest

from program import PACKAGE, REPOSITORY, environment

pytestmark = pytest.mark.whole

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
NOTEBOOKS = sorted((REPOSITORY / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", environment({"PYTHONPATH": PACKAGE}))
    # The kernel is this Python, whatever kernels are installed for the user.
    monkeypatch.setattr("jupyter_client.kernelspec.NATIVE_KERNEL_NAME", "python3")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": tmp_path}}
    ).execute()
    results = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in results)
    kept = nbformat.read(path, as_version=4)
    # What is kept in the repository was executed too.
    assert all(cell.execution_count for cell in kept.cells if cell.cell_type == "code")
