# SPDX-License-Identifier: BSD-2-Clause
"""Traces that differ only in their seeds are one configuration."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from .numbers import number_of
from .tables import brief
from .traces import BadInput, NoTrace, Trace, read_trace, shown

# Options that say where and how long a run goes on, not what it computes.
INCIDENTAL = (
    "checkpoint checkpoint-every config coordinator-threads data evaluate evaluate-every log"
    " manifest overwrite quiet resume row seed stop-before threads timeout trace"
    " trace-arrivals trace-weights transport verbose walltime workers"
).split()
MOST_WORDS = 4  # options in a label
LENGTHS = ("rounds", "stop-at", "patience")
RULE = ("optimizer", "schedule", "step")  # each scheme has its own where none is given
# Options in which two runs may differ and still be compared.
UNPAIRED = ("scheme", *RULE, *LENGTHS)


@dataclass
class Group:
    """Runs of one configuration, in the order of their seeds."""

    label: str
    traces: list[Trace]
    # What its speed-ups are over: itself, or the runs of the base that agree with it in all other
    # options; None: there are none, or several.
    base: "Group | None" = field(default=None, repr=False, compare=False)

    @property
    def first(self) -> Trace:
        return self.traces[0]

    def where(self, option: str, value: str) -> "Group":
        """Its runs in which an option has a value; there may be none. So has its base, unless it
        has no such option."""
        found = Group(self.label, [t for t in self.traces if value_of(t, option) == value])
        if self.base is self:
            found.base = found
        elif self.base and all(value_of(t, option) is None for t in self.base.traces):
            found.base = self.base
        elif self.base:
            theirs = self.base.where(option, value)
            found.base = theirs if theirs.traces else None
        return found

    @property
    def seeds(self) -> list[int]:
        return [trace.seed for trace in self.traces]

    @property
    def name(self) -> str:
        """The label, with a word about runs that are not whole or went wrong."""
        words = []
        if not self.first.dry and not all(trace.evaluated for trace in self.traces):
            words.append("estimate")
        return with_words(self.label, words + self.troubles)

    @property
    def troubles(self) -> list[str]:
        words = sorted({t.status for t in self.traces if t.status != "completed"})
        words += ["diverged"] if any(t.diverged for t in self.traces) else []
        return words + lost(self.traces)


def lost(traces: Sequence[Trace]) -> list[str]:
    """A word about runs in which workers died: how many, of several runs which share of them."""
    counts = [trace.lost for trace in traces if trace.lost]
    if not counts:
        return []
    most = f"{counts[0]} worker{'s' if counts[0] > 1 else ''}"
    if len(set(counts)) > 1:
        most = f"{min(counts)} to {max(counts)} workers"
    runs = "" if len(counts) == len(traces) else f" in {len(counts)} of {len(traces)} runs"
    return [f"lost {most}{runs}"]


def with_words(label: str, words: Sequence[str]) -> str:
    """A label with more words in its brackets."""
    if not words:
        return label
    more = ", ".join(words)
    return f"{label[:-1]}, {more})" if label.endswith(")") else f"{label} ({more})"


def options(trace: Trace) -> dict[str, str]:
    """What makes the configuration of a run, its seed aside."""
    chosen = {k: v for k, v in trace.config.items() if k not in INCIDENTAL}
    attributes = trace.attributes
    return {
        **chosen,
        "scheme": trace.scheme,
        "workers": str(trace.workers),
        "data": f"{attributes['data']} {attributes['rows']} x {attributes['columns']}",
        "clock": trace.clock,
    }


def micro_batches(trace: Trace) -> str | None:
    """Into how many pieces a worker divides its share of the round's samples."""
    most, piece = (trace.config.get(name) for name in ("samples-cap", "micro-batch"))
    if not most or not piece or most == "none":
        return None
    return str(ceil(int(most) / trace.workers / int(piece)))


# What follows from options, and the option of which it takes the place.
DERIVED = {"micro-batches": ("micro-batch", micro_batches)}


def value_of(trace: Trace, option: str) -> str | None:
    """The value of any option of a run, the seed and other incidental ones included."""
    if option in DERIVED:
        return DERIVED[option][1](trace)
    return options(trace).get(option, trace.config.get(option))


