# SPDX-License-Identifier: Apache-2.0
"""How is a server held to a part of a CPU, so that it is the limit and not its client?

On a machine of two CPUs one client process is often slower than the server that it tests. Held to
the same quota, servers show what they do with the CPU time that they get. The kernel enforces it
(control group `cpu`, version 1 or 2); what runs in the server's threads counts, user and system
time. Loopback's packet processing runs on the sender's CPU, for every server alike. Needs root.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PERIOD_US = 10_000


@contextmanager
def held_to(share: float, pid: int) -> Iterator[None]:
    """Process `pid`, all its threads together, gets this share of one CPU as long as this lasts.

    Raises OSError where no control group can be made; says what is missing.
    """
    parent, version = _controller()
    group = parent / f"wirespeed-quota-{os.getpid()}-{pid}"
    quota_us = round(share * PERIOD_US)
    group.mkdir()
    try:
        if version == 2:
            (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        (parent / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def _controller() -> tuple[Path, int]:
    """The folder in which groups with a quota can be made, and the version of control groups."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, folder, kind, options = line.split()[:4]
        if kind == "cgroup" and "cpu" in options.split(","):
            return Path(folder), 1
        if kind == "cgroup2":
            switch = Path(folder) / "cgroup.subtree_control"
            if switch.exists() and "cpu" in switch.read_text().split():
                return Path(folder), 2
    raise OSError("no control group with a CPU quota: mount the controller `cpu` (cgroup v1), or "
                  "write +cpu to cgroup.subtree_control (v2)")  # fmt: skip
