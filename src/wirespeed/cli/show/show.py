# SPDX-License-Identifier: Apache-2.0
"""Print a run as a table, or write it as a report file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from wirespeed.cli.console import FILE_WIDTH, Text, print_paragraph
from wirespeed.cli.output_file import check_file, check_folder, write_output
from wirespeed.cli.show.detail import Detail
from wirespeed.cli.typed import typed
from wirespeed.model.errors import WirespeedError
from wirespeed.model.words import NONE
from wirespeed.report.charts.effects import effect_drawings
from wirespeed.report.charts.latency import latency_charts
from wirespeed.report.charts.run import run_charts
from wirespeed.report.charts.search import search_chart
from wirespeed.report.charts.svg import line_svg, search_svg
from wirespeed.report.charts.timeline import timeline_chart
from wirespeed.report.charts.timeline_svg import timeline_svg
from wirespeed.report.charts.waterfall import waterfall_svg
from wirespeed.report.compare.effects import effect_words, factor_groups
from wirespeed.report.page.html import html_report
from wirespeed.report.papers.beside import beside_published, counts, panels
from wirespeed.report.papers.interface import Beside
from wirespeed.report.text.grades import BETTER_GRADE, could_be_better
from wirespeed.report.text.junit import junit_xml
from wirespeed.report.text.summary import meaning, missed_placements, summary_lines, view_lines
from wirespeed.report.text.things_to_change import change_line, things_to_change
from wirespeed.report.views.emulated_tcp import offload_direction
from wirespeed.report.views.tcp import offload_gains, tcp_points
from wirespeed.report.views.thresholds import Judged, Verdict
from wirespeed.report.views.waterfall import waterfall_table, waterfalls
from wirespeed.report.views.workloads import by_view, frames_of
from wirespeed.store.records import PointRecord, RunRecord

# Changes of a summary that fits a screen.
_CHANGES = 3


def print_results(
    run: RunRecord,
    console: Console,
    html: Path | None = None,
    *,
    judged: Sequence[Judged] = (),
    detail: Detail = Detail.NORMAL,
    store: str | None = None,
) -> None:
    """Print the table of results, what to change, and where to read more.

    judged: its points by thresholds. html: where the report is. store: as --store named it.
    """
    verbose, frames = detail is Detail.VERBOSE, frames_of(run)
    if frames:
        _print_table(summary_lines(run, console.width, verbose=verbose), console)
    for view, points in by_view(run):
        _print_table(view_lines(view, points, console.width), console)
    if detail is Detail.QUIET:
        return
    if verbose and (words := meaning(run)):
        print_paragraph(words, console, style="dim")
    for sentence in missed_placements(run):
        print_paragraph(sentence, console, style="yellow")
    _print_gains(tcp_points(run), console)
    print_thresholds(judged, console)
    _print_changes(run, console, whole=verbose)
    _print_effects(run, console)
    _print_paper(run, console, whole=verbose)
    console.print()
    if could_be_better(run):
        print_paragraph(BETTER_GRADE, console)
    if any(p.result and not p.result.conformant for p in frames):
        message = "Not RFC 2544 conformant: that needs whole trials of 60 s on a quiet host."
        print_paragraph(message, console, style="yellow")
    full = typed("report", run.id, store=store) if html is None else str(html.absolute())
    console.print(f"Report:  {full}", soft_wrap=True)
    console.print(f"Details: {typed('explain', run.id, store=store)}", soft_wrap=True)


def _print_table(lines: Sequence[str], console: Console) -> None:
    heading, *rows = lines
    console.print(heading, style="bold", soft_wrap=True)
    for row in rows:
        console.print(row, soft_wrap=True)


def _print_gains(points: tuple[PointRecord, ...], console: Console) -> None:
    """Print what offloads and steps of tuning gain in TCP throughput."""
    for gain in offload_gains(points):
        factor = NONE if gain.factor is None else f"{gain.factor:.1f}x"
        console.print(f"Offloads gain {factor}: {gain.what}", soft_wrap=True)
    if (direction := offload_direction(points)) is not None:
        print_paragraph(direction, console)
    for waterfall in waterfalls(points):
        console.print(waterfall_table(waterfall))


def _print_changes(run: RunRecord, console: Console, *, whole: bool) -> None:
    """Print a line for each of the first changes, cut where the console is narrow.

    whole: every change, not cut.
    """
    if not (changes := things_to_change(run)):
        return
    shown = changes if whole else changes[:_CHANGES]
    known = any(change.gain is not None for change in changes)
    order = "the largest expected gain first" if known else "measure a gain by explain --try"
    console.print(f"\nTo change, {order}:", style="bold", soft_wrap=True)
    for number, change in enumerate(shown, start=1):
        first = f"  {number}. "
        text = change_line(change, run, None if whole else console.width - len(first))
        print_paragraph(text, console, first=first, width=FILE_WIDTH)
    if more := len(changes) - len(shown):
        console.print(f"  {more} more in the report.", soft_wrap=True)


def _print_effects(run: RunRecord, console: Console) -> None:
    for group in factor_groups(run):
        console.print(f"\n{group.name}, {group.quantity}:", style="bold", soft_wrap=True)
        for effect in group.named:
            console.print(f"  {effect_words(effect)}", soft_wrap=True)


def _print_paper(run: RunRecord, console: Console, *, whole: bool) -> None:
    if (paper := beside_published(run)) is None:
        return
    print_agreement(paper, console, whole=whole)
    if not whole:
        return
    for row, why in paper.without.items():
        console.print(f"  no point: {row}: {why}.", style="dim", soft_wrap=True)


def print_agreement(paper: Beside, console: Console, *, whole: bool = True) -> None:
    """Print how rates compare with a paper. whole: each sentence, not their number alone."""
    heading = f"\nNext to {paper.source.cite}: {counts(paper)}"
    console.print(heading, style="bold", soft_wrap=True)
    for one in paper.said if whole else ():
        console.print(f"  {one.agreement}: {one.text}", soft_wrap=True)


def print_thresholds(judged: Sequence[Judged], console: Console) -> None:
    """Print each threshold at each point that it names, with its verdict."""
    if not judged:
        return
    console.print("\nThresholds:", style="bold", soft_wrap=True)
    for one in judged:
        style = "green" if one.verdict is Verdict.MET else "red"
        console.print(Text(f"  {one}", style=style), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Files:
    """Reports that are written as files; None for none."""

    html: Path | None = None
    junit: Path | None = None

    def check(self) -> None:
        """Raise BadInput where a file of such a name cannot be written."""
        for path in (self.html, self.junit):
            if path is not None:
                check_file(path)

    def write(self, run: RunRecord, judged: Sequence[Judged], store: str | None) -> None:
        """Write them. store: as --store named it. Raises WirespeedError, BadInput."""
        self.check()
        if self.html is not None:
            _write_whole(run, self.html, html_report(run, judged), store)
        if self.junit is not None:
            _write_whole(run, self.junit, junit_xml(run, judged), store)


def write_svg(run: RunRecord, directory: Path, store: str | None = None) -> list[Path]:
    """Write the charts over all points and those of each point; return their paths.

    store: as --store named it. Raises WirespeedError, BadInput where there is no folder for the
    directory.
    """
    check_folder(directory.parent)
    charts = (*run_charts(run), *latency_charts(run))
    drawings = {chart.key: line_svg(chart, standalone=True) for chart in charts}
    for number, waterfall in enumerate(waterfalls(tcp_points(run)), start=1):
        drawings[f"tcp-waterfall-{number}"] = waterfall_svg(waterfall, standalone=True)
    for point in run.points:
        if (search := search_chart(point)) is not None:
            drawings[search.key] = search_svg(search, standalone=True)
        if (timeline := timeline_chart(point)) is not None:
            drawings[timeline.key] = timeline_svg(timeline, standalone=True)
    drawings |= {key: svg for key, _, svg in effect_drawings(factor_groups(run), standalone=True)}
    if (paper := beside_published(run)) is not None:
        drawings |= {key: svg for key, _, svg in panels(paper, standalone=True)}
    with suppress(OSError):  # a failure shows when the folder is written into
        directory.mkdir(exist_ok=True)
    paths = [directory / f"{run.id}-{key}.svg" for key in drawings]
    for path, drawing in zip(paths, drawings.values(), strict=True):
        _write_whole(run, path, drawing, store)
    return paths


def _write_whole(run: RunRecord, path: Path, text: str, store: str | None) -> None:
    """Write the file completely, or leave none. Raises WirespeedError: the run is stored."""
    try:
        write_output(path, text)
    except WirespeedError as error:
        raise WirespeedError(
            f"{error.what}; run {run.id} itself is stored",
            f"Write it elsewhere: {typed('report', run.id, store=store, html='FILE')}",
        ) from error
