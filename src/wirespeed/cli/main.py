# SPDX-License-Identifier: Apache-2.0
"""Run the command `wirespeed`, and turn its errors into messages and exit codes."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from wirespeed.cli.version import version_line

if TYPE_CHECKING:
    from typer import TyperException

# An internal error, not one of the input: EX_SOFTWARE of sysexits.h.
INTERNAL_ERROR = 70


def main() -> None:
    """Run a command; end with its exit code, and with a message instead of a traceback."""
    stdout = sys.stdout  # noqa: TID251
    try:
        if sys.argv[1:] == ["--version"]:
            # Answer before the slow import of the parser.
            stdout.write(version_line())
            code = 0
        else:
            from wirespeed.cli.signals import unwind_on_signals

            unwind_on_signals()
            code = _run(sys.argv[1:])
        stdout.flush()
    except OSError as error:
        code = _report_output(error)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    import typer

    from wirespeed.cli.commands.command import build_command
    from wirespeed.cli.signals import Interrupted
    from wirespeed.model.errors import WirespeedError

    try:
        ended = build_command().main(arguments, prog_name="wirespeed", standalone_mode=False)
    except WirespeedError as error:
        return _report(error.what, error.next_step, error.exit_code)
    except Interrupted as interrupted:
        message = f"ended by {interrupted}; all changes to this host are undone"
        return _report(message, "", interrupted.exit_code)
    except typer.Abort:
        return _report("not confirmed; nothing was changed", "", 1)
    except typer.TyperException as error:
        return _report_usage(error, arguments)
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise
        return _report_unforeseen()
    return ended if isinstance(ended, int) else 0


def _report(what: str, next_step: str, exit_code: int, command: str = "wirespeed") -> int:
    from wirespeed.cli.console import print_line

    print_line(f"{command}: {what}", stderr=True)
    if next_step:
        print_line(next_step, stderr=True)
    return exit_code


def _report_usage(error: TyperException, arguments: list[str]) -> int:
    from wirespeed.cli.usage import problem

    command, what, next_step = problem(error, arguments)
    # A command without arguments has printed its help instead.
    return _report(what, next_step, 2, command) if what else 2


def _report_output(error: OSError) -> int:
    """Report that a file or stdout takes no more, and keep the interpreter's own flush silent."""
    stdout = sys.stdout  # noqa: TID251
    try:
        stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
    if error.errno == errno.EPIPE:
        return 128 + 13
    where = f"{error.filename}: " if error.filename else ""
    why = (error.strerror or str(error)).lower()
    return _report(f"{where}{why}", "Free some space and run it again.", 1)


def _report_unforeseen() -> int:
    from traceback import format_exc

    return _report(
        f"an error of wirespeed itself\n{format_exc().rstrip()}",
        "Please report it, with the lines above.",
        INTERNAL_ERROR,
    )


if __name__ == "__main__":
    main()
