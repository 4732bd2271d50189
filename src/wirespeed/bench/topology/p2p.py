# SPDX-License-Identifier: Apache-2.0
"""P2P: the vSwitch between two ports, nothing else."""

from __future__ import annotations

from wirespeed.bench.topology.switched import through_vswitch
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.spec import PointSpec


def wiring(spec: PointSpec) -> Wiring:
    return through_vswitch(spec, ways=[()])
