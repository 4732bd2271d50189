# SPDX-License-Identifier: Apache-2.0
"""Print an explained point on a terminal."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console
from rich.table import Table

from wirespeed.cli.console import Text, print_paragraph
from wirespeed.cli.show.path_picture import print_path
from wirespeed.cli.typed import typed
from wirespeed.explain.time_spent import time_spent
from wirespeed.explain.tried import WANTED
from wirespeed.model.input.fault import show
from wirespeed.model.result.explanation import Explanation, Proposal, ResourceState
from wirespeed.model.words import counted, percent, quantity, seconds
from wirespeed.report.compare.tried import Tried, signed_percent
from wirespeed.report.text.explained import Explained
from wirespeed.report.text.limit_words import limited_by
from wirespeed.report.text.limits import figure_words, gain_words, remarks
from wirespeed.report.text.path import why_no_path
from wirespeed.report.text.sentence import point_sentences, short_sentence

_STYLES = {
    ResourceState.LIMITS: "bold red",
    ResourceState.DISTURBS: "yellow",
    ResourceState.HAS_ROOM: "green",
}


def print_explained(found: Explained, console: Console) -> None:
    """Print the rates, what limits them, what to change, and what the rates rest on."""
    console.print(Text(found.point.caption, style="bold"), soft_wrap=True)
    if found.why_not is not None:
        print_paragraph(f"Not explained: {found.why_not}.", console, first="  ")
        console.print()
        return
    headline, *others = point_sentences(found.point)
    print_paragraph(headline, console, first="  ")
    _print_limits(found, console)
    _print_changes(found, console)
    _print_basis((*others, *remarks(found.point)), console)
    _print_time(found, console)
    _print_resources(found, console)
    _print_path(found, console)
    console.print()


def print_brief(found: Explained, console: Console) -> None:
    """Print the rates, what limits them first and what to change first, on one line."""
    result = found.point.result
    if result is None or found.why_not is not None:
        console.print(
            Text(f"{found.point.caption}: not explained: {found.why_not}."), soft_wrap=True
        )
        return
    parts = [short_sentence(result), f"limited by {limited_by(found.point)}"]
    if found.changes and (proposal := found.changes[0].proposal) is not None:
        gain = found.changes[0].gain
        words = "gain unknown" if gain is None else gain_words(gain)
        parts.append(f"to change: {proposal.change.rstrip('.')} ({words})")
    console.print(Text(f"{found.point.caption}: {'; '.join(parts)}."), soft_wrap=True)


def _heading(text: str, console: Console) -> None:
    console.print(Text(f"\n{text}", style="bold"))


def _print_limits(found: Explained, console: Console) -> None:
    if not found.limits:
        return
    _heading("What limits it, the most important first:", console)
    for number, limit in enumerate(found.limits, start=1):
        print_paragraph(limit.sentence, console, first=f"  {number}. ")
        for figure in limit.evidence:
            value = f"{figure_words(figure.value)} {figure.unit}"
            text = f"{figure.name}: {value} ({figure.source})"
            print_paragraph(text, console, first="       ", style="dim")


def _print_changes(found: Explained, console: Console) -> None:
    if not found.changes:
        console.print("\nTo change: nothing is known to help.")
        return
    _heading("To change, the largest expected gain first:", console)
    for number, change in enumerate(found.changes, start=1):
        if change.proposal is not None:
            _print_change(number, change, change.proposal, console)


def _print_change(number: int, found: Explanation, proposal: Proposal, console: Console) -> None:
    setting = f" ({proposal.setting})" if proposal.setting else ""
    first = f"  {number}. "
    print_paragraph(f"{proposal.change.rstrip('.')}{setting}.", console, first=first)
    gain = gain_words(found.gain) if found.gain is not None else "not known"
    lines = [f"Expected gain: {gain}."]
    if proposal.keys:
        keys = ", ".join(f"{change.key}={show(change.value)}" for change in proposal.keys)
        lines.append(f"To try here: {keys}")
    if proposal.cannot_try is not None:
        which = "Not part of that" if proposal.keys else "Cannot be tried here"
        lines.append(f"{which}: {proposal.cannot_try}.")
    for line in lines:
        print_paragraph(line, console, first=" " * len(first))


def _print_basis(sentences: tuple[str, ...], console: Console) -> None:
    """Print what the rates rest on, each sentence once."""
    if not sentences:
        return
    _heading("What the rates rest on:", console)
    for sentence in dict.fromkeys(sentences):
        print_paragraph(sentence, console, first="  ")


def _print_time(found: Explained, console: Console) -> None:
    """Print what the time of the point's trials went to."""
    if found.point.result is None or not found.point.trials:
        return
    trials = tuple(stored.trial for stored in found.point.trials)
    parts = time_spent(replace(found.point.result, trials=trials))
    whole_s = sum(part.seconds for part in parts)
    _heading(f"How the time of its trials was spent ({seconds(whole_s)}):", console)
    for part in parts:
        told = f"{percent(part.seconds / whole_s, 0)} {part.what}"
        print_paragraph(told, console, first="  ")


def _print_resources(found: Explained, console: Console) -> None:
    if not found.resources:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("resource", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("measured", overflow="fold")
    for use in found.resources:
        state = Text(str(use.state), style=_STYLES.get(use.state, ""))
        table.add_row(str(use.resource), state, Text(use.sentence))
    console.print()
    console.print(table)
    for finding in found.findings:
        subject = f", {finding.subject}" if finding.subject else ""
        told = f"Audit {finding.rule}{subject}: {finding.title}; found: {finding.found}."
        print_paragraph(told, console, style="yellow")


def _print_path(found: Explained, console: Console) -> None:
    if found.path is not None:
        console.print()
        print_path(found.path, console)
    elif found.point.offers_frames:
        text = f"No picture of the path: {why_no_path(found.point.sut)}"
        console.print()
        print_paragraph(text, console)


def print_tried(
    found: Tried, proposal: Proposal, console: Console, store: str | None = None
) -> None:
    """Print what the change gained, with its interval and verdict.

    store: as --store named it.
    """
    keys = ", ".join(f"{change.key}={show(change.value)}" for change in found.keys)
    console.print(Text(f"Tried: {keys} ({proposal.change.rstrip('.')})", style="bold"))
    console.print(Text(f"{found.matching.words}."))
    gain = found.gain
    if gain is None or found.figure is None:
        console.print(f"No pair of {found.wanted} has a rate to compare: run {found.run_id}.")
        return
    before, after = (quantity(value, found.unit) for value in (gain.before, gain.after))
    console.print(Text(f"{found.figure}: {before} as it was, {after} changed (medians)."))
    interval = f"{signed_percent(gain.low)} to {signed_percent(gain.high)}"
    console.print(
        Text(
            f"Measured gain: {signed_percent(gain.gain)}, {interval} with "
            f"{percent(gain.confidence, 1)} confidence (ranks of {counted(gain.pairs, 'pair')}, of "
            f"{found.wanted} measured): {gain.verdict}."
        )
    )
    if gain.confidence < WANTED:
        console.print(f"Few pairs: {percent(WANTED, 0)} takes 6 that count (--pairs).")
    full = typed("report", found.run_id, store=store)
    console.print(f"Run {found.run_id}. Report: {full}", soft_wrap=True)
