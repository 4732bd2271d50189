# SPDX-License-Identifier: Apache-2.0
"""End a program that was started on a host."""

from __future__ import annotations

import signal

from wirespeed.remote.interface import Process


def end_process(process: Process, patience_s: float) -> None:
    """End it by SIGTERM, or by SIGKILL if it still runs after patience_s.

    Raises TimeoutError where SIGKILL does not end it within patience_s, either.
    """
    process.signal(signal.SIGTERM)
    try:
        process.wait(patience_s)
    except TimeoutError:
        process.signal(signal.SIGKILL)
        process.wait(patience_s)
