# SPDX-License-Identifier: Apache-2.0
"""Run one verb in a test without the rest of the command."""

from __future__ import annotations

from collections.abc import Callable

import typer


def verb_app(verb: Callable[..., None]) -> typer.Typer:
    """Return an app whose only command is this verb, for a CliRunner."""
    app = typer.Typer()
    app.command()(verb)
    return app
