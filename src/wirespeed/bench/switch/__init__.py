# SPDX-License-Identifier: Apache-2.0
"""Register the types of switch: one file or folder each, listed in SWITCHES."""

from __future__ import annotations

from wirespeed.bench.switch.interface import SwitchKind
from wirespeed.bench.switch.linux.bridge_kind import LinuxBridgeKind
from wirespeed.bench.switch.linux.router_kind import LinuxRouterKind
from wirespeed.bench.switch.ovs_dpdk.kind import OvsDpdkKind
from wirespeed.bench.switch.wsdp_router.kind import WsdpRouterKind
from wirespeed.model.kinds import Kinds

SWITCHES: Kinds[SwitchKind] = Kinds(
    "sut.vswitch.kind", OvsDpdkKind(), LinuxBridgeKind(), LinuxRouterKind(), WsdpRouterKind()
)
