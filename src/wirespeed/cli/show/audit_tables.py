# SPDX-License-Identifier: Apache-2.0
"""Print an audit on a terminal: findings with their fix, one rule, or the list of rules."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from wirespeed.audit.rule import Rule
from wirespeed.audit.sources import papers_in
from wirespeed.cli.console import Text
from wirespeed.model.host.finding import AuditReport, Finding, Severity, Status

STYLE = {
    Severity.CRITICAL: "bold magenta",
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "blue",
}


def print_report(report: AuditReport, console: Console, *, everything: bool) -> None:
    """Print failed findings with their fix, then what could not be checked, then a summary."""
    for fault in report.faults:
        console.print(Text(f"fault: {fault}", style="bold magenta"))
    for note in report.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    for finding in report.failed:
        _print_finding(finding, console)
    shown = [Status.NOT_CHECKED, Status.SUPPRESSED]
    if everything:
        shown += [Status.PASSED, Status.NOT_APPLICABLE]
    for status in shown:
        _print_short(status, report.with_status(status), console)
    console.print(Text.assemble((report.host, "bold"), f": {report.counts}"))


def _print_finding(finding: Finding, console: Console) -> None:
    head = Text.assemble(
        (f"{finding.severity:<8} ", STYLE[finding.severity]),
        (f"{finding.rule} {finding.title}", "bold"),
        f"  {finding.subject}" if finding.subject else "",
    )
    console.print(head)
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("found", Text(finding.found))
    table.add_row("wanted", Text(finding.wanted))
    table.add_row("why", Text(f"{finding.why} ({finding.source})"))
    console.print(Padding(table, (0, 0, 0, 9)))
    # Never wrapped, so that a command can be copied as a whole.
    for number, line in enumerate(finding.fix):
        label = "fix" if number == 0 else ""
        style = "dim" if line.startswith("#") else "green"
        console.print(Text.assemble(f"{label:>12}     ", (line, style)), soft_wrap=True)
    console.print()


def _print_short(status: Status, findings: tuple[Finding, ...], console: Console) -> None:
    if not findings:
        return
    console.print(Text(f"{status}:", style="bold"))
    table = Table(box=None, show_header=False, pad_edge=False)
    for column in ("", "", ""):
        table.add_column(column, overflow="fold")
    for finding in findings:
        text = finding.suppressed_because or finding.found
        # The title names the problem, so a passed rule shows what it wants.
        about = finding.wanted if status is Status.PASSED else finding.title
        table.add_row(f"  {finding.rule}", Text(about), Text(text))
    console.print(table)


def print_rule(rule: Rule, console: Console) -> None:
    """Print one rule with all its texts."""
    console.print(Text(f"{rule.id} {rule.name}", style="bold"))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("title", rule.title)
    table.add_row("severity", Text(rule.severity, style=STYLE[rule.severity]))
    table.add_row("wanted", rule.wanted)
    table.add_row("why", rule.why)
    table.add_row("source", "\n".join([rule.cited, *papers_in(rule.source)]))
    table.add_row("needs", "\n".join(need.value for need in rule.needs))
    console.print(table)


def print_rules(rules: Iterable[Rule], console: Console) -> None:
    """Print one line per rule."""
    table = Table(box=None, pad_edge=False)
    for column in ("rule", "severity", "name", "title"):
        table.add_column(column, overflow="fold")
    for rule in rules:
        table.add_row(
            rule.id, Text(rule.severity, style=STYLE[rule.severity]), rule.name, rule.title
        )
    console.print(table)
