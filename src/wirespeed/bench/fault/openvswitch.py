# SPDX-License-Identifier: Apache-2.0
"""How does a fault reach the bench's Open vSwitch?"""

from __future__ import annotations

from wirespeed.bench.fault.interface import Scene
from wirespeed.bench.switch.ovs_dpdk.bridges import Bridge
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk
from wirespeed.bench.topology.wiring import SWITCH


def vswitch(scene: Scene) -> OvsDpdk:
    """The part of the bench. Raises StopIteration where it has none: `places` says so before."""
    return next(p for p in scene.parts if isinstance(p, OvsDpdk) and p.hop == SWITCH)


def control(scene: Scene) -> Control:
    return vswitch(scene).control


def bridge_of(scene: Scene, port: str) -> Bridge:
    """The bridge that has the port."""
    return next(
        bridge for bridge in vswitch(scene).bridges if any(p.name == port for p in bridge.ports)
    )
