# SPDX-License-Identifier: Apache-2.0
"""Define the base class of every error that a user can cause or meet.

The CLI prints these errors without a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.model.words import counted


class WirespeedError(Exception):
    """An error with its place, its value and the next step.

    what: problem, with place and value. next_step: sentence or command for the user; may be empty.
    Each package derives its own base class from this one.
    """

    exit_code = 1
    """Exit status of the CLI: 2 for bad input, 1 for a failure."""

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what}\n{self.next_step}" if self.next_step else self.what


class BadInput(WirespeedError):
    """A file, flag or value given by the user is wrong; nothing was changed."""

    exit_code = 2


_FAULTS_SHOWN = 20


def faulty_file(source: str, faults: Sequence[str], next_step: str) -> BadInput:
    """Report all errors of a file at once, so that it is corrected once."""
    more = [f"and {len(faults) - _FAULTS_SHOWN} more"] if len(faults) > _FAULTS_SHOWN else []
    lines = "\n".join(f"  {fault}" for fault in [*faults[:_FAULTS_SHOWN], *more])
    return BadInput(f"{source}: {counted(len(faults), 'error')}\n{lines}", next_step)
