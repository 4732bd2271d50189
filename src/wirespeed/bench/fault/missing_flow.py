# SPDX-License-Identifier: Apache-2.0
"""Missing flow: the rules for what comes in by one port are deleted."""

from __future__ import annotations

from wirespeed.bench.fault.interface import Kind, Lasting, Scene
from wirespeed.bench.fault.openvswitch import bridge_of, control
from wirespeed.bench.fault.places import ports_in
from wirespeed.bench.interface import Injection
from wirespeed.model.study.spec import Frames


class MissingFlow(Kind):
    name = "missing-flow"
    summary = "the switch has no rule for what comes in by one port"

    def places(self, frames: Frames) -> tuple[str, ...]:
        return ports_in(self.name, frames)

    def injection(self, scene: Scene) -> Injection:
        return _Deleted(scene)


class _Deleted(Lasting):
    def up(self) -> None:
        """Delete the rules of the place.

        The datapath credits earlier frames to these rules first, else to the drop rule.
        """
        scene, ovs = self.scene, control(self.scene)
        bridge = bridge_of(scene, scene.place)
        ovs.ask("revalidator/purge")
        for flow in scene.wiring.flows:
            if flow.in_port == scene.place:
                match = f"in_port={bridge.number(scene.place)},dl_dst={flow.dst_mac}"
                ovs.ofctl("del-flows", match, bridge=bridge.name)
