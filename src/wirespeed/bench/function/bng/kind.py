# SPDX-License-Identifier: Apache-2.0
"""Run this project's Broadband Network Gateway as a network function (docs/reference/bng.md)."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.function.bng.gateway import NAME, Gateway, beyond, gateway_of
from wirespeed.bench.function.bng.workers import (
    frames_between,
    is_upstream,
    worker_rings,
    worker_roles,
    worker_tasks,
)
from wirespeed.bench.function.counts import TaskCounts, TaskRole
from wirespeed.bench.function.forwarder import task_name
from wirespeed.bench.function.interface import Demand, Setup, polled_function
from wirespeed.bench.function.wsdp_tasks import WsdpFunctionKind
from wirespeed.bench.program.config import WsdpRing, WsdpTask
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.wiring import Forward
from wirespeed.model.input.fault import Fault
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, VnfMode
from wirespeed.model.study.sut import SutDescription


class BngFunction(WsdpFunctionKind):
    name = NAME
    summary = "this project's Broadband Network Gateway, which needs the table [bng]"

    def faults(self, frames: Frames) -> Iterator[Fault]:
        if frames.bng is None:
            yield Fault("sut.vnf.kind", NAME, "needs the table [bng]: its subscribers and routes")
        if frames.sut.vnf.mode is not VnfMode.MAC:
            mode = str(frames.sut.vnf.mode)
            yield Fault("sut.vnf.mode", mode, "a gateway has no mode; leave it out")

    def rewritten(
        self, _frames: Frames, _header: Header, own: str, _target: str, side: str
    ) -> tuple[Header, str | None]:
        return Header(own, beyond(side), dst_steps=True), None

    def description(self, _frames: Frames) -> SutDescription:
        return polled_function(self.name, "sut.vnf.workers")

    def demand(self, frames: Frames) -> Demand:
        workers = frames.sut.vnf.workers
        held = frames_between(workers) * len(frames.directions)
        return Demand(workers=workers, held_frames=held)

    def tasks(self, setup: Setup) -> tuple[WsdpTask, ...]:
        gateway = _gateway(setup)
        if gateway.workers > 1:
            found = worker_tasks(gateway, setup.forwards, setup.attachments, setup.lcores)
            return tuple(found)
        return tuple(_task(gateway, forward, setup) for forward in setup.forwards)

    def rings(self, setup: Setup) -> tuple[WsdpRing, ...]:
        workers = setup.frames.sut.vnf.workers
        return tuple(worker_rings(setup.forwards, workers)) if workers > 1 else ()

    def counts(self, setup: Setup) -> TaskCounts:
        workers = setup.frames.sut.vnf.workers
        one_each = (TaskRole(task_name(f, 0), f.from_port, f.to_port) for f in setup.forwards)
        roles = one_each if workers == 1 else worker_roles(setup.forwards, workers)
        return TaskCounts(setup.name, tuple(roles), DropCause.VNF_DISCARD, setup.blocked_by)


def _gateway(setup: Setup) -> Gateway:
    gateway = gateway_of(setup.frames, setup.run_dir, setup.entries)
    if gateway is None:
        raise ValueError("a gateway is for a point with a [bng] table")
    return gateway


def _task(gateway: Gateway, forward: Forward, setup: Setup) -> WsdpTask:
    """Build one direction of a gateway: all queues of one port to the first of the other."""
    upstream = is_upstream(forward)
    return WsdpTask(
        task_name(forward, 0),
        "bng_up" if upstream else "bng_down",
        setup.lcores[0],
        rx=setup.attachments[forward.from_port].receive,
        tx=setup.attachments[forward.to_port].transmit[:1],
        keys=gateway.function_keys(upstream=upstream),
    )
