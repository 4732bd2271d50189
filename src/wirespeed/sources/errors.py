# SPDX-License-Identifier: Apache-2.0
"""Define the error of a program that does not answer."""

from __future__ import annotations

from wirespeed.remote.interface import RemoteError


class NoAnswer(RemoteError):
    """Raised when a program rejects a command, does not answer, or answers something else."""


class Refused(NoAnswer):
    """Raised when a program answers that it does not know or take the command."""
