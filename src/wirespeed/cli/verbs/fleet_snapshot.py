# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet snapshot: write a host's state to a file, which its controller fetches."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.cli.console import print_json, print_line
from wirespeed.cli.input.host_source import HostOption, RecordedOption, read_facts
from wirespeed.cli.input.options import JsonOption
from wirespeed.cli.output_file import check_no_folder, write_output
from wirespeed.fleet.hardware import hardware_digest
from wirespeed.fleet.snapshot_file import SNAPSHOT_FILE, summary, verdict
from wirespeed.model.host.snapshot import HostSnapshot, Member
from wirespeed.model.input.moment import utc_now
from wirespeed.session.versions import own_versions


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
