# SPDX-License-Identifier: BSD-2-Clause
"""Schemes, codes, models, delays and optimisers: of C++, by name, and those that Python defines."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ._arrays import is_real, reals, shown
from ._native import BadInput, Contribution, Needs, Plan, Problem, Step, _quorate
from ._options import option_name, text_of

Floats = npt.NDArray[np.float64]


class Component:
    """A component with the options that are its own: `q.scheme("frc", stragglers=2)`.

    text: the option's value, such as "frc" or "exponential:0.5". label: what figures call it.
    """

    def __init__(
        self, kind: str, text: str, options: dict[str, Any] | None = None, label: str = ""
    ) -> None:
        self.kind, self.text, self.options = kind, text, options or {}
        self.label = label or " ".join(
            [text, *(f"{name} {value}" for name, value in self.options.items())]
        )

    def __repr__(self) -> str:
        own = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"quorate.{self.kind}({self.text!r}{own})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Component):
            return NotImplemented
        return (self.kind, self.text, self.options) == (other.kind, other.text, other.options)

    def __hash__(self) -> int:
        return hash((self.kind, self.text, tuple(sorted(self.options.items()))))


class Scheme:
    """A protocol as a state machine: derive from it, and give the class to `simulate` or `run`.

    A scheme is made for each run, with a Problem and its options: the constructor's parameters
    after the first, whose defaults and annotations (int, float, bool, str) are the options' own.
    Class attributes: `name` (default: the class's, in lower case), `source`, `help` (texts of
    options by name).
    """

    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    help: ClassVar[dict[str, str]] = {}

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def needs(self) -> Needs:
        """Which blocks of rows there are, and who stores which. Default: worker i, partition i."""
        raise NotImplementedError

    def warning(self) -> str:
        """What is not promised for these parameters; empty: there is nothing to warn of."""
        return ""

    def handle(self, event: Any, now: float) -> Sequence[Any] | None:
        """Returns the actions that follow from an event; None: none. Pure: what it does depends on
        its state, the event and `now` (seconds) alone."""
        raise NotImplementedError


class SynchronousScheme(Scheme):
    """A scheme with rounds: every worker gets a task at the newest point; answers are received
    until they suffice or time is up; a step ends the round, and late answers are dropped."""

    _needs: Needs

    def plan(self, worker: int) -> Plan:
        """What a worker computes. Default: one part, the sum over the blocks that it stores."""
        raise NotImplementedError

    def order(self, active: list[int]) -> list[int]:
        """In which order workers get their tasks."""
        return active

    def begin(self, version: int) -> None:
        """Begins a round. version: of its point."""

    def receive(self, contribution: Contribution) -> Step | None:
        """Receives an answer. Returns the step that ends the round; None: wait on."""
        raise NotImplementedError

    def limit(self) -> float:
        """Seconds after which a round ends with what has come."""
        return float("inf")

    def expire(self) -> Step | None:
        """Ends a round whose time is up, with the step that its answers allow, if any."""
        return None

    def stepped(self, event: Any) -> None:
        """The step is done."""

    def mean(self, contributions: Sequence[Contribution]) -> Step:
        """Returns the step that is the mean over the samples of these contributions. For workers
        that store one block each."""
        return _quorate.mean(self._needs, contributions)


class Model:
    """A model: derive from it, and give the class to `simulate` or `run` as `model`.

    `loss_and_gradient` and `scores` get some rows at a time, at most `rows_at_once`: a matrix, or
    scipy's csr_matrix if the data are sparse. Of sparse data they see the columns that a worker's
    rows touch; then parameters must be as many for each column, in the order of columns, and behind
    them those that no column owns. Models are scored with `loss`; without it, with that of the
    data, logistic, softmax or squared. Either must be what `loss_and_gradient` returns. `loss_name`
    (logistic, hinge, squared-hinge, squared, softmax) chooses the loss and metrics of scores,
    whatever is trained.

    What is returned must follow from the arguments, and be sums over the rows. This is checked on
    two rows at the 1st, 2nd, 4th, 8th, ... gradient; if it is not so, BadInput is raised.
    """

    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    help: ClassVar[dict[str, str]] = {}
    rows_at_once: int = 256
    loss_name: str | None = None

    def parameters(self, columns: int) -> int:
        """How many parameters the model has for data of that many columns."""
        raise NotImplementedError

    def loss_and_gradient(self, X: Any, y: Floats, w: Floats) -> tuple[float, Floats]:
        """Returns the sums over the rows of the loss and of its gradient at w."""
        raise NotImplementedError

    def scores(self, X: Any, w: Floats) -> Floats:
        """Returns the scores of rows: one a row, or one for each class."""
        raise NotImplementedError

    def loss(self, scores: Floats, y: Floats) -> float:
        """Returns the sum of the losses of rows with these scores."""
        raise NotImplementedError

    def initial(self, columns: int, seed: int) -> Floats:
        """Returns the initial parameters. Default: zeros, or as the option init says."""
        raise NotImplementedError


class Optimizer:
    """An update rule: derive from it, and give the class as `optimizer`.

    memory: how many further vectors the rule keeps. They begin as zeros, `update` gets and changes
    them, and checkpoints keep them. A rule must not remember anything elsewhere: attributes that
    `update` changes raise BadInput, after the 1st, 2nd, 4th, ... update and before each checkpoint.
    """

    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    help: ClassVar[dict[str, str]] = {}
    memory: int = 0

    def update(self, w: Floats, gradient: Floats, step: float, *memory: Floats) -> Floats:
        """Returns the next parameters. The gradient has the L2 term; the L1 term comes after."""
        raise NotImplementedError


Definable = Scheme | Model | Optimizer
_BASES: dict[str, type[Definable]] = {"scheme": Scheme, "model": Model, "optimizer": Optimizer}
_DELAYS = ("delay", "row-delay", "uplink-delay", "downlink-delay", "slowdown")  # options
_TYPES = {int: "int", float: "float", bool: "bool", str: "str"}
_ARGUMENTS = {"int": "N", "float": "X", "bool": "", "str": "TEXT"}


def _keywords(make: Callable[..., Any], skipped: int, help: dict[str, str]) -> list[list[str]]:
    """The options of a constructor, as (name, argument, default, text, type)."""
    owner = getattr(make, "__name__", "a component")
    try:
        parameters = list(inspect.signature(make, eval_str=True).parameters.values())[skipped:]
    except NameError as error:
        raise BadInput(f"an annotation of {owner} cannot be read: {error}") from error
    rows = []
    for one in parameters:
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        kinds = [kind for kind in (one.annotation, type(one.default)) if kind in list(_TYPES)]
        if not kinds:
            raise BadInput(
                f"the parameter {one.name} of {owner} has no type that an option can have: annotate"
                " it with int, float, bool or str"
            )
        name, word = option_name(one.name), _TYPES[kinds[0]]
        if name in _options_of_runs():
            raise BadInput(
                f"the parameter {one.name} of {owner} is called like an option of runs: rename it"
            )
        if word == "bool" and one.default is True:
            raise BadInput(f"the switch {one.name} of {owner} is on by default: turn it round")
        default = "" if one.default in (one.empty, None, False) else text_of(one.name, one.default)
        text = help.get(one.name, f"a parameter of {owner}")
        rows.append([name, _ARGUMENTS[word], default, text, word])
    return rows


def _options_of_runs() -> set[str]:
    """Options that belong to runs and to no component."""
    own = {option[0] for row in _quorate.components() for option in row[5]}
    return {row[0] for row in _quorate.options("simulate")} - own


def _first_line(made: Any) -> str:
    return (inspect.getdoc(made) or "defined in Python").splitlines()[0].rstrip(".")


def _word(name: str) -> str:
    """ReallyFast is really-fast."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).strip("<>_").replace("_", "-").lower()


