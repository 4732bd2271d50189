# SPDX-License-Identifier: Apache-2.0
"""Define the tables of a study file, and the workload that they describe."""

from __future__ import annotations

from dataclasses import dataclass, field

from wirespeed.bench.topology.tcp import PATHS
from wirespeed.model.study.gateway import Bng
from wirespeed.model.study.injected import NO_FAULT, InjectedFault
from wirespeed.model.study.spec import (
    Frames,
    Guest,
    Roles,
    Search,
    Sriov,
    Sut,
    TcpStreams,
    Topology,
    Traffic,
    Workload,
)
from wirespeed.model.study.tcp import Tcp


@dataclass(frozen=True, slots=True)
class Tables:
    """One point in the spelling of a study file."""

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

    @property
    def workload(self) -> Workload:
        if self.tcp is not None:
            return TcpStreams(self.tcp, self.sut.vswitch, self.guest, self.sut.ports, self.sriov)
        return Frames(
            self.topology, self.traffic, self.sut, self.search, self.bng, self.hosts, self.guest,
            self.sriov, self.injected,
        )  # fmt: skip

    @property
    def injected(self) -> InjectedFault | None:
        """The injected fault; None also for kind "none", which is the same point."""
        return None if self.fault is None or self.fault.kind == NO_FAULT else self.fault


def tables_of(workload: Workload) -> dict[str, object]:
    """Return the tables that a point depends on, by name; unused tables are omitted."""
    if isinstance(workload, TcpStreams):
        path = PATHS[workload.tcp.path]
        sut: dict[str, object] = {"vswitch": workload.vswitch} if path.switch is not None else {}
        if path.on_vfs:
            sut = {"ports": workload.ports}
        others = {"sut": sut or None, "guest": workload.guest, "sriov": workload.sriov}
        return {"tcp": workload.tcp, **{k: v for k, v in others.items() if v is not None}}
    found: dict[str, object] = {
        "topology": workload.topology,
        "traffic": workload.traffic,
        "sut": workload.sut,
        "search": workload.search,
    }
    if workload.bng is not None:
        found["bng"] = workload.bng
    if workload.hosts != Roles():
        found["hosts"] = workload.hosts
    if workload.guest is not None:
        found["guest"] = workload.guest
    if workload.sriov is not None:
        found["sriov"] = workload.sriov
    if workload.fault is not None:
        found["fault"] = workload.fault
    return found
