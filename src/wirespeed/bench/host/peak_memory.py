# SPDX-License-Identifier: Apache-2.0
"""Read the largest resident memory of a process."""

from __future__ import annotations

import re

from wirespeed.remote.interface import Runner

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def peak_kib(runner: Runner, pid: int) -> int:
    """Return the largest resident memory since the process started, in KiB; 0 once it ended."""
    path = f"/proc/{pid}/status"
    text = runner.read_many((path,))[path]
    found = _PEAK.search(text) if isinstance(text, str) else None
    return int(found[1]) if found else 0
