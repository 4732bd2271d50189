# SPDX-License-Identifier: Apache-2.0
"""Wrong VLAN translation: the first bridge gives frames another tag than the second expects."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.fault.interface import Kind, Lasting, Scene
from wirespeed.bench.fault.openvswitch import bridge_of, control
from wirespeed.bench.fault.places import ports_in
from wirespeed.bench.interface import Injection
from wirespeed.bench.switch.ovs_dpdk.flows import forward
from wirespeed.model.fault import Fault
from wirespeed.model.spec import Frames, VlanTranslation

_TAGS = range(1, 4095)


class WrongVlan(Kind):
    name = "wrong-vlan"
    summary = "between two bridges the tag becomes another than the second bridge's rules expect"

    def places(self, frames: Frames) -> tuple[str, ...]:
        """The port whose frames cross to the other bridge first."""
        return ports_in(frames)[:1]

    def refused(self, frames: Frames) -> Iterator[Fault]:
        if frames.sut.vswitch.ovs.vlan is not VlanTranslation.REWRITE:
            yield Fault("fault.kind", self.name, 'needs sut.vswitch.ovs.vlan = "rewrite"')

    def injection(self, scene: Scene) -> Injection:
        return _Mistranslated(scene)


class _Mistranslated(Lasting):
    def up(self) -> None:
        scene, ovs = self.scene, control(self.scene)
        right = scene.frames.sut.vswitch.ovs.local_vlan_id
        wrong = scene.chance.choice([tag for tag in _TAGS if tag != right])
        bridge = bridge_of(scene, scene.place)
        ovs.ask("revalidator/purge")
        for flow in scene.wiring.flows:
            if flow.in_port == scene.place:
                rule = forward(
                    bridge.number(flow.in_port), flow.dst_mac, bridge.number(flow.out_port),
                    "vlan_tci=0x1000/0x1000,", f"set_field:{wrong | 0x1000}->vlan_vid,",
                )  # fmt: skip
                ovs.ofctl("add-flow", rule, bridge=bridge.name)
