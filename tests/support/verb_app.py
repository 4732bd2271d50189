# SPDX-License-Identifier: Apache-2.0
"""Run a verb in a test's own process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO

import typer

from wirespeed.cli.commands.command import build_command


def verb_app(verb: Callable[..., None]) -> typer.Typer:
    """Return an app whose only command is this verb, for a CliRunner."""
    app = typer.Typer()
    app.command()(verb)
    return app


def printed(*words: str) -> str:
    """Run `wirespeed WORDS` to its good end; return what it prints. Raises its errors."""
    with redirect_stdout(StringIO()) as out:
        code = build_command().main(list(words), prog_name="wirespeed", standalone_mode=False)
    assert not code, out.getvalue()
    return out.getvalue()
