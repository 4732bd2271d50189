# SPDX-License-Identifier: Apache-2.0
"""Place a function in a process of its own, with its own cores and memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.bench.function.interface import FunctionKind, Setup
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.placement.interface import READY_S, OnHost, Own, Placed, Seat
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.topology.interface import TopologyKind
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import PlacementNeeds
from wirespeed.model.study.spec import Frames


@dataclass(frozen=True, slots=True)
class ProcessLaunch:
    """A function and its own process, which has no tasks yet."""

    function: FunctionKind
    process: WsdpConfig
    setup: Setup
    ready_s: float = READY_S

    def part(self, host: Host, dirs: Directories) -> Part:
        return self.function.part(host, dirs, self.process, self.setup)


def faults_in_one_process(placement: str, topology: TopologyKind) -> Iterator[Fault]:
    """Yield a fault if the topology has one process, so that no function has its own."""
    if topology.one_process:
        allowed = f'has no meaning with topology.kind = "{topology.name}": it is one process'
        yield Fault("sut.vnf.placement", placement, allowed)


class OwnProcess:
    name = "process"
    summary = "one process for each VNF"
    chosen_by_plan = True
    needs = PlacementNeeds(name, shares_generator=False)

    def faults(
        self, _function: FunctionKind, topology: TopologyKind, _frames: Frames
    ) -> Iterator[Fault]:
        return faults_in_one_process(self.name, topology)

    def seat(self, on_host: OnHost) -> Seat:
        plan = on_host.plan
        floats = plan.floats_over.value if plan.floats_over is not None else ()
        return Seat(on_host.control_cpu, plan.cpus.value, on_host.plugs, floats)

    def place(self, function: FunctionKind, setup: Setup, own: Own | None) -> Placed:
        if own is None:
            raise ValueError(f"the plan gives {setup.name} no process of its own")
        return Placed(launch=ProcessLaunch(function, own.process, setup))
