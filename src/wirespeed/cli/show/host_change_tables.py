# SPDX-License-Identifier: Apache-2.0
"""Print changes to a host, the comparison with its plan, and a rollback."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.padding import Padding

from wirespeed.apply.checkpoint import WAIT_S, Undone
from wirespeed.apply.journal import BEFORE, FOLDER
from wirespeed.apply.rollback import RolledBack
from wirespeed.apply.row import Row, Verdict
from wirespeed.apply.session import Applied
from wirespeed.apply.step import Result, State
from wirespeed.cli.console import Text
from wirespeed.model.words import counted

SCHEMA_VERSION = "1.2"
_STYLES = {
    State.SO: "green", State.DONE: "green", State.CHANGE: "yellow", State.PARTLY: "yellow",
    State.REBOOT: "yellow", State.ABSENT: "dim", State.DIFFERS: "bold red",
    Verdict.OK: "green", Verdict.DIFFERS: "bold red", Verdict.ABSENT: "dim",
    Verdict.REBOOT: "yellow", Verdict.UNCHECKED: "bold red",
}  # fmt: skip
_UNKNOWN_HOST = (
    "The journal does not name its host: one that came with a cloned disk is not noticed."
)


def print_applied(applied: Applied, console: Console, *, dry_run: bool) -> None:
    """Print each step with old value, new value and reason; then what is left to do."""
    if applied.undone_before:
        _print_undone(applied.undone_before, console)
    for result in applied.results:
        _print_result(result, console)
    changes = [r for r in applied.results if r.changed or r.state is State.CHANGE]
    if not changes:
        console.print(Text(f"{applied.host}: nothing to change", style="bold"))
    else:
        verb = "to make" if dry_run else "made"
        count = counted(len(changes), "change")
        console.print(Text(f"{applied.host}: {count} {verb}", style="bold"))
    waiting = [result.name for result in applied.results if result.state is State.REBOOT]
    if applied.reboot_due or waiting:
        words = [*applied.reboot_due, *waiting]
        console.print(f"A reboot is due, for {', '.join(words)}. Then run the command again.")
    if applied.unconfirmed:
        console.print(
            f"A timer undoes the network changes in {WAIT_S} s. To keep them and continue, run "
            "the same command with --confirm."
        )
    if applied.of_unknown_host:
        console.print(_UNKNOWN_HOST)
    for sentence in applied.unread:
        console.print(Text(f"not changed: {sentence}; this version does not know it",
                           style="bold red"))  # fmt: skip
    if applied.rows is not None:
        print_rows(applied.host, applied.rows, console)


def _print_undone(undone: Undone, console: Console) -> None:
    back = ", ".join(undone.back) or "nothing"
    console.print(Text(f"A timer on the host undid changes of an interrupted apply: {back}."))
    for sentence in undone.left:
        console.print(Text(f"not undone by the timer: {sentence}", style="bold red"))


def print_rows(host: str, rows: Sequence[Row], console: Console) -> None:
    """Print differences with their reasons, matches in short, and a summary."""
    for row in sorted(rows, key=lambda row: row.failed):
        head = Text.assemble((f"{row.verdict:<15}", _STYLES[row.verdict]), (row.decision, "cyan"))
        console.print(head)
        if row.failed:
            _detail(console, "planned", row.planned)
            _detail(console, "found", row.found or "nothing")
            _detail(console, "why", row.reason)
        elif row.found:
            _detail(console, "found", row.found)
        _detail(console, "note", row.note)
    counts = ", ".join(
        f"{sum(row.verdict is verdict for row in rows)} {verdict}" for verdict in Verdict
    )
    console.print(Text(f"{host}: {counts}", style="bold"))


def print_rolled_back(undone: RolledBack, console: Console) -> None:
    """Print what was undone, which facts differ from before, and what may be left."""
    if undone.nothing:
        console.print(f"{undone.host}: nothing to roll back")
        return
    for result in undone.results:
        _print_result(result, console)
    for difference in undone.differences or ():
        console.print(Text(f"{difference.fact}: was {difference.before}, is {difference.now}"))
        _detail(console, "note", difference.expected)
    said = f"{undone.host}: {counted(undone.put_back, 'setting')} put back of {undone.settings}"
    console.print(Text(said, style="bold" if undone.put_back == undone.settings else "bold red"))
    if undone.unchecked:
        console.print("An older version wrote the journal, without checksums: of damage in it only "
                      "lines that cannot be read are noticed.")  # fmt: skip
    if undone.of_unknown_host:
        console.print(_UNKNOWN_HOST)
    _print_unread(undone.unread, console)
    for sentence in undone.not_compared:
        console.print(Text(f"not compared: {sentence}", style="bold red"))
    if undone.reboot_due:
        console.print(_reboot_due(undone))
    elif undone.differences is not None:
        unexpected = sum(not difference.expected for difference in undone.differences)
        text = "the facts are those before the first apply" if not unexpected else (
            f"{counted(unexpected, 'fact')} not as before the first apply")  # fmt: skip
        console.print(Text(f"{undone.host}: {text}", style="bold"))


def _reboot_due(undone: RolledBack) -> str:
    if undone.rebooted:
        return ("The kernel still runs with the planned words after the reboot: look at the boot "
                "loader's configuration.")  # fmt: skip
    return ("A reboot is due: the kernel still runs with the planned words. Then run the command "
            "again: it compares the facts.")  # fmt: skip


def _print_unread(unread: Sequence[str], console: Console) -> None:
    for sentence in unread:
        console.print(Text(f"not undone: {sentence}", style="bold red"))
    if unread:
        console.print(Text(
            f"The journal stays. Roll back with the version that made these changes, or compare "
            f"the host with {BEFORE} by hand; then remove {FOLDER} there."
        ))  # fmt: skip


def applied_json(applied: Applied) -> str:
    rows = None if applied.rows is None else [asdict(row) for row in applied.rows]
    return _document(
        host=applied.host,
        steps=_results(applied.results),
        reboot_due=list(applied.reboot_due),
        undone_before=bool(applied.undone_before and applied.undone_before.back),
        not_undone_before=applied.undone_before.left if applied.undone_before else [],
        not_undone=list(applied.unread),
        unconfirmed=applied.unconfirmed,
        of_unknown_host=applied.of_unknown_host,
        decisions=rows,
    )


def rows_json(host: str, rows: Iterable[Row]) -> str:
    return _document(host=host, decisions=[asdict(row) for row in rows])


def rolled_back_json(undone: RolledBack) -> str:
    differences = undone.differences
    return _document(
        host=undone.host,
        steps=_results(undone.results),
        reboot_due=undone.reboot_due,
        differences=None if differences is None else [asdict(d) for d in differences],
        settings=undone.settings,
        put_back=undone.put_back,
        not_undone=list(undone.unread),
        not_compared=list(undone.not_compared),
        of_unknown_host=undone.of_unknown_host,
    )


def _document(**body: Any) -> str:
    return json.dumps({"schema_version": SCHEMA_VERSION, **body}, indent=1)


def _results(results: Iterable[Result]) -> list[dict[str, Any]]:
    return [asdict(result) for result in results]


def _print_result(result: Result, console: Console) -> None:
    state = (f"{result.state:<15}", _STYLES[result.state])
    console.print(Text.assemble(state, (result.name, "bold")))
    if result.state in (State.SO, State.ABSENT):
        _detail(console, "is", result.old)
    else:
        _detail(console, "was" if result.changed else "is", result.old)
        _detail(console, "planned", result.new)
        _detail(console, "why", result.because)
    _detail(console, "note", result.note)


def _detail(console: Console, label: str, text: str) -> None:
    if text:
        line = Text.assemble((f"{label:<8} ", "dim"), text)
        console.print(Padding(line, (0, 0, 0, 15)), soft_wrap=False)
