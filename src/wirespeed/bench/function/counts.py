# SPDX-License-Identifier: Apache-2.0
"""Convert counters of a network function's tasks to frames entered, left and dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from wirespeed.bench.interface import HopCount
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.result.hop_counts import DropCause

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class TaskRole:
    """One task of a network function."""

    task: str
    enters: str | None = None
    """Port whose frames it receives; None where it reads a ring between two tasks."""
    leaves: str | None = None
    """Port that it sends to; None where it writes to a ring between two tasks."""
    worker: tuple[int, str] | None = None
    """Number of the worker, and the port by which its frames came in."""


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """Counters of a network function made of wsdp tasks, by hop and cause."""

    name: str
    roles: tuple[TaskRole, ...]
    discards: DropCause
    """Reason for which the function drops frames on purpose."""
    blocked_by: DropCause
    """Cause of a full output: who is too slow to empty it."""
    causes: Mapping[str, DropCause] = field(default_factory=dict)
    """Counters that split the discarded frames by cause; the remainder counts as `discards`."""
    settings: tuple[str, ...] = ()
    """Figures of its tasks that are settings, which a client of wsdp may change."""
    hands_over: bool = False
    """True if frames that the kernel is handed count as dropped, by the cause that led there."""

    @property
    def detailed(self) -> tuple[str, ...]:
        """Tasks whose own counters are needed in addition to the counters of every task."""
        return tuple(role.task for role in self.roles) if self.causes else ()

    def read(self, stats: Mapping[str, Mapping[str, int]], missed: Mapping[str, int]) -> HopCount:
        """Return the hop's counts from wsdp's counters by task.

        missed: frames that a port dropped before a task saw them, by port name.
        """
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
            handled = 0 if self.hands_over else seen["handled"]
            discarded = seen["discard"] + seen["handled"] - handled
            for cause, frames in (
                (full, seen["tx_fail"]),
                (self.discards, discarded - sum(frames for _, frames in named)),
                (DropCause.VNF_HANDLED, handled),
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
    """Return the sum of two counts of one hop."""

    def summed(a: Mapping[K, int], b: Mapping[K, int]) -> dict[K, int]:
        return {key: a.get(key, 0) + b.get(key, 0) for key in {**a, **b}}

    return HopCount(
        now.hop,
        summed(earlier.entered, now.entered),
        summed(earlier.left, now.left),
        summed(earlier.drops, now.drops),
        summed(earlier.workers, now.workers),
    )


def task_settings(program: Wsdp, functions: Iterable[TaskCounts]) -> Mapping[str, str]:
    """Return the settings of the functions' tasks by readable name."""
    found: dict[str, str] = {}
    for function in functions:
        for task in (role.task for role in function.roles if function.settings):
            seen = program.ask(f"task,{task}")
            name = f"{function.name}/task {task}"
            found |= {f"{name}, {key}": str(seen[key]) for key in function.settings}
    return found


def task_stats(program: Wsdp, functions: Iterable[TaskCounts]) -> Mapping[str, Mapping[str, int]]:
    """Return the counters of every task of a process, with the own counters that functions need."""
    found = dict(program.ask("stats"))
    for function in functions:
        found |= {task: program.ask(f"task,{task}") for task in function.detailed}
    return found
