# SPDX-License-Identifier: Apache-2.0
"""Wrong VLAN translation: the first bridge gives frames another tag than the second expects."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.fault.interface import Kind, Lasting, Scene
from wirespeed.bench.fault.openvswitch import bridge_of, control
from wirespeed.bench.fault.places import ports_in
from wirespeed.bench.interface import Injection
from wirespeed.bench.switch.ovs_dpdk.bridges import tags
from wirespeed.bench.switch.ovs_dpdk.flows import forward
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.ovs import VlanTranslation
from wirespeed.model.study.spec import (
    Frames,
)

_TAGS = range(1, 4095)


class WrongVlan(Kind):
    name = "wrong-vlan"
    summary = "between two bridges the tag becomes another than the second bridge's rules expect"

    def places(self, frames: Frames) -> tuple[str, ...]:
        """Return the port whose frames cross to the other bridge first."""
        return ports_in(self.name, frames)[:1]

    def refused(self, frames: Frames) -> Iterator[Fault]:
        if frames.sut.vswitch.ovs.vlan is VlanTranslation.NONE:
            allowed = 'needs sut.vswitch.ovs.vlan = "rewrite" or "strip"'
            yield Fault("fault.kind", self.name, allowed)

    def injection(self, scene: Scene) -> Injection:
        return _Mistranslated(scene)


class _Mistranslated(Lasting):
    def up(self) -> None:
        scene, ovs = self.scene, control(self.scene)
        factors, bridge = scene.frames.sut.vswitch.ovs, bridge_of(scene, scene.place)
        # With strip any tag is wrong, with rewrite any other one.
        wrong = scene.chance.choice([tag for tag in _TAGS if tag != factors.local_vlan_id])
        match = tags(0, factors, scene.frames.traffic.vlan_id).own
        ovs.ask("revalidator/purge")
        for flow in scene.wiring.flows:
            if flow.in_port == scene.place:
                rule = forward(
                    bridge.number(flow.in_port), flow.dst_mac, bridge.number(flow.out_port),
                    match, f"set_field:{wrong | 0x1000}->vlan_vid,",
                )  # fmt: skip
                ovs.ofctl("add-flow", rule, bridge=bridge.name)
