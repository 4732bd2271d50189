# SPDX-License-Identifier: Apache-2.0
"""How is an explained point printed on a terminal?"""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from wirespeed.cli.console import Text
from wirespeed.cli.path_picture import print_path
from wirespeed.cli.typed import typed
from wirespeed.explain.tried import WANTED
from wirespeed.model.explanation import Explanation, Proposal, ResourceState, ResourceUse
from wirespeed.model.fault import show
from wirespeed.model.words import counted, percent
from wirespeed.report.explained import Explained
from wirespeed.report.limits import figure_words, gain_words
from wirespeed.report.path import why_no_path
from wirespeed.report.sentence import point_sentence
from wirespeed.report.tried import Tried, rate_words, signed_percent

_STYLES = {
    ResourceState.LIMITS: "bold red",
    ResourceState.DISTURBS: "yellow",
    ResourceState.HAS_ROOM: "green",
}


def print_explained(found: Explained, console: Console) -> None:
    """The figure, what limits it and by which evidence, what to change."""
    console.print(Text(found.point.caption, style="bold"), soft_wrap=True)
    if found.why_not is not None:
        console.print(f"  Not explained: {found.why_not}.\n", soft_wrap=True)
        return
    if found.point.tcp is None:
        console.print(point_sentence(found.point), soft_wrap=True)
    console.print()
    if found.resources:
        console.print(_resources(found.resources))
        for finding in found.findings:
            subject = f", {finding.subject}" if finding.subject else ""
            told = f"Audit {finding.rule}{subject}: {finding.title}; found: {finding.found}."
            console.print(Text(told, style="yellow"))
        console.print()
    _print_path(found, console)
    for explanation in found.limits:
        _print_limit(explanation, console)
    _print_changes(found, console)
    console.print()


def _print_path(found: Explained, console: Console) -> None:
    if found.path is not None:
        print_path(found.path, console)
    elif found.point.tcp is None:
        console.print(Text(f"No picture of the path: {why_no_path(found.point.sut)}"))
    else:
        return
    console.print()


def _resources(uses: tuple[ResourceUse, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("resource", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("measured", overflow="fold")
    for use in uses:
        state = Text(str(use.state), style=_STYLES.get(use.state, ""))
        table.add_row(str(use.resource), state, Text(use.sentence))
    return table


def _print_limit(found: Explanation, console: Console) -> None:
    console.print(Text(f"{found.limit}: {found.sentence}"))
    for figure in found.evidence:
        value = f"{figure_words(figure.value)} {figure.unit}"
        console.print(_indented(f"{figure.name}: {value} ({figure.source})", "dim"))


def _print_changes(found: Explained, console: Console) -> None:
    if not found.changes:
        console.print("\nTo change: nothing is known to help.")
        return
    console.print("\nTo change, the largest expected gain first:")
    for number, change in enumerate(found.changes, start=1):
        if change.proposal is not None:
            _print_change(number, change, change.proposal, console)


def _print_change(number: int, found: Explanation, proposal: Proposal, console: Console) -> None:
    setting = f" ({proposal.setting})" if proposal.setting else ""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(f"{number}.", Text(f"{proposal.change.rstrip('.')}{setting}."))
    gain = gain_words(found.gain) if found.gain is not None else "not known"
    lines = [f"Expected gain: {gain}.", f"Follows from: {found.limit}, {_sources(found)}."]
    if proposal.keys:
        keys = ", ".join(f"{change.key}={show(change.value)}" for change in proposal.keys)
        lines.append(f"To try here: {keys}")
    if proposal.cannot_try is not None:
        which = "Left out of that" if proposal.keys else "Cannot be tried here"
        lines.append(f"{which}: {proposal.cannot_try}.")
    for line in lines:
        grid.add_row("", Text(line))
    console.print(grid)


def _indented(text: str, style: str) -> Padding:
    return Padding(Text(text, style=style), (0, 0, 0, 4))


def _sources(found: Explanation) -> str:
    """Where its figures were read, each once."""
    named = dict.fromkeys(figure.source.partition(",")[0] for figure in found.evidence)
    return ", ".join(named) or "no figure of its own"


def print_tried(
    found: Tried, proposal: Proposal, console: Console, store: str | None = None
) -> None:
    """Print what the change brought, with its interval and how sure that is.

    store: as --store named it.
    """
    keys = ", ".join(f"{change.key}={show(change.value)}" for change in found.keys)
    console.print(Text(f"Tried: {keys} ({proposal.change.rstrip('.')})", style="bold"))
    console.print(Text(f"{found.matching.words}."))
    gain = found.gain
    if gain is None or found.figure is None:
        console.print(f"No pair of {found.wanted} has a rate to compare: run {found.run_id}.")
        return
    before, after = (rate_words(value, found.figure) for value in (gain.before, gain.after))
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
    console.print(f"Run {found.run_id}. Full report: {full}", soft_wrap=True)
