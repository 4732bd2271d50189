# SPDX-License-Identifier: Apache-2.0
"""Ask all hosts of a bench where their polling CPUs are, before and after a trial."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise.watch import NoiseWatch
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Evidence, Source


@dataclass(frozen=True, slots=True)
class Place:
    """Where the polling CPUs of all hosts are. unknown: why that is not known, else None."""

    at: CpuPlacement | None
    unknown: str | None = None


def place(watches: Iterable[NoiseWatch]) -> Place:
    """Probe every host. Where a probe fails nothing is known of the others either."""
    try:
        return Place(CpuPlacement.of(tuple(pair for watch in watches for pair in watch.place())))
    except BenchError as error:
        return Place(None, f"where the polling CPUs are is not known: {error.what}")


def moves(before: Place, after: Place, duration_ns: int) -> Evidence:
    """Return what the two probes say of the trial between them: that its CPUs moved, or nothing."""
    unknown = before.unknown or after.unknown
    if unknown is not None:
        return Evidence(unseen=(unknown,))
    if before.at is None or after.at is None or before.at.placed == after.at.placed:
        return Evidence()
    moved = Disturbance(-1, 0, duration_ns, DisturbanceKind.MOVED, Source.CPU_PLACEMENT, "sut")
    return Evidence((moved,))
