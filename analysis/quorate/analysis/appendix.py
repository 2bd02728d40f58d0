# SPDX-License-Identifier: BSD-2-Clause
"""The page of a report for the appendix of a paper: what was run, with what, and how again."""

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import pandas as pd

from . import compare
from .groups import INCIDENTAL, Group, value_of
from .page import Page
from .traces import Trace

LIBRARIES = ("h5py", "numpy", "pandas", "matplotlib")  # of the analysis
# Attributes that the options do not tell, and what they are called here.
SETTING = {
    "data": "data set",
    "rows": "training rows",
    "test_rows": "test rows",
    "columns": "columns",
    "model": "model",
    "l2": "L2",
    "l1": "L1",
    "optimizer": "optimiser",
    "workers": "workers",
    "rounds": "rounds asked for",
    "delay": "injected delay",
    "slowdown": "injected slowdown",
    "wire": "numbers on the wire",
    "aggregate": "contributions added up",
    "clock": "clock",
}
MACHINE = {"cluster": "cluster", "host": "coordinator's host", "nodes": "workers' hosts"}
SOFTWARE = {"quorate_version": "version", "git_revision": "revision", "plugins": "plugins"}


def page(groups: Sequence[Group]) -> Page:
    """Setting, results, seeds, machine, software and commands of these runs."""
    traces = [trace for group in groups for trace in group.traces]
    made = Page("Experimental details")
    made.section("Setting")
    made.text("What all runs have in common.")
    made.table("Setting of all runs", two_columns(common(traces)), plain=True)
    if len(groups) > 1:
        made.text("In what the configurations differ; all other options are the same.")
    made.table("Configurations", configurations(groups), plain=True)
    made.section("Results")
    made.text(
        "Means over seeds. Speed-ups are geometric means over pairs of runs with the same seed, "
        "with 95 % bootstrap intervals over the pairs where there are two or more."
    )
    made.table("Means over seeds", compare.table(groups))
    made.items(compare.warnings(groups))
    made.section("Machine")
    machine = two_columns({**of_attributes(traces, MACHINE), **jobs(traces)})
    made.table("Where the runs were made", machine, plain=True)
    made.section("Software")
    software = two_columns({**of_attributes(traces, SOFTWARE), **of_analysis()})
    made.table("Versions", software, plain=True)
    for number, libraries in enumerate(values(traces, "libraries")):
        made.text("What the program was built with" + (f" ({number + 1})" if number else "") + ":")
        made.code(libraries)
    made.section("Commands")
    made.code("\n".join(dict.fromkeys(str(t.attributes.get("command_line", "")) for t in traces)))
    made.text(
        "Every option, defaults included, is in the attribute config of each trace, which --config "
        "reads: " + ", ".join(trace.name for trace in traces)
    )
    return made


def values(traces: Sequence[Trace], attribute: str) -> list[str]:
    """The different values of an attribute, in the order of the traces."""
    return list(dict.fromkeys(str(trace.attributes.get(attribute, "")) for trace in traces))


def of_attributes(traces: Sequence[Trace], names: dict[str, str]) -> dict[str, str]:
    """Those that are there; several values are told one behind the other."""
    found = {text: ", ".join(filter(None, values(traces, name))) for name, text in names.items()}
    return {text: value for text, value in found.items() if value}


def jobs(traces: Sequence[Trace]) -> dict[str, str]:
    return of_attributes(traces, {"scheduler_job_id": "jobs"})


def of_analysis() -> dict[str, str]:
    """What has made the numbers and figures."""
    found = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue  # imported from where no package manager has put it
    return {"analysis": ", ".join(found)}


def option_names(traces: Sequence[Trace]) -> list[str]:
    names = sorted({name for trace in traces for name in trace.config})
    return [name for name in names if name not in INCIDENTAL]


def common(traces: Sequence[Trace]) -> dict[str, str]:
    """Attributes and options that have one value in all runs."""
    found: dict[str, str] = {}
    for name, text in SETTING.items():
        of_all = values(traces, name)
        if len(of_all) == 1 and of_all[0]:
            found[text] = of_all[0]
    for name in option_names(traces):
        given = {value_of(trace, name) for trace in traces}
        value = given.pop()
        if not given and value is not None and name not in SETTING:
            found[f"--{name}"] = value
    return found


def configurations(groups: Sequence[Group]) -> pd.DataFrame:
    """A row for each: its options that others have not, and its seeds."""
    firsts = [group.first for group in groups]
    names = [n for n in option_names(firsts) if len({value_of(t, n) for t in firsts}) > 1]
    lines = []
    for group in groups:
        own = {name: value_of(group.first, name) for name in names if name != "scheme"}
        done = sorted({trace.rounds for trace in group.traces})
        lines.append(
            {
                "configuration": group.name,
                "options": " ".join(f"--{k} {v}" for k, v in own.items() if v is not None) or "-",
                "workers": ", ".join(dict.fromkeys(str(t.workers) for t in group.traces)),
                "rounds": ", ".join(map(str, done)),
                "runs": str(len(group.traces)),
                "seeds": ", ".join(map(str, group.seeds)),
            }
        )
    return pd.DataFrame(lines)


def two_columns(rows: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame({"what": list(rows), "value": list(rows.values())})
