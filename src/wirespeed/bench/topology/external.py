# SPDX-License-Identifier: Apache-2.0
"""External: the generator's ports lead out of this bench, to a DUT it knows nothing about."""

from __future__ import annotations

from wirespeed.bench.topology.direct import streams
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.spec import PointSpec


def wiring(spec: PointSpec) -> Wiring:
    return Wiring(cables=(), streams=streams(spec))
