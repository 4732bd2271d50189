# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet add: put files that were fetched from hosts into the store.

A target writes them and holds no credentials.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import print_line, print_text
from wirespeed.cli.input.options import StoreOption
from wirespeed.document.text_file import read_input
from wirespeed.fleet.border import admitted, host_of_folder, read_members
from wirespeed.fleet.snapshot_file import SNAPSHOT_FILE
from wirespeed.model.errors import BadInput
from wirespeed.model.host.snapshot import Member
from wirespeed.store.errors import StoreError
from wirespeed.store.foreign import open_foreign
from wirespeed.store.imports import import_runs
from wirespeed.store.snapshots import add_snapshot
from wirespeed.store.store import Store


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
