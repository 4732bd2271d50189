# SPDX-License-Identifier: Apache-2.0
"""Limit a server to a share of a CPU, so that it is the bottleneck and not its client.

On a machine of two CPUs one client process is often slower than the server that it tests. With
equal quotas, servers show what they achieve with their CPU time. The kernel enforces the quota
(control group `cpu`, version 1 or 2); user and system time of the server's threads count.
Loopback's packet processing runs on the sender's CPU, for every server alike. Needs root.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PERIOD_US = 10_000


@contextmanager
def held_to(share: float, pid: int) -> Iterator[None]:
    """Give process `pid`, all its threads together, this share of one CPU while the block runs.

    Raises OSError, with what is missing, where no control group can be made.
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
    """Return the folder for groups with a quota, and the version of control groups."""
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