# The name of each object that was added, and the objects, so that none takes the place of another.
_names: dict[tuple[str, int], str] = {}
_added: list[Any] = []


def _unused(kind: str, word: str) -> str:
    """word, or word-2, ...: what is defined again gets a name of its own."""
    taken = {name for (known, _), name in _names.items() if known == kind}
    name, number = word, 1
    while name in taken:
        number += 1
        name = f"{word}-{number}"
    return name


def _register(
    kind: str, word: str, made: Any, make: Any, text: str, source: str, options: list[list[str]]
) -> str:
    name = _unused(kind, word)
    _quorate.add_component(kind, name, text, source, options, make)
    _names[kind, id(made)] = name
    _added.append(made)
    return name


def add(made: Any) -> str:
    """Adds a class of a scheme, model or optimiser, or a function of delays, to what options can
    name. Returns the name: that of the class in lower case, with a number if another one has it."""
    for (_, known), name in _names.items():
        if known == id(made):
            return name
    if isinstance(made, type):
        kinds = [word for word, base in _BASES.items() if issubclass(made, base)]
        if not kinds or not issubclass(made, Scheme | Model | Optimizer):
            raise BadInput(f"{made.__name__} is no scheme, model or optimiser: derive it from one")
        own = made if "__doc__" in vars(made) and made.__doc__ else None
        options = _keywords(made, 1 if kinds[0] == "scheme" else 0, made.help)
        word = vars(made).get("name") or _word(made.__name__)
        text = _first_line(own) if own else "defined in Python"
        return _register(kinds[0], word, made, made, text, made.source, options)
    if not callable(made):
        raise BadInput(f"{shown(made)} is no class and no function")
    word = _word(getattr(made, "__name__", type(made).__name__))
    return _register(
        "delay", word, made, lambda argument, machines: made, _first_line(made), "", []
    )


