# SPDX-License-Identifier: Apache-2.0
"""Wire: the reference SUT of known behaviour between two rings, in the generator's process."""

from __future__ import annotations

from wirespeed.bench.topology.direct import between_ports
from wirespeed.bench.topology.wiring import IMPAIR, Wiring
from wirespeed.model.spec import PointSpec


def wiring(spec: PointSpec) -> Wiring:
    return between_ports(spec, IMPAIR, rewrites=False)
