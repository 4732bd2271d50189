# SPDX-License-Identifier: Apache-2.0
"""wirespeed inspect: what is this server?"""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import plain_console
from wirespeed.cli.host_picture import print_host
from wirespeed.cli.host_source import HostOption, RecordedOption, read_facts
from wirespeed.cli.options import JsonOption
from wirespeed.host.file import document


def inspect(
    *,
    host: HostOption = None,
    recorded: RecordedOption = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="DIR",
            help="Also write every file and command output that was read into a new folder. "
            "Passwords in *.conf files are masked.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show sockets, cores and their owners, memory, NICs. Changes nothing and needs no root."""
    facts = read_facts(host, recorded, record)
    if json:
        typer.echo(json_text.dumps(document(facts), indent=1))
    else:
        print_host(facts, plain_console())
