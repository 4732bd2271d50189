# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet snapshot and add: write a host's state to a file, and add files to the store.

A target writes a file and holds no credentials; its controller fetches it and adds it.
"""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.cli.console import print_json, print_line, print_text
from wirespeed.cli.input.host_source import HostOption, RecordedOption, read_facts
from wirespeed.cli.input.input_file import read_input
from wirespeed.cli.input.options import JsonOption, StoreOption
from wirespeed.cli.output_file import write_output
from wirespeed.cli.show.show import check_no_folder
from wirespeed.fleet.border import admitted, host_of_folder, read_members
from wirespeed.fleet.hardware import hardware_digest
from wirespeed.fleet.snapshot_file import SNAPSHOT_FILE, summary, verdict
from wirespeed.model.errors import BadInput
from wirespeed.model.host.snapshot import HostSnapshot, Member
from wirespeed.model.input.moment import utc_now
from wirespeed.session.rig import own_versions
from wirespeed.store.errors import StoreError
from wirespeed.store.foreign import open_foreign
from wirespeed.store.imports import import_runs
from wirespeed.store.snapshots import add_snapshot
from wirespeed.store.store import Store


def snapshot(
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the snapshot to FILE."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The host's name in the fleet. Default: its hostname."),
    ] = None,
    facts_only: Annotated[bool, typer.Option("--facts-only", help="Write no audit.")] = False,
    host: HostOption = None,
    recorded: RecordedOption = None,
    json: JsonOption = False,
) -> None:
    """Write a host's facts and audit into one file for `wirespeed fleet add`, and print a summary.

    Changes nothing else and needs no root. Without --output only the summary is made.
    """
    facts = read_facts(host, recorded)
    report = None if facts_only else audit(Subject(facts), all_rules())
    member = Member(name or facts.host)
    taken = HostSnapshot(member, utc_now(), hardware_digest(facts), facts, report, own_versions())
    if output is not None:
        write_snapshot(output, json_text.dumps(SNAPSHOT_FILE.document(taken)) + "\n")
    if json:
        print_json(json_text.dumps(summary(taken, None if output is None else str(output))))
    else:
        print_line(f"{member.name}: hardware {taken.hardware}, {verdict(taken)}")


def write_snapshot(path: Path, text: str) -> None:
    """Write the file atomically: a controller may fetch it at any moment. Raises BadInput.

    Its folder is made: a host that is audited for the first time has none.
    """
    check_no_folder(path)
    write_output(path, text, private=True)


def add(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files of snapshots, or directories.")
    ],
    *,
    members: Annotated[
        Path | None,
        typer.Option(
            "--members",
            metavar="FILE",
            help="The controller's inventory as JSON: each host's address and site. -: stdin.",
            allow_dash=True,
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Put what was fetched from hosts into the store: snapshots (*.json) and runs (*.sqlite).

    A file belongs to the host that its directory is named for; one that names another host is
    refused. Addresses and sites come from --members alone. Safe to re-run: files already in the
    store are skipped. Unusable files are reported, the others added, and the exit code is 1.
    """
    known_members = _members(members)
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
                new = _add(opened, file, known_members)
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


def _members(path: Path | None) -> dict[str, Member]:
    if path is None:
        return {}
    if str(path) == "-":
        return read_members(sys.stdin.read(), "standard input")
    return read_members(read_input(path), str(path))


def _add(store: Store, file: Path, members: Mapping[str, Member]) -> bool:
    """Add a file. Raises BadInput if its host would not have written it so."""
    host = host_of_folder(file.absolute().parent.name, str(file))
    if file.suffix == ".sqlite":
        with open_foreign(file) as source:
            return import_runs(store, source, host) > 0
    found = SNAPSHOT_FILE.parse(read_input(file), str(file))
    return add_snapshot(store, admitted(found, str(file), host, members, datetime.now(UTC)))
