# SPDX-License-Identifier: BSD-2-Clause
"""The names that `import quorate` gives, and what editors see of them."""

import builtins
import sys

import pytest

from program import PACKAGE, output


def names_of(code):
    """What a new process prints, by line."""
    return output(sys.executable, "-c", code, env={"PYTHONPATH": str(PACKAGE)}).split()


def test_the_version_needs_no_compiled_module(q):
    code = "import quorate, sys; print(quorate.__version__, 'quorate._quorate' in sys.modules)"
    assert names_of(code) == [q.version, "False"]


def test_every_name_that_is_listed_is_there(q):
    # Of a new process: other tests add some to this one.
    known = names_of("import quorate as q; print(*q.components('delay')['name'])")
    delays = {name.replace("-", "_") for name in known}
    code = "import quorate, sys; print(*dir(quorate)); assert 'quorate._quorate' not in sys.modules"
    listed = set(names_of(code))
    assert delays <= listed
    assert listed == {*q.__all__, *delays, "open", "analysis", "torch", "__version__"}
    assert all(getattr(q, name) is not None for name in listed - {"torch"})  # it may be missing
    assert q.exponential(2).text == "exponential:2"
    public = vars(sys.modules["quorate._public"])
    assert {name for name in public if name[0] != "_"} - {"open"} == set(q.__all__)


def test_no_name_of_all_hides_one_of_python(q):
    assert not [name for name in q.__all__ if hasattr(builtins, name)]
    code = "from quorate import *; print(open.__module__, simulate.__module__)"
    assert names_of(code) == ["io", "quorate._run"]


def test_an_editor_completes_what_it_has_not_loaded(q):
    jedi = pytest.importorskip("jedi")
    project = jedi.Project(PACKAGE, load_unsafe_extensions=False)
    seen = jedi.Script("import quorate as q\nq.", project=project).complete(2, 2)
    assert {*q.__all__, "open", "exponential", "__version__"} <= {one.name for one in seen}
    shown = jedi.Script("import quorate as q\nq.simulate(", project=project)
    assert shown.get_signatures(2, 11)[0].params[0].name == "data"
