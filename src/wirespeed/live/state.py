# SPDX-License-Identifier: Apache-2.0
"""Describe the state that the page draws at one moment: the path of the packets, and the CPUs.

Both are made of the names and labels of the series alone, so a file shows what the server shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirespeed.live.lanes import Lane, Line
from wirespeed.live.path import path_of
from wirespeed.live.path_parts import Path
from wirespeed.model.result.recording import RecordedSeries

CPU_BUSY = "CPU busy"


@dataclass(frozen=True, slots=True)
class MappedCpu:
    """One CPU."""

    cpu: str
    busy: Line | None
    isolated: int | None
    """Number of the series that says whether the scheduler leaves it out."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A polling thread or a thread of a guest; its series is the CPU that it is on."""

    label: str
    cpu: int
    """Number of the series."""


@dataclass(frozen=True, slots=True)
class State:
    path: Path
    cpus: tuple[MappedCpu, ...]
    owners: tuple[Owner, ...]


def state_of(series: Sequence[RecordedSeries], lanes: Sequence[Lane]) -> State:
    """Return what is drawn at one moment."""
    busy = {line.label: line for lane in lanes if lane.name == CPU_BUSY for line in lane.lines}
    isolated = dict(_numbers(series, "cpu_isolated"))
    cpus = sorted(
        {*isolated, *(label.removeprefix("CPU ") for label in busy)},
        key=lambda cpu: (not cpu.isdecimal(), cpu.zfill(8)),
    )
    return State(
        path_of(series),
        tuple(MappedCpu(cpu, busy.get(f"CPU {cpu}"), isolated.get(cpu)) for cpu in cpus),
        tuple(_owners(series)),
    )


def _numbers(series: Sequence[RecordedSeries], key: str) -> Iterator[tuple[str, int]]:
    """Yield the value of the first label, and the number, of the series of a key."""
    for number, each in enumerate(series):
        if each.key == key and each.labels:
            yield each.labels[0][1], number


def _owners(series: Sequence[RecordedSeries]) -> Iterator[Owner]:
    for number, each in enumerate(series):
        if each.key in ("thread_cpu", "guest_thread_cpu"):
            yield Owner(" ".join(value for _, value in each.labels), number)
