# SPDX-License-Identifier: Apache-2.0
"""How does a command hand over a run: as a table on the terminal, as a report file?"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from wirespeed.cli.console import plain_console
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.report.charts.gateway import gateway_charts
from wirespeed.report.charts.lane import lane_chart
from wirespeed.report.charts.lane_svg import lane_svg
from wirespeed.report.charts.latency import latency_chart
from wirespeed.report.charts.search import search_chart
from wirespeed.report.charts.shapes import Chart
from wirespeed.report.charts.svg import line_svg, search_svg
from wirespeed.report.charts.tcp import tcp_charts
from wirespeed.report.charts.throughput import throughput_charts
from wirespeed.report.charts.waterfall import waterfall_svg
from wirespeed.report.grades import LIFT, could_be_lifted
from wirespeed.report.netperf import message_chart
from wirespeed.report.sentence import point_sentence
from wirespeed.report.table import terminal_table
from wirespeed.report.tcp import offload_gains, split, tcp_table
from wirespeed.report.text import NONE
from wirespeed.report.waterfall import waterfall_table, waterfalls
from wirespeed.store.records import RunRecord

# A file or a pipe has no edge: wide enough for a row a line there.
_FILE_WIDTH = 200


def results_console() -> Console:
    """stdout, as wide as the terminal that it is, if it is one, or as COLUMNS says."""
    console = plain_console()
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return plain_console(width=_FILE_WIDTH)


def print_results(run: RunRecord, console: Console, html: Path | None = None) -> None:
    """The table of results, a sentence for each point, and where the report is."""
    frames, tcp = split(run)
    if frames:
        console.print(terminal_table(run))
        console.print()
    for point in frames:
        console.print(f"{point.label}: {point_sentence(point)}", soft_wrap=True)
    if tcp:
        console.print(tcp_table(tcp))
    for gain in offload_gains(tcp):
        factor = NONE if gain.factor is None else f"{gain.factor:.1f}x"
        console.print(f"Offloads gain {factor}: {gain.what}", soft_wrap=True)
    for waterfall in waterfalls(tcp):
        console.print(waterfall_table(waterfall))
    if could_be_lifted(run):
        console.print(LIFT, style="dim", soft_wrap=True)
    if any(p.result and not p.result.conformant for p in frames):
        said = "Not RFC 2544 conformant: that asks for whole trials of 60 s on a quiet host."
        console.print(said, style="yellow", soft_wrap=True)
    if html is None:
        console.print(f"Run {run.id}. Full report: wirespeed report {run.id}")
    else:
        console.print(f"Run {run.id}. Full report: {html.absolute()}", soft_wrap=True)


def write_html(run: RunRecord, path: Path) -> None:
    """Write the report. Raises WirespeedError when it cannot be written."""
    from wirespeed.report.html import html_report  # bokeh alone takes half a second to import

    check_file(path)
    _write_whole(run, path, html_report(run))


def check_file(path: Path) -> None:
    """Can a file of this name be written? Raises BadInput before any time is spent on it."""
    if not path.name or path.is_dir():
        raise BadInput(f'"{path}" is a folder, not a file', "Name a file, e.g. --html report.html.")


def _charts(run: RunRecord) -> tuple[Chart, ...]:
    return throughput_charts(run) + gateway_charts(run) + tcp_charts(run) + message_chart(run)


def write_svg(run: RunRecord, directory: Path) -> list[Path]:
    """Write the charts over all points, and each point's search, lane and latency; their paths."""
    drawings = {chart.key: line_svg(chart, standalone=True) for chart in _charts(run)}
    for number, waterfall in enumerate(waterfalls(split(run)[1]), start=1):
        drawings[f"tcp-waterfall-{number}"] = waterfall_svg(waterfall, standalone=True)
    for point in run.points:
        if (search := search_chart(point)) is not None:
            drawings[search.key] = search_svg(search, standalone=True)
        if (lane := lane_chart(point)) is not None:
            drawings[lane.key] = lane_svg(lane, standalone=True)
        if (latency := latency_chart(point)) is not None:
            drawings[latency.key] = line_svg(latency, standalone=True)
    paths = [directory / f"{run.id}-{key}.svg" for key in drawings]
    for path, drawing in zip(paths, drawings.values(), strict=True):
        _write_whole(run, path, drawing)
    return paths


def _write_whole(run: RunRecord, path: Path, text: str) -> None:
    """The file is whole or not there at all."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise WirespeedError(
            f"{path} cannot be written: {error.strerror}; run {run.id} itself is stored",
            f"Write it elsewhere: wirespeed report {run.id} --html FILE",
        ) from error
