# SPDX-License-Identifier: Apache-2.0
"""The command `wirespeed`: one verb a file, registered here by one line each."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from typing import Annotated

import typer

from wirespeed.cli.signals import Interrupted, unwind_on_signals
from wirespeed.model.errors import WirespeedError

# The module of each verb, and its function or, for a group, its Typer. Only the requested verb is
# imported, so that `inspect` does not wait for the database and numpy.
VERBS = {
    "inspect": "inspect:inspect",
    "audit": "audit:audit",
    "plan": "plan:app",
    "apply": "apply:apply",
    "verify": "verify:verify",
    "rollback": "rollback:rollback",
    "study": "study:app",
    "run": "run:run",
    "runs": "runs:runs",
    "report": "report:report",
    "explain": "explain:explain",
    "compare": "compare:compare",
    "fleet": "fleet:app",
    "predict": "predict:app",
    "clean": "clean:clean",
    "bng": "bng:app",
    "image": "image:app",
    "lab": "lab:app",
}


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"wirespeed {version('wirespeed')}")
        raise typer.Exit


def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Audit this host, measure its NFV data plane and explain what limits it."""


def build_app(verbs: Iterable[str] = tuple(VERBS)) -> typer.Typer:
    """The command with these verbs, all of them by default."""
    app = typer.Typer(
        name="wirespeed",
        help="Audit this host, measure its NFV data plane and explain what limits it.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(root)
    for verb in verbs:
        module, _, attribute = VERBS[verb].partition(":")
        found = getattr(import_module(f"wirespeed.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=verb)
        else:
            app.command(verb)(found)
    return app


def _requested(arguments: list[str]) -> Iterable[str]:
    """The verb on the command line; all verbs where there is none, for the help text."""
    return arguments[:1] if arguments and arguments[0] in VERBS else VERBS


def main() -> None:
    """Run a command; end with its exit code, and with a message instead of a traceback."""
    unwind_on_signals()
    try:
        build_app(_requested(sys.argv[1:]))()
    except WirespeedError as error:
        sys.exit(_tell(error.what, error.next_step, error.exit_code))
    except Interrupted as interrupted:
        message = f"ended by {interrupted}; all changes to this host are undone"
        sys.exit(_tell(message, "", interrupted.exit_code))
    except BrokenPipeError:
        sys.exit(128 + 13)  # The reader of our output has closed it, as `head` does.
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
