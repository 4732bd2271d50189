# SPDX-License-Identifier: Apache-2.0
"""Policers: a port lets fewer frames in, or out, than are offered.

Open vSwitch's policers (lib/netdev-dpdk.c) count octets of the frame behind its Ethernet header.
"""

from __future__ import annotations

from wirespeed.bench.fault.interface import Kind, Lasting, Scene, Strength
from wirespeed.bench.fault.openvswitch import control
from wirespeed.bench.fault.places import ports_in, ports_out
from wirespeed.bench.interface import Injection
from wirespeed.model.study.spec import Frames
from wirespeed.model.units import FCS_BYTES

_ETHERNET_HEADER = 14
_BURST_S = 0.01
_STRENGTH = Strength("what it lets through", "frames/s", 10_000, 1_000, 100_000_000)


class IngressPolicer(Kind):
    name = "ingress-policer"
    summary = "a port polices what comes in"
    strength = _STRENGTH

    def places(self, frames: Frames) -> tuple[str, ...]:
        return ports_in(self.name, frames)

    def injection(self, scene: Scene) -> Injection:
        return _Ingress(scene)


class EgressPolicer(Kind):
    name = "egress-policer"
    summary = "a port polices what goes out (QoS)"
    strength = _STRENGTH

    def places(self, frames: Frames) -> tuple[str, ...]:
        return ports_out(self.name, frames)

    def injection(self, scene: Scene) -> Injection:
        return _Egress(scene)


def _octets(scene: Scene) -> tuple[float, float]:
    """Return the octets a second and of a burst; a burst holds at least 4 of the largest frames."""
    counted = scene.frames.mean_wire_bytes - FCS_BYTES - _ETHERNET_HEADER
    per_s = scene.strength * counted
    return per_s, max(_BURST_S * per_s, 4.0 * max(scene.frames.wire_bytes))


class _Ingress(Lasting):
    def up(self) -> None:
        per_s, burst = _octets(self.scene)
        control(self.scene).vsctl(
            "set", "Interface", self.scene.place,
            f"ingress_policing_rate={max(1, round(per_s * 8 / 1000))}",
            f"ingress_policing_burst={max(1, round(burst * 8 / 1000))}",
        )  # fmt: skip


class _Egress(Lasting):
    def up(self) -> None:
        per_s, burst = _octets(self.scene)
        control(self.scene).vsctl(
            "set", "port", self.scene.place, "qos=@policer", "--", "--id=@policer", "create", "qos",
            "type=egress-policer", f"other-config:cir={round(per_s)}",
            f"other-config:cbs={round(burst)}",
        )  # fmt: skip
