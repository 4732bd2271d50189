# SPDX-License-Identifier: Apache-2.0
"""Read the memory that a routing table takes: that of the daemons, and that of the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from wirespeed.bench.host.peak_memory import peak_kib
from wirespeed.bench.host.process import Daemon
from wirespeed.remote.interface import Runner

_SLAB = re.compile(r"^Slab:\s+(\d+) kB", re.MULTILINE)


def slab_kib(runner: Runner) -> int:
    """Return the memory of the kernel's objects on this host, routes among them, in KiB."""
    found = _SLAB.search(runner.read("/proc/meminfo"))
    return int(found[1]) if found else 0


def peaks_mib(runner: Runner, daemons: Iterable[Daemon]) -> Mapping[str, int]:
    """Return the largest resident memory of each daemon since it started, in MiB."""
    return {
        daemon.name: sum(peak_kib(runner, process.pid) for process in daemon.processes) // 1024
        for daemon in daemons
    }