def values(traces: Sequence[Trace], option: str) -> list[str]:
    """The values of an option: numbers ascending, else in the order of the traces.

    Raises BadInput if no run has the option.
    """
    given = [value_of(trace, option) for trace in traces]
    found = list(dict.fromkeys(value for value in given if value is not None))
    if not found:
        known = ", ".join(sorted({n for t in traces for n in {**t.config, **options(t)}}))
        raise BadInput(f"no run has the option '{option}': say one of {known}")
    try:
        return sorted(found, key=number_of)
    except ValueError:
        return found


def along(traces: Sequence[Trace], option: str) -> list[str]:
    """The option, and others that go along: at each of its values all runs have one of theirs.
    Schemes are told apart always."""
    if option in DERIVED:  # what it follows from may go along by chance
        return [option, DERIVED[option][0]]
    found: dict[str, dict[str | None, str | None]] = {}
    mixed = set()
    for trace in traces:
        place = value_of(trace, option)
        for name in options(trace):
            value = value_of(trace, name)
            if found.setdefault(name, {}).setdefault(place, value) != value:
                mixed.add(name)
    every = set.intersection(*[set(options(trace)) for trace in traces])
    return [option, *sorted(every - mixed - {option, "scheme"})]


def follows(option: str, others: Sequence[str], traces: Sequence[Trace]) -> bool:
    """Whether some runs lack an option, as the layers of a network, and the value of another one,
    as the model, says which they are and what the others have."""
    own = [value_of(trace, option) for trace in traces]
    if None not in own:
        return False
    for other in others:
        pairs = set(zip([value_of(trace, other) for trace in traces], own))
        if len(pairs) == len({value for value, _ in pairs}):
            return True
    return False


def labels(traces: Sequence[Trace], but: Sequence[str] = ()) -> list[str]:
    """A label for each trace: its scheme, and every option (`but` aside) in which it differs from
    another one: of the same scheme, or of any if all have it. Where these are many, or none, the
    file's name, or its path."""
    every = differing(traces, set.intersection(*[set(options(trace)) for trace in traces]), but)
    names_of: dict[str, list[str]] = {}  # by scheme, in whose runs they are alike
    found = []
    for trace in traces:
        if trace.scheme not in names_of:
            same = [other for other in traces if other.scheme == trace.scheme]
            own = differing(same, set().union(*[options(other) for other in same]), but)
            more = [n for n in own if n not in every and not follows(n, every, same)]
            names_of[trace.scheme] = [*every, *more]
        names = names_of[trace.scheme]
        words = ", ".join(worded(name, value_of(trace, name)) for name in names)
        many = len(names) > MOST_WORDS
        found.append((trace.scheme, file_name(trace, traces) if many else words))
    again = {label for label in found if found.count(label) > 1}
    told = [
        (scheme, file_name(trace, traces) if (scheme, words) in again else words)
        for trace, (scheme, words) in zip(traces, found)
    ]
    return [f"{scheme} ({words})" if words else scheme for scheme, words in told]


def file_name(trace: Trace, traces: Sequence[Trace]) -> str:
    """The name of a trace's file without its ending; its path where others have that name."""
    stems = [Path(other.name).stem for other in traces]
    alone = stems.count(Path(trace.name).stem) == 1
    return Path(trace.name).stem if alone else shown(str(trace.path))


def differing(traces: Sequence[Trace], known: Iterable[str], but: Sequence[str]) -> list[str]:
    """The options of these in which traces differ, the clock first."""
    names = [n for n in known if n not in (*but, *LENGTHS, "scheme")]
    chosen = [options(trace) for trace in traces]
    differ = [n for n in names if len({one.get(n) for one in chosen}) > 1]
    return sorted(differ, key=lambda n: (n != "clock", n))


def worded(name: str, value: str | None) -> str:
    if value is None:
        return f"without {name}"
    if value == "on":
        return name
    return value if name == "clock" else f"{name} {brief(value)}"


