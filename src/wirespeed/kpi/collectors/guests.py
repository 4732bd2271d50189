# SPDX-License-Identifier: Apache-2.0
"""Collect the scheduler's statistics of QEMU's threads: vCPUs, I/O threads and the emulator."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

from wirespeed.kpi.collectors.thread_times import ThreadTimes, thread_metrics
from wirespeed.kpi.interface import Missing, Source
from wirespeed.model.numbered import numbered
from wirespeed.remote.interface import Runner
from wirespeed.sources.processes import epoch_of

_QEMU = "qemu-system"
_NAME = re.compile(r"(?:^|,)guest=([^,]+)|^([^,=]+)")
# Threads that live as long as the guest; workers of disks and displays come and go.
_KEPT = re.compile(r"^(CPU |IO )")
EMULATOR = "emulator"


class GuestCollector:
    name = "guests"
    cheap = True
    metrics = thread_metrics("guest_thread", "guest")

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        threads: dict[int, tuple[str, str]] = {}
        epochs: list[str] = []
        for pid in _qemu(runner):
            name = _guest(runner.read(f"/proc/{pid}/cmdline"), pid)
            guest = numbered(name, {guest for guest, _ in threads.values()})
            threads |= {tid: (guest, thread) for tid, thread in _threads(runner, pid)}
            epochs.append(epoch_of(runner, pid))
        if not threads:
            return Missing(f"no process {_QEMU}-* runs")
        epoch = f"{zlib.crc32(repr((epochs, sorted(threads))).encode()):08x}"
        return (ThreadTimes(self.name, "guest_thread", runner, threads, epoch),)


def _qemu(runner: Runner) -> list[int]:
    """Return the QEMU processes, the oldest number first."""
    names = runner.read_many(runner.glob("/proc/[0-9]*/comm"))
    return sorted(
        int(path.split("/")[2])
        for path, name in names.items()
        if isinstance(name, str) and name.startswith(_QEMU)
    )


def _guest(cmdline: str, pid: int) -> str:
    """Return the name that QEMU was given, e.g. "-name guest=vnf1,debug-threads=on"."""
    words = cmdline.split("\0")
    given = words[words.index("-name") + 1] if "-name" in words[:-1] else ""
    found = _NAME.search(given)
    return (found[1] or found[2]) if found else f"qemu {pid}"


def _threads(runner: Runner, pid: int) -> Iterator[tuple[int, str]]:
    for path, text in runner.read_many(runner.glob(f"/proc/{pid}/task/[0-9]*/comm")).items():
        tid = int(path.split("/")[-2])
        if tid == pid:
            yield tid, EMULATOR
        elif isinstance(text, str) and _KEPT.match(text):
            yield tid, text.strip()
