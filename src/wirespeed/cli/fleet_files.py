# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet snapshot and add: what a host leaves in a file, and how that gets into the store.

A target writes a file and holds no credentials; its controller fetches it and adds it.
"""

from __future__ import annotations

import json as json_text
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.cli.console import print_json, print_line, print_text
from wirespeed.cli.host_source import HostOption, RecordedOption, read_facts
from wirespeed.cli.input_file import read_input
from wirespeed.cli.options import JsonOption, StoreOption
from wirespeed.cli.rig import own_versions
from wirespeed.cli.show import check_file
from wirespeed.fleet.hardware import hardware_digest
from wirespeed.fleet.snapshot_file import SNAPSHOT_FILE, summary, verdict
from wirespeed.model.errors import BadInput
from wirespeed.model.snapshot import HostSnapshot, Member
from wirespeed.store.errors import StoreError
from wirespeed.store.imports import import_runs
from wirespeed.store.snapshots import add_snapshot
from wirespeed.store.store import Store


def snapshot(
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The host's name in the fleet. Default: its hostname."),
    ] = None,
    address: Annotated[str, typer.Option("--address", help="How the controller reaches it.")] = "",
    site: Annotated[str, typer.Option("--site", help="Where it stands.")] = "",
    facts_only: Annotated[bool, typer.Option("--facts-only", help="Leave out the audit.")] = False,
    host: HostOption = None,
    recorded: RecordedOption = None,
    json: JsonOption = False,
) -> None:
    """Write a host's facts and audit into one file for `wirespeed fleet add`, and print a summary.

    Changes nothing else and needs no root. Without --output only the summary is made.
    """
    facts = read_facts(host, recorded)
    report = None if facts_only else audit(Subject(facts), all_rules())
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    member = Member(name or facts.host, address, site)
    taken = HostSnapshot(member, now, hardware_digest(facts), facts, report, own_versions())
    if output is not None:
        write_file(output, json_text.dumps(SNAPSHOT_FILE.document(taken)) + "\n")
    if json:
        print_json(json_text.dumps(summary(taken, None if output is None else str(output))))
    else:
        print_line(f"{member.name}: hardware {taken.hardware}, {verdict(taken)}")


def write_file(path: Path, text: str) -> None:
    """Whole or not at all: a controller may fetch it at any moment. Raises BadInput."""
    check_file(path)
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as fault:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise BadInput(
            f"{path} cannot be written: {fault.strerror}",
            "Free some space there, or name another file.",
        ) from fault


def add(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files of snapshots, or directories.")
    ],
    *,
    store: StoreOption = None,
) -> None:
    """Put what was fetched from hosts into the store: snapshots (*.json) and runs (*.sqlite).

    Runs belong to the host that their directory is named for. A file that is there already is left
    out, so that a cut `add` is continued by running it again. A damaged file is told and the
    others are added; then it ends with 1.
    """
    files = sorted(set(_files(paths)))
    if not files:
        raise BadInput(
            f"{', '.join(map(str, paths))}: no file *.json or *.sqlite",
            "Name the directory that the playbook fetched into.",
        )
    added = known = 0
    faults: list[str] = []
    with Store(store) as opened:
        for file in files:
            try:
                new = _add(opened, file)
            except StoreError as fault:
                raise StoreError(
                    f"{fault.what}; {added + known} of {len(files)} files are stored",
                    "Nothing is lost: run the same `wirespeed fleet add` again when it answers.",
                ) from fault
            except BadInput as fault:
                faults.append(fault.what)
                continue
            added, known = added + new, known + (not new)
    print_line(f"{added} added, {known} known already, {len(faults)} not usable")
    if faults:
        print_text("".join(f"wirespeed: {fault}\n" for fault in faults), stderr=True)
        raise typer.Exit(1)


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from path.rglob("*.json")
            yield from path.rglob("*.sqlite")
        else:
            yield path


def _add(store: Store, file: Path) -> bool:
    if file.suffix == ".sqlite":
        return _add_runs(store, file)
    return add_snapshot(store, SNAPSHOT_FILE.parse(read_input(file), str(file)))


def _add_runs(store: Store, file: Path) -> bool:
    """Raises BadInput for a file that is no store, or a newer wirespeed's."""
    if not file.is_file():
        raise BadInput(f"{file} is no file", "Check the path.")
    try:
        source = Store(str(file.absolute()))
    except StoreError as fault:
        raise BadInput(fault.what, "Fetch it again, or update wirespeed here.") from fault
    with source:
        return import_runs(store, source, file.absolute().parent.name) > 0
