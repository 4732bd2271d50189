# SPDX-License-Identifier: Apache-2.0
"""Wait for a condition of another process."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

PATIENCE_S = 30
Found = TypeVar("Found")


def until(found: Callable[[], Found], what: str, patience_s: float = PATIENCE_S) -> Found:
    """Return what is found, as soon as it is true."""
    end = time.monotonic() + patience_s
    while not (it := found()):
        assert time.monotonic() < end, f"not in {patience_s} s: {what}"
        time.sleep(0.05)
    return it


def state_of(pid: int) -> str:
    """Return the letter of the state of the process's main thread (proc_pid_stat(5))."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def asleep(pid: int) -> bool:
    """Return whether the process's main thread sleeps in a system call, which a signal ends.

    A signal in the instant before the call would not: Python's handlers run between bytecodes.
    """
    return state_of(pid) == "S"


def listens(path: Path) -> bool:
    """Return whether a unix socket accepts connections; its file is there a moment before."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)  # a listener with a full backlog
        return client.connect_ex(str(path)) == 0
