# SPDX-License-Identifier: BSD-2-Clause
"""The command line of `quorate analysis`."""

import argparse
import io
import sys
from collections.abc import Callable
from typing import TypeAlias

import pandas as pd

from ..parsing import Parser, unknown_option
from . import (
    compare,
    cost,
    diagnose,
    export,
    finals,
    price,
    report,
    rounds,
    sweep,
    tuning,
    watch,
    workers,
)
from .claim_command import add_claims
from .curves import target_of
from .figures import Plot, folder_of, refuse_file, save
from .groups import along, group, read_all, values
from .layout import split
from .look import PLAIN, look_of
from .numbers import number_of
from .refine import check_program, refine_option
from .tables import text
from .traces import BadInput, Trace


def count(word: str) -> int:
    if not word.isdigit() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"'{word}' is no count")
    return int(word)


def seconds(word: str) -> float:
    try:
        value = number_of(word)
    except ValueError:
        value = -1.0
    if not 0.05 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"'{word}' is no time from 50ms to 1h, as 2, 2s or 1min")
    return value


def write(plots: list[Plot], out: str, name: str = "") -> None:
    """Saves figures and prints their paths."""
    folder = folder_of(out)
    for plot in plots:
        plot.name = name or plot.name
        for path in save(plot, folder):
            if path.suffix != ".csv":
                print(path)


def read_given(given: argparse.Namespace) -> list[Trace]:
    """The traces that a command is given. What is no trace is noted, to be told at the end."""
    return read_all(given.traces, given.any_data, given.notes.append)


def run_compare(given: argparse.Namespace) -> None:
    axes = compare.axes_of(given.axes) if given.axes else []
    marks = [compare.mark_of(word) for word in given.mark]
    last = finals.metrics_of(given.final) if given.final else []
    targets = [target_of(word) for word in given.target]
    if marks and not given.out:
        raise BadInput("--mark: marks are drawn in figures: give --out DIR, or leave it out")
    how = look_of(given.log, given.limits, given.smooth)
    if how != PLAIN and not given.out:
        raise BadInput(
            "--log, --limits and --smooth are of figures: give --out DIR, or leave them out"
        )
    groups = group(read_given(given), given.base, given.by and [given.by])
    parts = split(groups, given.by)
    if given.out:
        axes = axes or compare.usual_axes(groups)
        if given.panel:
            figure = compare.panel(groups, axes, by=given.by, marks=marks, look=how)
            write([figure], given.out, given.name)
        else:
            write([compare.single(groups, axis, given.by, marks, how) for axis in axes], given.out)
        if given.quiet:
            return
        print()
    for value, some in parts:
        if given.by:
            print(f"{given.by} {value}")
        print(text(compare.table([g for g in some if g.traces], targets)))
        if last:
            print()
            print(text(finals.table([g for g in some if g.traces], last)))
    for line in compare.warnings(groups):
        print(line)


def run_sweep(given: argparse.Namespace) -> None:
    traces = read_given(given)
    quantities = given.what.split(",")
    for what in quantities:
        if what not in (*sweep.QUANTITIES, "time-to"):
            known = ", ".join([*sweep.QUANTITIES, "time-to"])
            raise BadInput(f"--what: '{what}' is not known: say some of {known}")
    if ("time-to" in quantities) != bool(given.target):
        raise BadInput("--what time-to and --target METRIC=VALUE go together: give both or neither")
    target = target_of(given.target) if given.target else None
    if given.best:
        values(traces, given.best)
    parts = [
        sweep.Sweep(
            group(traces, given.base, [*along(traces, option), given.best]),
            option,
            what,
            target if what == "time-to" else None,
            given.best,
        )
        for option in given.over.split(",")
        for what in quantities
    ]
    if given.out:
        write([sweep.plot(parts)], given.out, given.name)
        print()
    for i, part in enumerate(parts):
        name = [part.quantity[0]] if len(quantities) > 1 else []
        table = part.as_markdown() if given.markdown else text(part.table())
        print("\n" * (i > 0) + "\n".join([*name, table]))
    if given.markdown:
        return
    for line in compare.warnings(group(traces)):
        print(line)


def run_tune(given: argparse.Namespace) -> int:
    """1: some scheme has no best value."""
    check_program(given.refine)
    traces, target = read_given(given), target_of(given.target)
    if given.refine:
        found = tuning.refined(traces, given.option, target, given.refine)
    else:
        found = tuning.Tuning(traces, given.option, *target)
    if given.out:
        print(found.write(given.out, given.name))
        print()
    print(text(found.table()))
    for line in found.notes():
        print(line)
    return 1 if found.unknown else 0


def run_workers(given: argparse.Namespace) -> None:
    (trace,) = read_all([given.trace])
    work = workers.Work(trace, given.last, given.per_node)
    fit_plot, fits = workers.fitted(work)
    if given.out:
        write([*workers.plots(work, given.rounds), fit_plot], given.out)
        print()
    print(text(workers.table(work)))
    by_node = workers.node_table(work)
    for table in [by_node, fits]:
        if table is not None and len(table):
            print("\n" + text(table))


