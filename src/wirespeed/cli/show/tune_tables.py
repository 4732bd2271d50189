# SPDX-License-Identifier: Apache-2.0
"""Print what a search for faster settings found."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from wirespeed.cli.console import Text, print_paragraph
from wirespeed.model.input.fault import show
from wirespeed.report.compare.tuned import FactorRow, TunedReport, interval_words, signed

_STYLES = {"keep": "green", "harms": "red"}


def print_tuned(found: TunedReport, console: Console) -> None:
    """Print the answer, the factors, the confirmation and what is still the limit."""
    style = "yellow" if found.void else "green" if found.claimed else "bold"
    print_paragraph(found.headline, console, style=style)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("factor", "other level", "effect", "95% interval", "cost", "verdict"):
        right = name in ("effect", "95% interval")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in found.rows:
        table.add_row(*_cells(row))
    console.print(table)
    for sentence in found.interactions:
        print_paragraph(sentence, console)
    if found.ratio is not None:
        print_paragraph(
            f"Confirmation: {interval_words(found.ratio)}; {found.matched}: {found.answer}.",
            console,
        )
    if found.overrides:
        keys = " ".join(f"--set {key}={show(value)}" for key, value in found.overrides.items())
        print_paragraph(f"To keep in the study: {keys}", console)
    if found.kept is None:
        for path, value in found.host_files.items():
            print_paragraph(f"To keep on the host: {path} = {value}", console)
    if found.limit:
        print_paragraph(f"Still the limit: {found.limit}", console)
    if found.next_change:
        print_paragraph(f"To change it: {found.next_change}", console)


def print_kept(found: TunedReport, address: str, console: Console) -> None:
    """Print the settings that --keep applied, and how to undo them."""
    for each in found.kept or ():
        lost = "; the next reboot loses it" if each.until_reboot else ""
        note = f" ({each.note})" if each.note else ""
        print_paragraph(
            f"Kept on the host: {each.name}: {each.old} to {each.new}, {each.state}{note}{lost}",
            console,
        )
    if found.kept:
        print_paragraph(f"`wirespeed rollback --host {address}` restores the old values.", console)
    else:
        print_paragraph("No setting of the host was proven: nothing is kept on it.", console)


def _cells(row: FactorRow) -> tuple[str | Text, ...]:
    interval = "" if row.low is None else f"{signed(row.low)} to {signed(row.high)}"
    verdict = f"{row.verdict}: {row.why}" if row.why else row.verdict
    return (
        row.name, row.change, signed(row.gain), interval, row.cost,
        Text(verdict, style=_STYLES.get(row.verdict, "")),
    )  # fmt: skip