def _component(kind: str, which: Any, options: dict[str, Any]) -> Component:
    if isinstance(which, Component):
        return Component(kind, which.text, {**which.options, **options})
    if isinstance(which, str):
        return Component(kind, which, options)
    name = add(which)
    if kind in _BASES and not (isinstance(which, type) and issubclass(which, _BASES[kind])):
        raise BadInput(f"{shown(which)} is no {kind}")
    return Component(kind, name, options)


def scheme(which: str | type[Scheme], **options: Any) -> Component:
    """A scheme with its options: `q.scheme("agc", stragglers=2, collect=15)`."""
    return _component("scheme", which, options)


def model(which: str | type[Model], **options: Any) -> Component:
    """A model with its options."""
    return _component("model", which, options)


def optimizer(which: str | type[Optimizer], **options: Any) -> Component:
    """An optimiser with its options."""
    return _component("optimizer", which, options)


_arrays: dict[str, Floats] = {}


def _recorded(key: str, machines: int) -> Callable[[int, int, float], float]:
    if key not in _arrays:
        raise BadInput(f"the array of times {key} is not in this process: give the array again")
    times = _arrays[key]
    if len(times) < machines:
        raise BadInput(
            f"the array has times of {len(times)} workers, but there are {machines}: give"
            f" {machines} rows"
        )
    return lambda machine, draw, load: float(times[machine, draw % times.shape[1]])


def _digest(*arrays: Floats) -> str:
    digest = hashlib.sha256()
    for one in arrays:
        digest.update(repr(one.shape).encode() + np.ascontiguousarray(one).tobytes())
    return digest.hexdigest()[:12]


def delay(which: Any, *arguments: float) -> Component:
    """A delay model: a name with its arguments (`q.delay("exponential", 0.5)`), a function of
    (worker, draw, load) that returns seconds, the same whenever it is asked; or an array of
    seconds, workers x draws."""
    if isinstance(which, Component):
        return which
    if isinstance(which, str):
        for one in arguments:
            if not is_real(type(one)):
                raise BadInput(f"an argument of the delay {which} is {shown(one)}: give numbers")
        text = ",".join(f"{one:.17g}" for one in arguments)
        return Component("delay", f"{which}:{text}" if text else which)
    if callable(which):
        return Component("delay", add(which))
    if not hasattr(which, "__array__") and not isinstance(which, (list, tuple)):
        raise BadInput(f"a delay is {shown(which)}: give a name, a function or an array of seconds")
    times = reals(which, "delay")
    if times.ndim != 2 or not times.size or not np.isfinite(times).all() or (times < 0).any():
        raise BadInput(
            f"an array of times has the shape {times.shape}: give finite seconds, at least 0, with"
            " a row for each worker"
        )
    key = _digest(times)
    if not _arrays:
        _quorate.add_component("delay", "array", "times from an array of Python", "", [], _recorded)
    _arrays[key] = times
    return Component("delay", f"array:{key}", label="recorded times")


