# SPDX-License-Identifier: Apache-2.0
"""Tell one run of a program from the next."""

from __future__ import annotations

from wirespeed.remote.interface import Runner


def started_at(runner: Runner, pid: int) -> int:
    """Return the start of a process in ticks since boot (proc_pid_stat(5), 22nd field).

    Raises OSError where it has ended.
    """
    return int(runner.read(f"/proc/{pid}/stat").rpartition(")")[2].split()[19])


def epoch_of(runner: Runner, pid: int) -> str:
    """Return a text that no other run of a program has on this boot. Raises OSError."""
    return f"{pid}-{started_at(runner, pid)}"
