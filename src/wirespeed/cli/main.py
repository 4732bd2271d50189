# SPDX-License-Identifier: Apache-2.0
"""Run the command `wirespeed`, and turn its errors into messages and exit codes."""

from __future__ import annotations

import errno
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer import TyperException

# An error of ours, not of the input: EX_SOFTWARE of sysexits.h.
INTERNAL_ERROR = 70


def main() -> None:
    """Run a command; end with its exit code, and with a message instead of a traceback."""
    if sys.argv[1:] == ["--version"]:
        # Without waiting for what parses any other words.
        sys.stdout.write(version_line())  # noqa: TID251
        sys.exit(0)
    from wirespeed.cli.signals import unwind_on_signals

    unwind_on_signals()
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    import typer

    from wirespeed.cli.command import build_command
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
        return _report_unforeseen(error)
    return ended if isinstance(ended, int) else 0


def version_line() -> str:
    """Name and version of the program."""
    return f"wirespeed {version('wirespeed')}\n"


def _report(what: str, next_step: str, exit_code: int, command: str = "wirespeed") -> int:
    from wirespeed.cli.console import print_line

    print_line(f"{command}: {what}", stderr=True)
    if next_step:
        print_line(next_step, stderr=True)
    return exit_code


def _report_usage(error: TyperException, arguments: list[str]) -> int:
    from wirespeed.cli.usage import problem

    command, what, next_step = problem(error, arguments)
    # A command without words has printed its help instead.
    return _report(what, next_step, 2, command) if what else 2


def _report_unforeseen(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        where = f"{error.filename}: " if error.filename else ""
        return _report(f"{where}no space left on device", "Free some space and run it again.", 1)
    from traceback import format_exc

    return _report(
        f"an error of wirespeed itself\n{format_exc().rstrip()}",
        "Please report it, with the lines above.",
        INTERNAL_ERROR,
    )


if __name__ == "__main__":
    main()
