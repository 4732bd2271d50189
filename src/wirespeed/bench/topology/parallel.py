# SPDX-License-Identifier: Apache-2.0
"""Parallel: each VNF has a stream of its own, told apart by destination MAC."""

from __future__ import annotations

from wirespeed.bench.topology.switched import through_vswitch
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.spec import PointSpec


def wiring(spec: PointSpec) -> Wiring:
    return through_vswitch(spec, ways=[(vnf,) for vnf in range(spec.topology.vnfs)])
