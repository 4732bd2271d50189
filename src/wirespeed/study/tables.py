# SPDX-License-Identifier: Apache-2.0
"""Define the tables of a study file that several kinds of workload read."""

from __future__ import annotations

from dataclasses import dataclass, field

from wirespeed.model.study.gateway import Bng
from wirespeed.model.study.injected import NO_FAULT, InjectedFault
from wirespeed.model.study.spec import (
    Guest,
    Roles,
    Routing,
    Search,
    Sriov,
    Sut,
    Topology,
    Traffic,
)
from wirespeed.model.study.tcp import Tcp


@dataclass(frozen=True, slots=True)
class CommonTables:
    """Tables of one point in the spelling of a study file."""

    topology: Topology = field(default_factory=Topology)
    traffic: Traffic = field(default_factory=Traffic)
    sut: Sut = field(default_factory=Sut)
    search: Search = field(default_factory=Search)
    hosts: Roles = field(default_factory=Roles)
    bng: Bng | None = None
    tcp: Tcp | None = None
    guest: Guest | None = None
    sriov: Sriov | None = None
    fault: InjectedFault | None = None
    routing: Routing | None = None

    @property
    def injected(self) -> InjectedFault | None:
        """The injected fault; None also for kind "none", which is the same point."""
        return None if self.fault is None or self.fault.kind == NO_FAULT else self.fault
