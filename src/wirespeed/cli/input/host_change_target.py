# SPDX-License-Identifier: Apache-2.0
"""Resolve the host that a command changes; it must be named, never this machine by default."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import LOCALHOST
from wirespeed.remote.ssh_target import SshTarget

PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan written with -o.")]
ChangedHostOption = Annotated[
    str,
    typer.Option("--host", metavar="HOST", help="ssh://user@host:port, or localhost."),
]
RebootOption = Annotated[
    bool,
    typer.Option(
        "--reboot",
        help="Reboot the host if a setting needs it, wait until it answers, and continue.",
    ),
]


def address(host: str) -> str:
    """Return the host's address. Raises BadInput."""
    if host == LOCALHOST:
        return host
    if not host.startswith("ssh:"):
        raise BadInput(f"--host {host!r} is neither an ssh address nor localhost",
                       "Write it as ssh://user@host:port or localhost.")  # fmt: skip
    return SshTarget.parse(host).url
