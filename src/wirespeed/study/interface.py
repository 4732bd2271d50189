# SPDX-License-Identifier: Apache-2.0
"""Define the environment of a study: a host to plan for, a bench to open, a watcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.interface import Bench
from wirespeed.measure.interface import Listener
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.spec import Frames, Workload
from wirespeed.model.study.study import Point


class RunListener(Protocol):
    """Receives the runs of a workload that is measured by repeated runs."""

    def run_ended(self, rates: str, number: int) -> None:
        """Receive the rates of a valid run, in words; `number` counts from 1."""
        ...

    def run_failed(self, why: str) -> None:
        """Receive the reason why a run failed."""
        ...


class PointListener(Listener, RunListener, Protocol):
    """Receives what is measured at a point."""


class PointBench(Protocol):
    """A bench that measures its point."""

    def describe(self) -> Mapping[str, object]:
        """Return versions, configuration and commands, for the run record."""
        ...

    @property
    def emulated(self) -> str | None:
        """See SearchResult."""
        ...

    def measure(self, listener: PointListener) -> SearchResult: ...


@dataclass(frozen=True, slots=True)
class Rig:
    """Environment that a study runs on. `cli` makes it; tests pass one of known capacity."""

    facts: HostFacts
    """Facts of the measured host."""
    plan: Callable[[Workload], Plan]
    open_bench: Callable[[Frames, Plan, str], AbstractContextManager[Bench]]
    """Brings a point's topology up and undoes all host changes on exit. Its name ("RUN/POINT")
    decides where logs are kept."""
    open_own: Callable[[Workload, Plan, str], AbstractContextManager[PointBench]]
    """Same as open_bench, for a workload whose kind measures on a bench of its own."""
    others: tuple[HostFacts, ...] = ()
    """Facts of the other hosts that take part."""
    lab_hosts: int = 0
    """Number of hosts in the testbed file; 0 without one."""


class Watcher(PointListener, Protocol):
    """Receives the events of a run; decides nothing."""

    def point_skipped(self, point: Point, why: str) -> None:
        """Receive a point that is already complete, or that the host cannot run."""
        ...

    def point_started(self, point: Point) -> None:
        """Receive a point whose bench is about to be brought up."""
        ...

    def point_complete(self, point: Point, result: SearchResult) -> None: ...
