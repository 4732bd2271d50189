# SPDX-License-Identifier: Apache-2.0
"""How does a command hand over a run: as a table on the terminal, as a report file?"""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console

from wirespeed.model.errors import WirespeedError
from wirespeed.report.html import html_report
from wirespeed.report.table import terminal_table
from wirespeed.store.records import RunRecord


def print_results(run: RunRecord, console: Console, html: Path | None = None) -> None:
    """The table of results, what to keep in mind, and where the report is."""
    console.print(terminal_table(run))
    if any(p.result and not p.result.conformant for p in run.points):
        console.print("Short trials: not RFC 2544 conformant.", style="yellow")
    if html is None:
        console.print(f"Run {run.id}. Full report: wirespeed report {run.id}")
    else:
        console.print(f"Run {run.id}. Full report: {html.absolute()}", soft_wrap=True)


def write_html(run: RunRecord, path: Path) -> None:
    """Write the report whole or not at all. Raises WirespeedError when it cannot be written."""
    text = html_report(run)
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise WirespeedError(
            f"report {path}: {error.strerror}; run {run.id} itself is stored",
            f"Write it elsewhere: wirespeed report {run.id} --html FILE",
        ) from error
