# SPDX-License-Identifier: Apache-2.0
"""What do the counters of a network function's tasks mean as frames entered, left and dropped?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from wirespeed.bench.interface import HopCount
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.hop_counts import DropCause

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class TaskRole:
    """One task of a network function.

    enters: the port whose frames it takes in, leaves: the port it sends to; None: a ring between
    two tasks. worker: which of several workers it is, and the port that its frames came in by.
    """

    task: str
    enters: str | None = None
    leaves: str | None = None
    worker: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """Of a network function made of wsdp tasks, by hop and cause.

    discards: why it drops on purpose. blocked_by: whose slowness a full output of it shows. causes:
    figures of its tasks that say more of what they discard; the rest is for `discards`.
    """

    name: str
    roles: tuple[TaskRole, ...]
    discards: DropCause
    blocked_by: DropCause
    causes: Mapping[str, DropCause] = field(default_factory=dict)

    @property
    def detailed(self) -> tuple[str, ...]:
        """The tasks whose own figures are wanted besides the counters of every task."""
        return tuple(role.task for role in self.roles) if self.causes else ()

    def read(self, stats: Mapping[str, Mapping[str, int]], missed: Mapping[str, int]) -> HopCount:
        """Its counts, from those of wsdp by task. missed: frames that its ports dropped before a
        task saw them, by name of the port."""
        entered: dict[str, int] = {}
        left: dict[str, int] = {}
        drops: dict[tuple[str, DropCause], int] = {}
        workers: dict[tuple[int, str], int] = {}
        for role in self.roles:
            seen = stats[role.task]
            if role.enters is not None:
                entered[role.enters] = entered.get(role.enters, 0) + seen["rx"]
            if role.leaves is not None:
                left[role.leaves] = left.get(role.leaves, 0) + seen["tx"]
            if role.worker is not None:
                workers[role.worker] = seen["rx"]
            full = DropCause.VNF_RING_FULL if role.leaves is None else self.blocked_by
            named = [(cause, seen[figure]) for figure, cause in self.causes.items()]
            for cause, frames in (
                (full, seen["tx_fail"]),
                (self.discards, seen["discard"] - sum(frames for _, frames in named)),
                (DropCause.VNF_HANDLED, seen["handled"]),
                *named,
            ):
                place = (self.name, cause)
                drops[place] = drops.get(place, 0) + frames
        for side in entered:
            if port_missed := missed.get(f"{self.name}{side}", 0):
                entered[side] += port_missed
                place = (self.name, DropCause.VNF_RX_RING_FULL)
                drops[place] = drops.get(place, 0) + port_missed
        return HopCount(self.name, entered, left, drops, workers)


def plus(earlier: HopCount, now: HopCount) -> HopCount:
    """Frames of both; the hop is the same."""

    def summed(a: Mapping[K, int], b: Mapping[K, int]) -> dict[K, int]:
        return {key: a.get(key, 0) + b.get(key, 0) for key in {**a, **b}}

    return HopCount(
        now.hop,
        summed(earlier.entered, now.entered),
        summed(earlier.left, now.left),
        summed(earlier.drops, now.drops),
        summed(earlier.workers, now.workers),
    )


def task_stats(program: Wsdp, functions: Iterable[TaskCounts]) -> Mapping[str, Mapping[str, int]]:
    """The counters of every task of a process, and the own figures of those that functions name."""
    found = dict(program.ask("stats"))
    for function in functions:
        found |= {task: program.ask(f"task,{task}") for task in function.detailed}
    return found