def delay_maker(name: str) -> Callable[..., Component]:
    """`q.exponential`, `q.pareto`, ...: the delay models of C++ as functions."""
    word = name.replace("_", "-")
    for kind, known, arguments, text, source, _ in _quorate.components():
        if kind == "delay" and known == word:

            def make(*values: float) -> Component:
                return delay(word, *values)

            make.__name__ = name
            make.__doc__ = f"{word}:{arguments}: {text}" + (f" [{source}]" if source else "")
            return make
    raise AttributeError(f"quorate has no {name}")


class _Code:
    """What C++ makes a gradient code of."""

    def __init__(self, matrix: Floats, collect: int | None, decode: Any) -> None:
        self.matrix, self.collect, self.decode = matrix, collect, decode


_codes: dict[str, _Code] = {}
_decoders: list[Any] = []


def _code(key: str) -> _Code:
    if key not in _codes:
        raise BadInput(f"the code {key} is not in this process: make it with quorate.code(B) first")
    return _codes[key]


def code(
    B: npt.ArrayLike,
    decode: Callable[[list[int]], npt.ArrayLike | None] | None = None,
    *,
    collect: int | None = None,
    label: str = "",
) -> Component:
    """A gradient code as a scheme.

    B: workers x partitions; worker i sends the sum over j of B[i, j] times the gradient of
    partition j. collect: answers that a round waits for; the weights are then those of least
    squares. Without it, a round ends as soon as the answers that have come give the exact gradient.
    decode: your decoder. It gets the workers that have answered, ascending, and returns a weight
    for each, or None to wait on. Its weights are tested: |B'a - 1|^2 is the round's decode_error,
    and without `collect` it must be 0. The same workers must give the same weights.
    """
    matrix = reals(B, "B")
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise BadInput(
            f"a code's matrix has the shape {matrix.shape}: give finite coefficients, workers x"
            " partitions"
        )
    if not _codes:
        _quorate.add_component("code", "code", "a matrix B of Python", "", [], _code)
    key = _digest(matrix, np.array([collect or 0.0]))
    if decode is not None:
        # Decoders are told apart by their number: what a function does has no digest.
        if decode not in _decoders:
            _decoders.append(decode)
        key += f"-{_decoders.index(decode) + 1}"
    number = len(_codes) + 1 if key not in _codes else list(_codes).index(key) + 1
    _codes[key] = _Code(matrix, collect, decode)
    return Component("scheme", f"code:{key}", label=label or f"own code {number}")


def component_of(name: str, value: Any) -> Component | None:
    """The component that an option's value is; None if it is a plain value."""
    if isinstance(value, Component):
        return value
    if name in _BASES and isinstance(value, type):
        return _component(name, value, {})
    if name in _DELAYS and not isinstance(value, str):
        return delay(value)
    if name == "scheme" and isinstance(value, np.ndarray):
        return code(value)
    return None


def options_of(keywords: Mapping[str, Any]) -> dict[str, str]:
    """Options by name. What is None keeps its default; components bring options of their own."""
    options: dict[str, str] = {}
    for keyword, value in keywords.items():
        if value is None:
            continue
        name = option_name(keyword)
        component = component_of(name, value)
        if component is None:
            options[name] = text_of(keyword, value)
            continue
        options[name] = component.text
        for own, chosen in component.options.items():
            options.setdefault(option_name(own), text_of(own, chosen))
    return options
