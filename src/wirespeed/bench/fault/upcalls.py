# SPDX-License-Identifier: Apache-2.0
"""Upcalls: every frame is a new flow to the datapath, or its flows are deleted all the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wirespeed.bench.fault.interface import Kind, Lasting, Scene, Strength
from wirespeed.bench.fault.openvswitch import control, vswitch
from wirespeed.bench.fault.places import ports_in
from wirespeed.bench.interface import Injection, Step
from wirespeed.model.frame import FlowField
from wirespeed.model.study.spec import Frames

# Looks at source addresses, so that each has a datapath flow of its own; nobody has this one.
_NARROW = "priority=9999,dl_src=06:00:00:00:00:06,actions=drop"


class UpcallStorm(Kind):
    name = "upcall-storm"
    summary = "each trial brings flows that the datapath has not seen, as many as strength says"
    strength = Strength("what a trial brings anew", "flows", 100_000, 1_000, 1_000_000)

    def places(self, frames: Frames) -> tuple[str, ...]:
        return ports_in(self.name, frames)[:1]

    def changed(self, frames: Frames, strength: float) -> Frames:
        many = replace(frames.traffic, flows=round(strength), flow_field=FlowField.SRC_MAC)
        return replace(frames, traffic=many)

    def injection(self, scene: Scene) -> Injection:
        return _NewFlows(scene)


class _NewFlows(Lasting):
    def up(self) -> None:
        for bridge in vswitch(self.scene).bridges:
            control(self.scene).ofctl("add-flow", _NARROW, bridge=bridge.name)

    def begin(self) -> None:
        """Delete the datapath flows that the last trial installed."""
        control(self.scene).ask("revalidator/purge")


class RevalidatorChurn(Kind):
    name = "revalidator-churn"
    summary = "the datapath's flows are deleted again and again while frames flow"
    strength = Strength("how often", "1/s", 20, 1, 100)

    def places(self, frames: Frames) -> tuple[str, ...]:
        return ports_in(self.name, frames)[:1]

    def injection(self, scene: Scene) -> Injection:
        return _Purged(scene)


class _Purged(Lasting):
    def steps(self, duration_s: float) -> Sequence[Step]:
        period_s = 1 / self.scene.strength
        first_s = self.scene.chance.random() * min(period_s, duration_s / 2)
        times = max(1, int((duration_s - first_s) / period_s))
        return [(first_s + n * period_s, self._purge) for n in range(times)]

    def _purge(self) -> None:
        control(self.scene).ask("revalidator/purge")
