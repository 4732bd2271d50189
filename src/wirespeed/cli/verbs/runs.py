# SPDX-License-Identifier: Apache-2.0
"""List, label, check and delete what has been measured (`wirespeed runs`)."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from wirespeed.cli.console import plain_console, print_json, print_line, visible
from wirespeed.cli.input.options import JsonOption, RunArgument, StoreOption
from wirespeed.cli.show.runs_table import Filter, print_runs, since
from wirespeed.cli.typed import typed
from wirespeed.model.errors import BadInput
from wirespeed.model.words import counted
from wirespeed.store.check import Health, check
from wirespeed.store.delete import belongings, delete_run
from wirespeed.store.errors import RECOVER, Damaged, damaged_runs
from wirespeed.store.headlines import Headline, headline
from wirespeed.store.read import run_id_of
from wirespeed.store.records import RunSummary
from wirespeed.store.store import Store, open_to_read
from wirespeed.store.survey import survey


def show(
    *,
    study: Annotated[
        str | None, typer.Option("--study", metavar="NAME", help="Only runs of this study.")
    ] = None,
    since_: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="WHEN",
            help="Only runs begun since a date (2026-11-01, UTC) or in the last days (7d).",
        ),
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", metavar="TAG", help="Only runs that have this tag.")
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List the runs in the store, newest first. Exits with 1 where one is damaged.

    The result is the highest NDR of a run's points, or where there is none the highest other rate.
    """
    begun = None if since_ is None else since(since_, datetime.now(UTC))
    wanted = Filter(study, begun, tag)
    with open_to_read(store) as opened:
        found = survey(opened)
        where = opened.url
        chosen = [run for run in found.runs if wanted.takes(run)]
        headlines, damaged = _headlines(opened, chosen)
    damaged |= found.damaged
    if json:
        print_json(json_text.dumps([_as_json(run, headlines) for run in chosen], indent=2))
    elif chosen:
        print_runs(chosen, headlines, plain_console())
    elif found.runs:
        print_line(f"None of the {len(found.runs)} runs in {where} is such a run.")
    elif not damaged:
        first = typed("run", "wire", store=store)
        print_line(f"No runs yet in {where}. `{first}` needs neither root nor huge pages.")
    if damaged:
        raise damaged_runs(where, damaged)


def _headlines(
    opened: Store, runs: Sequence[RunSummary]
) -> tuple[dict[str, Headline | None], dict[str, str]]:
    """Return the runs' headlines, and why a run has none that can be read."""
    found: dict[str, Headline | None] = {}
    damaged: dict[str, str] = {}
    for run in runs:
        try:
            found[run.id] = headline(opened, run.id)
        except Damaged as fault:
            damaged[run.id] = fault.what
    return found, damaged


def _as_json(run: RunSummary, headlines: Mapping[str, Headline | None]) -> dict[str, Any]:
    found = headlines.get(run.id)
    return {**asdict(run), "result": None if found is None else asdict(found)}


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


def delete(
    run: RunArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    store: StoreOption = None,
) -> None:
    """Delete a run with its points, trials and series, and the pair test that it is the result of.

    Refused while the run is being measured. `fleet add` adds it again from its file.
    """
    with Store(store, exists=True) as opened:
        run_id = run_id_of(opened, run)
        found = belongings(opened, run_id)
        parts = ", ".join(f"{found[name]} {name}" for name in ("points", "trials", "series"))
        if not yes:
            if not sys.stdin.isatty():
                raise BadInput(
                    f"run {run_id}: not deleted: standard input is no terminal to ask on",
                    f"Give --yes: {typed('runs', 'delete', run_id, yes=True, store=store)}",
                )
            typer.confirm(
                visible(f"Delete run {run_id} ({parts}) from {opened.url}?"), abort=True, err=True
            )
        delete_run(opened, run_id)
    print_line(f"Run {run_id} is deleted ({parts}).")


def upgrade(*, store: StoreOption = None) -> None:
    """Bring a store of an older wirespeed up to this one's schema.

    An SQLite file is copied first. A verb that writes does the same by itself.
    """
    with Store(store, exists=True) as opened:
        print_line(f"Store {opened.url} has this version's schema.")


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
