# SPDX-License-Identifier: Apache-2.0
"""Report commands whose output exceeds the limit that is read."""

from __future__ import annotations

from wirespeed.remote.agent import OUTPUT_MAX
from wirespeed.remote.interface import RemoteError


def printed_too_much(command: str) -> RemoteError:
    """Return the error of a command whose output was not read to its end.

    command: names the command and its host.
    """
    return RemoteError(
        f"{command} printed more than {OUTPUT_MAX >> 20} MiB; it was ended",
        "Run it by hand on that host: no command of wirespeed prints that much.",
    )
