# SPDX-License-Identifier: Apache-2.0
"""The one base of every error a user can cause or meet; the CLI prints it without a traceback."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.model.words import counted


class WirespeedError(Exception):
    """Says what went wrong, where, with which value, and what to do next.

    `next_step` is a sentence or command for the person at the keyboard. Each package derives its
    own base from this class; `exit_code` is what the CLI exits with (2 = bad input, 1 = failure).
    """

    exit_code = 1

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