def run_diagnose(given: argparse.Namespace) -> None:
    found = diagnose.read(given.trace, given.last, given.per_node)
    if given.out:
        write([diagnose.plot(found)], given.out)
        print()
    tables = [diagnose.table, diagnose.parts_table, diagnose.worker_table, diagnose.node_table]
    for table in (make(found) for make in tables):
        if len(table):
            print(text(table) + "\n")
    for line in diagnose.findings(found):
        print(f"* {line}")


def run_rounds(given: argparse.Namespace) -> None:
    traces = read_given(given)
    groups = group(traces, given.base)
    plots: list[Plot] = []
    lines: list[str] = []
    if given.against:
        if len(traces) != 1:
            raise BadInput("--against takes one measured and one simulated trace")
        plot, lines = rounds.against(traces[0], read_all([given.against])[0])
        plots.append(plot)
    if given.out:
        write([rounds.panel(groups), rounds.distribution(groups), *plots], given.out)
        print()
    print(text(rounds.table(groups)))
    for line in lines + compare.warnings(groups):
        print(line)


def run_cost(given: argparse.Namespace) -> None:
    prices = price.prices_of(given.price)
    target = target_of(given.target) if given.target else None
    for option in ("target", "per_node"):
        if getattr(given, option) and not prices:
            raise BadInput(f"--{option.replace('_', '-')} needs --price, as 0.05/core-hour")
    groups = group(read_given(given), given.base)
    costs = [[cost.Cost(trace) for trace in one.traces] for one in groups]
    table = cost.table(groups, costs)
    if prices:
        money = [price.columns(one, prices, given.per_node, target) for one in groups]
        table = table[["scheme", "core-hours"]].join(pd.DataFrame(money))
    if given.out:
        write([cost.plot(groups, costs)], given.out)
        print()
    print(text(table))
    for one in groups:
        for trace in one.traces:
            line = cost.scheduler_line(trace)
            if line:
                print(line)


def run_report(given: argparse.Namespace) -> None:
    groups = group(read_given(given), given.base)
    print(report.Report(groups, folder_of(given.out)).write())


def run_export(given: argparse.Namespace) -> None:
    (trace,) = read_all([given.trace])
    folder = folder_of(given.out)
    for path in export.FORMATS[given.to](trace, folder):
        print(path)


def run_watch(given: argparse.Namespace) -> None:
    watch.watch(given.trace, given.every, given.once, given.panel)


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int | None],
    summary: str,
    many: bool = True,
) -> Parser:
    """Adds a command over a trace, or over many."""
    new = commands.add_parser(name, help=summary, description=summary)
    new.set_defaults(run=run)
    if not many:
        new.add_argument("trace")
        return new
    new.add_argument("traces", nargs="+")
    new.add_argument(
        "--any-data", action="store_true", help="compare runs of different data sets too"
    )
    new.add_argument(
        "--base",
        default="",
        metavar="SCHEME",
        help="what speed-ups are over [uncoded, else the first]",
    )
    return new


def per_node_option(new: Parser) -> None:
    new.add_argument(
        "--per-node",
        type=count,
        default=0,
        metavar="N",
        help="ranks 0 to N-1 are of one node, ...",
    )


def slow_options(new: Parser) -> None:
    new.add_argument(
        "--last",
        type=count,
        metavar="S",
        help="a worker is slow in a round if it is among the last S to answer "
        "[--stragglers of the run, else a tenth]",
    )
    per_node_option(new)


def add_report(commands: Commands) -> None:
    new = command(commands, "report", run_report, "one HTML page with everything, and its figures")
    new.add_argument("--out", metavar="DIR", default="report", help="its folder [report]")


def add_compare(commands: Commands) -> None:
    new = command(
        commands, "compare", run_compare, "table and curves: loss, accuracy, AUC, speed-up"
    )
    new.add_argument("--axes", help="what to draw, as loss:time,batch:round,compute:histogram")
    new.add_argument("--panel", action="store_true", help="all axes in one figure")
    new.add_argument("--out", metavar="DIR", help="folder for figures; without it the table only")
    new.add_argument("--name", default="compare", help="of the figure of --panel [compare]")
    new.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="METRIC=X",
        help="add the time until a metric is that good, as accuracy=0.9 or test-loss=0.2",
    )
    new.add_argument(
        "--final",
        metavar="METRIC,...",
        help="a table of these of the last models, means over seeds with intervals of 95 %%",
    )
    new.add_argument("--quiet", action="store_true", help="no table beside the figures")
    new.add_argument(
        "--by", default="", metavar="OPTION", help="panels and a table for each value, as delay"
    )
    new.add_argument(
        "--mark",
        action="append",
        default=[],
        metavar="SECONDS=TEXT",
        help="a line at a time, as that of a program that writes no traces",
    )
    new.add_argument("--log", default="", metavar="x|y|xy", help="scales that are logarithmic")
    new.add_argument(
        "--limits", default="", metavar="x=A:B,y=A:B", help="of scales; either end may be left out"
    )
    new.add_argument(
        "--smooth", type=int, default=1, metavar="N", help="a point of a curve is the mean of N [1]"
    )


