# SPDX-License-Identifier: Apache-2.0
"""Run the reference SUT, which limits, delays and drops frames as configured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.forwarder import counts_of_lanes, lanes, task_between
from wirespeed.bench.function.interface import Demand, Setup
from wirespeed.bench.function.wsdp_tasks import WsdpFunctionKind
from wirespeed.bench.program.config import WsdpTask
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.wiring import IMPAIR
from wirespeed.model.input.fault import Fault
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, Impair
from wirespeed.model.study.sut import SutDescription

# Upper bound of what one lcore moves, for a reference SUT without a rate limit.
_UNLIMITED_FPS = 40e6


class ReferenceSut(WsdpFunctionKind):
    name = IMPAIR
    summary = "the reference SUT, which the wire topology alone has"

    def faults(self, frames: Frames) -> Iterator[Fault]:
        if frames.sut.vnf.kind == self.name:
            allowed = 'is what topology.kind = "wire" measures; leave it out'
            yield Fault("sut.vnf.kind", self.name, allowed)

    def rewritten(
        self, _frames: Frames, header: Header, _own: str, _target: str, _side: str
    ) -> tuple[Header, str | None]:
        return header, None

    def description(self, frames: Frames) -> SutDescription:
        limited = frames.sut.impair.rate_fps > 0
        entrance = "the entrance of the reference SUT"
        return SutDescription("reference", "the reference SUT", entrance, True, limited)

    def demand(self, frames: Frames) -> Demand:
        impair = frames.sut.impair
        rate_fps = impair.rate_fps or _UNLIMITED_FPS
        return Demand(
            held_frames=impair.queue_frames + int(impair.delay_ns * rate_fps / 1e9),
            shallowest_frames=impair.queue_frames if impair.rate_fps else None,
        )

    def tasks(self, setup: Setup) -> tuple[WsdpTask, ...]:
        keys = _keys(setup.frames.sut.impair)
        return tuple(
            task_between(setup, forward, queue, IMPAIR, keys) for forward, queue in lanes(setup)
        )

    def counts(self, setup: Setup) -> TaskCounts:
        counts = counts_of_lanes(setup, DropCause.IMPAIRED)
        return replace(counts, settings=(*_keys(setup.frames.sut.impair), "bucket_frames"))


def _keys(impair: Impair) -> Mapping[str, str]:
    return {
        "rate_fps": str(round(impair.rate_fps)),
        "delay_ns": str(impair.delay_ns),
        "loss_every": str(impair.loss_every),
        "queue_frames": str(impair.queue_frames),
        "stall_every_ns": str(impair.stall_every_ns),
        "stall_ns": str(impair.stall_ns),
    }
