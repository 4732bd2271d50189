# SPDX-License-Identifier: Apache-2.0
"""Host: one forwarding program between two ports, no vSwitch."""

from __future__ import annotations

from wirespeed.bench.topology.direct import between_ports
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.spec import PointSpec, VnfKind, VnfMode


def wiring(spec: PointSpec) -> Wiring:
    vnf = spec.sut.vnf
    rewrites = vnf.mode is VnfMode.MAC and vnf.kind is not VnfKind.BNG
    return between_ports(spec, "vnf0", rewrites)