def add_sweep(commands: Commands) -> None:
    new = command(commands, "sweep", run_sweep, "a number of each run along an option that varies")
    new.add_argument("--over", required=True, metavar="OPTION,...", help="as workers; a panel each")
    new.add_argument(
        "--what",
        default="round-time",
        metavar="QUANTITY,...",
        help=f"a panel each: {', '.join(sweep.QUANTITIES)}, or time-to: "
        "seconds until --target is reached [round-time]",
    )
    new.add_argument("--target", default="", metavar="METRIC=VALUE", help="as gap=1e-4")
    new.add_argument(
        "--best", default="", metavar="OPTION", help="at each place the runs with its best value"
    )
    new.add_argument("--out", metavar="DIR", help="folder for the figure; without it the table")
    new.add_argument("--name", default="sweep", help="of the figure [sweep]")
    new.add_argument(
        "--markdown", action="store_true", help="a table with the range over seeds, for a page"
    )


def add_tune(commands: Commands) -> None:
    new = command(commands, "tune", run_tune, "with which value of an option each scheme does best")
    new.add_argument("--option", default="step", metavar="OPTION", help="that was tried [step]")
    new.add_argument("--target", required=True, metavar="METRIC=VALUE", help="as test-loss=0.2")
    new.add_argument("--out", metavar="DIR", help="folder for NAME.tuned; without it the table")
    new.add_argument("--name", default="best", help="of that file [best]")
    refine_option(new)


def add_workers(commands: Commands) -> None:
    new = command(
        commands, "workers", run_workers, "who computed, waited, was cancelled, is slow", False
    )
    new.add_argument("--out", metavar="DIR", help="folder for figures; without it tables only")
    new.add_argument("--rounds", default="", metavar="A:B", help="of the timeline [1:20]")
    slow_options(new)


def add_diagnose(commands: Commands) -> None:
    new = commands.add_parser(
        "diagnose",
        help="what stragglers cost, who they are, what to do",
        description="What stragglers cost a run, who they are, and what to do about them.",
    )
    new.set_defaults(run=run_diagnose)
    new.add_argument("trace", metavar="TRACE|CSV", help="CSV: worker, round, seconds [, node]")
    new.add_argument("--out", metavar="DIR", help="folder for the figure; without it tables only")
    slow_options(new)


def add_rounds(commands: Commands) -> None:
    new = command(
        commands, "rounds", run_rounds, "time of rounds against what is expected, and their parts"
    )
    new.add_argument("--out", metavar="DIR", help="folder for figures; without it the table only")
    new.add_argument("--against", metavar="TRACE", help="the same run under the other clock")


def add_cost(commands: Commands) -> None:
    new = command(
        commands, "cost", run_cost, "core-hours, idle share, redundant work, bytes; in money"
    )
    new.add_argument("--out", metavar="DIR", help="folder for the figure; without it the table")
    new.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="[NAME=]X/core-hour",
        help="cost in money, by core-hour or machine-hour; several: spot=0.015/core-hour",
    )
    new.add_argument("--target", default="", metavar="METRIC=VALUE", help="and to it, as gap=1e-4")
    per_node_option(new)


def add_export(commands: Commands) -> None:
    new = command(
        commands, "export", run_export, "CSV, a timeline for Perfetto, or for trackers", False
    )
    new.add_argument("--to", choices=list(export.FORMATS), default="csv", help="[csv]")
    new.add_argument("--out", metavar="DIR", default=".", help="folder [.]")


def add_watch(commands: Commands) -> None:
    new = commands.add_parser(
        "watch",
        help="a run that goes on elsewhere, in one line",
        description="A run that goes on elsewhere, in one line of the terminal, from its trace.",
    )
    new.set_defaults(run=run_watch)
    new.add_argument(
        "trace",
        metavar="TRACE|MANIFEST|FOLDER",
        help="of a manifest the runs that go on, of a folder of runs the newest",
    )
    new.add_argument("--every", type=seconds, default=2.0, metavar="S", help="[2]")
    new.add_argument("--once", action="store_true", help="show it once")
    new.add_argument("--panel", action="store_true", help="more lines, with curves")


def parser() -> Parser:
    top = Parser(prog="quorate analysis", description="From traces to figures, tables and reports.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (
        add_report,
        add_compare,
        add_sweep,
        add_claims,
        add_tune,
        add_workers,
        add_diagnose,
        add_rounds,
        add_cost,
        add_export,
        add_watch,
    ):
        add(commands)
    top.commands = commands.choices
    return top


def main(words: list[str] | None = None) -> int:
    top = parser()
    words = sys.argv[1:] if words is None else words
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # names of files need not be UTF-8
    try:
        if wrong := unknown_option(top, words):
            raise BadInput(wrong)
        given = top.parse_args(words)
        given.notes = []
        if getattr(given, "out", None):
            refuse_file(given.out)
        status = given.run(given) or 0
        for note in given.notes:
            print(f"quorate analysis: {note}", file=sys.stderr)
    except BadInput as error:
        print(f"quorate analysis: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return int(status)
