# SPDX-License-Identifier: Apache-2.0
"""MTU too small: one port that frames leave by takes less than the others."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.fault.interface import Kind, Lasting, Scene, Strength
from wirespeed.bench.fault.openvswitch import control
from wirespeed.bench.fault.places import ports_out
from wirespeed.bench.host.process import await_true
from wirespeed.bench.interface import Injection
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames
from wirespeed.model.units import mtu_for

_LEAST_MTU = 68  # RFC 791; Open vSwitch takes no less
_TAKEN_S = 10.0


class SmallMtu(Kind):
    name = "small-mtu"
    summary = "one port's MTU is below what the largest frame needs"
    strength = Strength("how many octets the MTU lacks", "octets", 100, 16, 9000)

    def places(self, frames: Frames) -> tuple[str, ...]:
        return ports_out(self.name, frames)

    def refused(self, frames: Frames) -> Iterator[Fault]:
        if mtu_for(max(frames.wire_bytes)) <= _LEAST_MTU:
            allowed = f"needs traffic.frame of 128 and more: an MTU is {_LEAST_MTU} at least"
            yield Fault("fault.kind", self.name, allowed)

    def injection(self, scene: Scene) -> Injection:
        return _Smaller(scene)


class _Smaller(Lasting):
    def up(self) -> None:
        scene, ovs = self.scene, control(self.scene)
        wanted = max(_LEAST_MTU, mtu_for(max(scene.frames.wire_bytes)) - round(scene.strength))
        ovs.vsctl("set", "Interface", scene.place, f"mtu_request={wanted}")

        def taken() -> bool:
            rows = ovs.rows("Interface", "name", "mtu")
            return any(row["name"] == scene.place and row["mtu"] == wanted for row in rows)

        await_true(
            taken, within_s=_TAKEN_S, every_s=0.05,
            alive=lambda: next((e for p in scene.parts if (e := p.alive()) is not None), None),
            otherwise=lambda: f"port {scene.place} did not take the MTU {wanted}",
        )  # fmt: skip
