# SPDX-License-Identifier: Apache-2.0
"""Access the bench's Open vSwitch from an injected fault."""

from __future__ import annotations

from wirespeed.bench.fault.interface import Scene
from wirespeed.bench.switch.ovs_dpdk.bridges import Bridge
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk
from wirespeed.bench.topology.wiring import SWITCH


def vswitch(scene: Scene) -> OvsDpdk:
    """Return the bench's Open vSwitch.

    Raises StopIteration if there is none; `places` rejects such a point earlier.
    """
    return next(p for p in scene.parts if isinstance(p, OvsDpdk) and p.hop == SWITCH)


def control(scene: Scene) -> Control:
    return vswitch(scene).control


def bridge_of(scene: Scene, port: str) -> Bridge:
    """Return the bridge that has the port."""
    return next(
        bridge for bridge in vswitch(scene).bridges if any(p.name == port for p in bridge.ports)
    )
