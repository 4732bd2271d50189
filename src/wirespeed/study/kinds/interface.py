# SPDX-License-Identifier: Apache-2.0
"""Define a kind of workload: what a study asks of it, from its tables to its result.

To add one, see "a kind of workload" in ARCHITECTURE.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from wirespeed.bench.site import Site
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.study.spec import Workload
from wirespeed.model.study.sut import SutDescription
from wirespeed.study.interface import PointBench, Rig


class WorkloadKind(Protocol):
    """A workload of one kind."""

    @property
    def workload(self) -> Workload: ...

    def faults(self) -> Iterator[Fault]:
        """Yield the rules that its tables break. Only for a workload that was read from tables."""
        ...

    def tables(self) -> Mapping[str, object]:
        """Return the tables that the point depends on, by name; unused tables are omitted."""
        ...

    @property
    def heading(self) -> tuple[str, ...]:
        """Return the first parts of the point's label."""
        ...

    @property
    def in_heading(self) -> frozenset[str]:
        """Return the keys whose values the heading has."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Return conditions on the host in addition to those of the study."""
        ...

    @property
    def estimate_s(self) -> float:
        """Return the estimated time to measure the point, in seconds."""
        ...

    @property
    def sut(self) -> SutDescription:
        """Describe the SUT of the point."""
        ...

    def plan(self, facts: HostFacts) -> Plan:
        """Return the plan on a host with these facts. Raises BadInput."""
        ...

    def check_user(self, user: str, plan: HostPlan) -> None:
        """Raise BenchError where this user cannot bring the point's bench up."""
        ...

    def open(self, rig: Rig, plan: Plan, name: str) -> AbstractContextManager[PointBench]:
        """Open the point's bench on the rig. name: RUN/POINT, for its logs."""
        ...

    def open_on(self, plan: Plan, site: Site) -> AbstractContextManager[PointBench]:
        """Open the point's bench on one host."""
        ...
