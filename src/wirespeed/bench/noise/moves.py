# SPDX-License-Identifier: Apache-2.0
"""Probe the placement of the polling CPUs on all hosts, before and after a trial."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise.watch import NoiseWatch
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Evidence, Source


@dataclass(frozen=True, slots=True)
class Place:
    """Placement of the polling CPUs of all hosts."""

    at: CpuPlacement | None
    unknown: str | None = None
    """Reason if the placement is unknown; otherwise None."""


def place(watches: Iterable[NoiseWatch]) -> Place:
    """Probe every host; if one probe fails, the placement is unknown."""
    try:
        return Place(CpuPlacement.of(tuple(pair for watch in watches for pair in watch.place())))
    except BenchError as error:
        return Place(None, f"where the polling CPUs are is not known: {error.what}")


def moves(before: Place, after: Place, duration_ns: int) -> Evidence:
    """Compare two probes; return evidence of a move during the trial between them."""
    unknown = before.unknown or after.unknown
    if unknown is not None:
        return Evidence(unseen=(unknown,))
    if before.at is None or after.at is None or before.at.placed == after.at.placed:
        return Evidence()
    moved = Disturbance(-1, 0, duration_ns, DisturbanceKind.MOVED, Source.CPU_PLACEMENT, "sut")
    return Evidence((moved,))
