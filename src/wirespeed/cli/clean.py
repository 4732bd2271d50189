# SPDX-License-Identifier: Apache-2.0
"""wirespeed clean: undo what a killed run left on this host."""

from __future__ import annotations

import os

import typer

from wirespeed.bench.journal import state_directory
from wirespeed.bench.session import clean as undo_leftovers
from wirespeed.remote.local import LocalRunner


def clean() -> None:
    """Undo what runs that were killed left behind: processes, huge pages, sockets, settings."""
    done = undo_leftovers(LocalRunner(), state_directory(os.environ))
    for line in done or ["Nothing to clean: no run left anything behind."]:
        typer.echo(line)
