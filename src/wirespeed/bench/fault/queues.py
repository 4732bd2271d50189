# SPDX-License-Identifier: Apache-2.0
"""Rings: too short, or one of several queues gets all flows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.bench.fault.interface import Kind, Strength
from wirespeed.bench.fault.places import ports_in
from wirespeed.model.frame import FlowField
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames


class SmallRing(Kind):
    name = "small-ring"
    summary = "receive and transmit rings have few descriptors"
    strength = Strength("how long each ring is, a power of two", "descriptors", 64, 64, 4096)

    def places(self, frames: Frames) -> tuple[str, ...]:
        return ports_in(self.name, frames)[:1]

    def changed(self, frames: Frames, strength: float) -> Frames:
        ring = 1 << (round(strength).bit_length() - 1)
        short = replace(frames.sut.vswitch, descriptors=ring)
        return replace(frames, sut=replace(frames.sut, vswitch=short))


class OneQueue(Kind):
    name = "one-queue"
    summary = "flows differ in what RSS does not look at: one of several queues gets them all"

    def places(self, frames: Frames) -> tuple[str, ...]:
        return ports_in(self.name, frames)[:1]

    def refused(self, frames: Frames) -> Iterator[Fault]:
        if frames.sut.vswitch.rx_queues < 2 or frames.traffic.flows < 2:
            allowed = "needs sut.vswitch.rx_queues and traffic.flows of 2 and more"
            yield Fault("fault.kind", self.name, allowed)

    def changed(self, frames: Frames, _strength: float) -> Frames:
        alike = replace(frames.traffic, flow_field=FlowField.SRC_MAC)
        return replace(frames, traffic=alike)
