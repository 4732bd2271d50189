# SPDX-License-Identifier: Apache-2.0
"""Chain: the frames pass every VNF in turn, through the vSwitch before, between and after."""

from __future__ import annotations

from wirespeed.bench.topology.switched import through_vswitch
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.spec import PointSpec


def wiring(spec: PointSpec) -> Wiring:
    return through_vswitch(spec, ways=[range(spec.topology.vnfs)])
