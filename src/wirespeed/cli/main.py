# SPDX-License-Identifier: Apache-2.0
"""The command `wirespeed`: one verb a file, registered here by one line each."""

from __future__ import annotations

import errno
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from wirespeed.cli import clean, compare, inspect, report, run, runs, study
from wirespeed.cli.signals import Interrupted, unwind_on_signals
from wirespeed.model.errors import WirespeedError

app = typer.Typer(
    name="wirespeed",
    help="Measure the NFV data plane of this host and explain what limits it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(study.app, name="study")
app.command("inspect")(inspect.inspect)
app.command("run")(run.run)
app.command("runs")(runs.runs)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("clean")(clean.clean)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"wirespeed {version('wirespeed')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Measure the NFV data plane of this host and explain what limits it."""


def main() -> None:
    """Run a command; end with its exit code, and with words instead of a traceback."""
    unwind_on_signals()
    try:
        app()
    except WirespeedError as error:
        sys.exit(_tell(error.what, error.next_step, error.exit_code))
    except Interrupted as interrupted:
        said = f"ended by {interrupted}; what it did to this host is undone"
        sys.exit(_tell(said, "", interrupted.exit_code))
    except BrokenPipeError:
        sys.exit(128 + 13)  # The reader of our output left, as `head` does.
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(_tell(f"{where}no space left on device", "Free some space and run it again.", 1))


def _tell(what: str, next_step: str, exit_code: int) -> int:
    sys.stderr.write(f"wirespeed: {what}\n")
    if next_step:
        sys.stderr.write(f"{next_step}\n")
    return exit_code


if __name__ == "__main__":
    main()