def group(traces: Sequence[Trace], base: str = "", but: Sequence[str] = ()) -> list[Group]:
    """The configurations, in the order of their first traces; the base of speed-ups goes first.
    Runs that differ in the options `but` only are one.

    The base is the one with that label, or those of that scheme; else `uncoded`, if it is there;
    else the scheme of the first. Raises BadInput.
    """
    found: dict[tuple[tuple[str, str], ...], list[list[Trace]]] = {}
    for trace in traces:
        chosen = {name: value for name, value in options(trace).items() if name not in but}
        alike = found.setdefault(tuple(sorted(chosen.items())), [])
        # Data sets of one name and size may be several.
        for same in alike:
            if all(trace.on_same_data(other.attributes) for other in same):
                same.append(trace)
                break
        else:
            alike.append([trace])
    every = [same for alike in found.values() for same in alike]
    members = [sorted(same, key=lambda trace: trace.seed) for same in every]
    names = labels([same[0] for same in members], but)
    groups = [Group(label, same) for label, same in zip(names, members)]
    bases = [g for g in groups if g.label == base] or of_scheme(groups, base or "uncoded")
    if base and not bases:
        raise BadInput(f"--base: there is no '{base}': say one of {', '.join(names)}")
    bases = bases or of_scheme(groups, groups[0].first.scheme)
    for one in groups:
        one.base = one if any(b is one for b in bases) else partner(one, bases, but)
    return sorted(groups, key=lambda g: g is not bases[0])


def of_scheme(groups: Sequence[Group], scheme: str) -> list[Group]:
    return [group for group in groups if group.first.scheme == scheme]


def partner(one: Group, bases: Sequence[Group], but: Sequence[str]) -> Group | None:
    """The base that agrees with a configuration in all options but those of UNPAIRED; of several
    the one that agrees in the optimiser, the schedule and the step, too. None, if it is not one."""
    found = [base for base in bases if agree(base.first, one.first, (*but, *UNPAIRED))]
    for name in RULE:
        same = [b for b in found if value_of(b.first, name) == value_of(one.first, name)]
        found = same or found
    return found[0] if len(found) == 1 else None


def agree(one: Trace, other: Trace, but: Sequence[str]) -> bool:
    """Whether two runs have the same value of all options that both have, `but` aside."""
    mine, theirs = options(one), options(other)
    same = one.on_same_data(other.attributes)
    return same and all(mine[n] == theirs[n] for n in (mine.keys() & theirs.keys()) - {*but})


def same_data(traces: Sequence[Trace]) -> None:
    """Raises BadInput if two traces are of different data sets."""
    first = None
    for trace in traces:
        if trace.dry:
            continue
        key = [trace.attributes.get(n) for n in ("data", "rows", "test_rows", "columns")]
        if first is None:
            first = (key, trace)
        elif key != first[0]:
            raise BadInput(
                f"{trace.path} is of data set {key[0]} ({key[1]} x {key[3]}), {first[1].path} of "
                f"{first[0][0]} ({first[0][1]} x {first[0][3]}): give --any-data to compare them"
            )
        elif not trace.on_same_data(first[1].attributes):
            raise BadInput(
                f"{trace.path} and {first[1].path} are of two data sets {key[0]} "
                f"({key[1]} x {key[3]}) whose contents differ: give --any-data to compare them"
            )


def read_all(
    paths: Sequence[str], any_data: bool = False, note: Callable[[str], object] = print
) -> list[Trace]:
    """Reads traces that have rounds and go together. Of several files those that are no traces, or
    that hold no round yet, are left out with a note, as `runs/*` may name some. Raises BadInput.
    """
    traces, left_out = [], []
    for path in paths:
        try:
            trace = read_trace(path)
            if trace.rounds == 0:
                raise NoTrace(f"{trace.path} holds no round yet: nothing to show")
            traces.append(trace)
        except NoTrace:
            if len(paths) == 1:
                raise
            left_out.append(str(path))
    if not traces:
        raise BadInput(f"none of {', '.join(left_out)} is a trace with rounds: nothing to show")
    if left_out:
        note(f"left out, no traces with rounds: {', '.join(left_out)}")
    if not any_data:
        same_data(traces)
    return traces


def caption(traces: Sequence[Trace]) -> str:
    """What the traces have in common, as far as they agree."""

    def common(name: str) -> str:
        values = {str(trace.attributes[name]) for trace in traces}
        return values.pop() if len(values) == 1 else ""

    parts = []
    if all(common(name) for name in ("data", "rows", "columns")):
        parts.append(f"{common('data')}, {common('rows')} x {common('columns')}")
    if common("workers"):
        parts.append(f"{common('workers')} workers")
    if common("optimizer") and not traces[0].dry:
        parts.append(common("optimizer"))
    if common("delay"):
        parts.append(f"delay {brief(common('delay'))}")
    return "; ".join(parts)
