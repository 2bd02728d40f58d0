# SPDX-License-Identifier: BSD-2-Clause
"""report: one page with everything, and the files behind its figures."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from . import appendix, compare, cost, diagnose, rounds, workers
from .files import write_whole
from .figures import Plot, Saver
from .groups import Group, caption
from .observed import of_work
from .page import Page
from .spoken import spoken
from .tables import number
from .traces import BadInput, Trace
from .whatif import Diagnosis
from .workers import Work

MOST_WORKERS = 8  # configurations whose workers are shown
APPENDIX = "appendix.html"
MOST_ROWS = 40  # of a table of workers


def runs(traces: Sequence[Trace]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "trace": trace.name,
                "scheme": trace.scheme,
                "seed": str(trace.seed),
                "workers": str(trace.workers) + (f", {trace.lost} lost" if trace.lost else ""),
                "clock": trace.clock,
                "status": trace.status + (", diverged" if trace.diverged else ""),
                "rounds": f"{trace.rounds} of {trace.attributes.get('rounds', '?')}",
                "time (s)": number(trace.time, 3),
                "host": str(trace.attributes.get("host", "")),
                "job": str(trace.attributes.get("scheduler_job_id", "")) or "-",
                "revision": str(trace.attributes.get("git_revision", "")),
            }
            for trace in traces
        ]
    )


def file_name(words: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-")


class Report:
    """A page that is written into a folder with its figures."""

    def __init__(self, groups: Sequence[Group], folder: Path) -> None:
        self.groups = groups
        self.traces = [trace for group in groups for trace in group.traces]
        self.folder = folder
        self.saver = Saver(folder)
        schemes = list(dict.fromkeys(group.first.scheme for group in groups))
        self.page = Page("Quorate: " + ", ".join(schemes))

    def add(self, plot: Plot, prefix: str = "") -> None:
        """Saves a figure and puts it into the page."""
        plot.name = file_name(f"{prefix}-{plot.name}")
        png = self.saver.add(plot)
        self.page.figure(plot.title, plot.text, spoken(plot), png)

    def write(self) -> Path:
        self.page.text(caption(self.traces))
        self.overview()
        self.rounds()
        self.cost()
        self.workers()
        self.provenance()
        appendix_page = appendix.page(self.groups).html()
        to_print = self.folder / APPENDIX
        write_whole(to_print, lambda part: part.write_text(appendix_page, encoding="utf-8"))
        self.saver.wait()
        path = self.folder / "index.html"
        html = self.page.html()
        return write_whole(path, lambda part: part.write_text(html, encoding="utf-8"))

    def overview(self) -> None:
        self.page.section("Comparison")
        self.page.table("Means over seeds", compare.table(self.groups))
        self.page.items(compare.warnings(self.groups))
        try:
            axes = compare.usual_axes(self.groups)
        except BadInput:
            axes = [("round", "time")]  # times only
        self.add(compare.panel(self.groups, axes))
        if len(self.groups) > 1:
            self.add(compare.speedup_plot(self.groups))
        targets = compare.all_targets(self.groups)
        if targets:
            self.page.heading("Time and rounds to targets")
            self.page.table("To each target", compare.target_table(self.groups, targets))
            self.page.text(
                "Targets are half, 90 % and 99 % of the way that all configurations go; times are "
                "means of the runs that reached them, speed-ups are of pairs with the same seed."
            )

    def rounds(self) -> None:
        self.page.section("Rounds")
        self.page.table("Times and answers of rounds", rounds.table(self.groups))
        self.add(rounds.panel(self.groups))
        self.add(rounds.distribution(self.groups))
        for measured, simulated in twins(self.traces):
            plot, _ = rounds.against(measured, simulated)
            self.add(plot, measured.path.stem)

    def cost(self) -> None:
        self.page.section("Cost")
        costs = [[cost.Cost(trace) for trace in group.traces] for group in self.groups]
        self.page.table("Work and cost, means over seeds", cost.table(self.groups, costs))
        self.add(cost.plot(self.groups, costs))
        lines = [cost.scheduler_line(trace) for trace in self.traces]
        self.page.items([line for line in lines if line])

    def workers(self) -> None:
        for group in self.groups[:MOST_WORKERS]:
            self.page.section(f"Workers: {group.label}")
            try:
                work = Work(group.first)
            except BadInput as error:
                self.page.text(str(error))
                continue
            if len(group.traces) > 1:
                self.page.text(f"Of seed {group.first.seed}, the first of {len(group.traces)}.")
            self.diagnosis(work, group.label)
            fit_plot, fits = workers.fitted(work)
            for plot in [*workers.plots(work), fit_plot]:
                self.add(plot, group.label)
            self.page.table(f"Fitted delay models: {group.label}", fits)
            table = workers.table(work)
            if len(table) <= MOST_ROWS:
                self.page.table(f"Each worker: {group.label}", table)
        if len(self.groups) > MOST_WORKERS:
            left = ", ".join(group.label for group in self.groups[MOST_WORKERS:])
            self.page.text(f"Workers of these are not shown: {left}")

    def diagnosis(self, work: Work, label: str) -> None:
        try:
            found = Diagnosis(of_work(work))
        except BadInput as error:
            self.page.text(str(error))
            return
        self.page.items(diagnose.findings(found))
        for title, table in (
            ("Who delays the rounds", diagnose.table(found)),
            ("What the rounds consist of", diagnose.parts_table(found)),
            ("Nodes", diagnose.node_table(found)),
        ):
            self.page.table(f"{title}: {label}", table)
        self.add(diagnose.plot(found), label)

    def provenance(self) -> None:
        self.page.section("Runs")
        self.page.table("All runs", runs(self.traces))
        self.page.attach(
            "For a paper's appendix, a page of setting, seeds, software and commands",
            self.folder / APPENDIX,
        )
        for trace in self.traces:
            attributes = trace.attributes
            words = [str(attributes.get(n, "")) for n in ("command_line", "config", "libraries")]
            self.page.fold(trace.name, "\n\n".join(words))


def twins(traces: Sequence[Trace]) -> list[tuple[Trace, Trace]]:
    """Pairs of a measured and a simulated trace of the same run."""
    found: list[tuple[Trace, Trace]] = []
    for measured in traces:
        for simulated in traces:
            if measured.clock == "wall" and simulated.clock != "wall":
                if simulated.time > 0 and not rounds.difference(measured, simulated):
                    found.append((measured, simulated))
                    break
    return found[:MOST_WORKERS]
