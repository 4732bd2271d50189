# SPDX-License-Identifier: Apache-2.0
"""wirespeed runs: list, check and delete stored runs."""

from __future__ import annotations

import json as json_text
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from wirespeed.cli.console import plain_console, print_json, print_line, visible
from wirespeed.cli.options import JsonOption, StoreOption
from wirespeed.cli.typed import typed
from wirespeed.cli.verbs import VerbGroup
from wirespeed.model.errors import BadInput
from wirespeed.model.words import counted
from wirespeed.store.check import Health, check
from wirespeed.store.delete import belongings, delete_run
from wirespeed.store.errors import RECOVER, Damaged, damaged_runs
from wirespeed.store.store import Store, open_to_read
from wirespeed.store.survey import Survey, survey

app = VerbGroup(
    default="list",
    no_args_is_help=False,
    help="List the runs in the store, newest first; check it, delete a run.",
)


@app.command("list")
def show(json: JsonOption = False, store: StoreOption = None) -> None:
    """List the runs in the store, newest first. Exits with 1 where one is damaged."""
    with open_to_read(store) as opened:
        found = survey(opened)
        where = opened.url
    if json:
        print_json(json_text.dumps([asdict(summary) for summary in found.runs], indent=2))
    elif found.runs:
        _print(found)
    elif not found.damaged:
        first = typed("run", "wire", store=store)
        print_line(f"No runs yet in {where}. `{first}` needs neither root nor huge pages.")
    if found.damaged:
        raise damaged_runs(where, found.damaged)


@app.command("check")
def check_store(*, json: JsonOption = False, store: StoreOption = None) -> None:
    """Read every run whole, and check SQLite's pages. Exits with 1 where something is damaged."""
    with open_to_read(store) as opened:
        health = check(opened)
        where = opened.url
    if json:
        print_json(json_text.dumps({**asdict(health), "good": health.good}, indent=2))
    else:
        _print_health(where, health)
    if health.damaged:
        raise damaged_runs(where, health.damaged)
    if not health.good:
        raise Damaged(f"store {where}: see above", RECOVER)


@app.command("delete")
def delete(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id.", show_default=False)],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without a question.")] = False,
    store: StoreOption = None,
) -> None:
    """Delete a run with its points, trials and series, and the pair test that it is the result of.

    Not a run that is being measured. A run that `fleet add` brought comes back with its file.
    """
    with Store(store, exists=True) as opened:
        found = belongings(opened, run)
        parts = ", ".join(f"{found[name]} {name}" for name in ("points", "trials", "series"))
        if not yes:
            if not sys.stdin.isatty():
                raise BadInput(
                    f"run {run}: not deleted: standard input is no terminal to ask on",
                    f"Give --yes: {typed('runs', 'delete', run, yes=True, store=store)}",
                )
            typer.confirm(
                visible(f"Delete run {run} ({parts}) from {opened.url}?"), abort=True, err=True
            )
        delete_run(opened, run)
    print_line(f"Run {run} is deleted ({parts}).")


@app.command("upgrade")
def upgrade(*, store: StoreOption = None) -> None:
    """Bring a store of an older wirespeed up to this one's schema.

    An SQLite file is copied first. A verb that writes does the same by itself.
    """
    with Store(store, exists=True) as opened:
        print_line(f"Store {opened.url} has this version's schema.")


def _print(found: Survey) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("run", "points", "host", "started (UTC)", "question"):
        table.add_column(column)
    for summary in found.runs:
        state = f"{summary.complete}/{summary.points}"
        started = summary.started_at[:16].replace("T", " ")
        table.add_row(summary.id, state, summary.host, started, summary.title)
    plain_console().print(table)


def _print_health(where: str, health: Health) -> None:
    console = plain_console()
    console.print(f"{where}: {counted(len(health.runs), 'run')} can be read whole.", soft_wrap=True)
    for line in health.pages:
        console.print(f"PRAGMA integrity_check: {line}", soft_wrap=True)
    for table, count in health.orphans.items():
        console.print(f"{table}: {counted(count, 'row')} without a run", soft_wrap=True)
    if health.mode is not None:
        console.print(
            f"The file can be used by others than its owner ({health.mode:04o}): chmod 600.",
            soft_wrap=True,
        )
