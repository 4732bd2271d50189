# SPDX-License-Identifier: Apache-2.0
"""What does a study need to run: a host to plan for, a bench to open, someone who watches?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.interface import Bench, TcpBench
from wirespeed.measure.interface import Listener
from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import Plan
from wirespeed.model.result import SearchResult
from wirespeed.model.spec import Frames, TcpStreams, Workload
from wirespeed.model.study import Point
from wirespeed.model.tcp import TcpRun


@dataclass(frozen=True, slots=True)
class Rig:
    """What a study runs on. `cli` makes it; tests hand in one of known capacity.

    facts: of the host that is measured; others: of the other hosts that take part.
    lab_hosts: how many hosts the lab file has; 0 where there is none.

    open_bench: brings a point's topology up and, on exit, undoes everything it did to the host;
    its name ("RUN/POINT") says where logs are left. open_tcp: the same for TCP traffic.
    """

    facts: HostFacts
    plan: Callable[[Workload], Plan]
    open_bench: Callable[[Frames, Plan, str], AbstractContextManager[Bench]]
    open_tcp: Callable[[TcpStreams, Plan, str], AbstractContextManager[TcpBench]]
    others: tuple[HostFacts, ...] = ()
    lab_hosts: int = 0


class TcpListener(Protocol):
    """Sees the runs of TCP traffic at a point."""

    def tcp_run(self, run: TcpRun, number: int) -> None:
        """TCP was tested once, and the run is valid; `number` counts from 1."""
        ...

    def tcp_discarded(self, why: str) -> None:
        """TCP was tested once, and the run failed."""
        ...


class Watcher(Listener, TcpListener, Protocol):
    """Sees a run as it happens; decides nothing."""

    def point_skipped(self, point: Point, why: str) -> None:
        """It was complete already, or the host lacks what it needs."""
        ...

    def point_started(self, point: Point) -> None:
        """Its bench is about to be brought up."""
        ...

    def point_complete(self, point: Point, result: SearchResult) -> None: ...
