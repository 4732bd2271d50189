# SPDX-License-Identifier: Apache-2.0
"""Place a function in the generator's process, where their tasks take turns."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.function.interface import FunctionKind, Setup
from wirespeed.bench.function.wsdp_tasks import RunsAsTasks
from wirespeed.bench.placement.interface import OnHost, Own, Placed, Seat
from wirespeed.bench.topology.interface import TopologyKind
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import PlacementNeeds
from wirespeed.model.study.spec import Frames, Roles


class Shared:
    name = "shared"
    summary = "tasks in the generator's process"
    chosen_by_plan = True
    needs = PlacementNeeds(name, shares_generator=True)

    def faults(
        self, function: FunctionKind, topology: TopologyKind, frames: Frames
    ) -> Iterator[Fault]:
        if frames.hosts != Roles():
            yield self._fault("with [hosts]: the generator's process is on another host")
        elif topology.function_is_sut:
            kind = f'with topology.kind = "{topology.name}"'
            yield self._fault(f"{kind}: there the function is the SUT")
        elif function.demand(frames).own_namespace:
            yield self._fault(f"with [routing] and {function.name}: it follows a kernel")
        elif not isinstance(function, RunsAsTasks):
            yield self._fault(f"with {function.name}, which is a process of its own")

    def _fault(self, why: str) -> Fault:
        return Fault("sut.vnf.placement", self.name, f'must be "process" {why}')

    def seat(self, on_host: OnHost) -> Seat:
        raise ValueError(f"{on_host.plan.name} has no process of its own")

    def place(self, function: FunctionKind, setup: Setup, _own: Own | None) -> Placed:
        if not isinstance(function, RunsAsTasks):
            raise ValueError(f"{function.name} cannot share the generator's process")
        return Placed(
            function.tasks(setup), function.rings(setup), (function.counts(setup),),
            function.files(setup),
        )  # fmt: skip
