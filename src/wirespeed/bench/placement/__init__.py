# SPDX-License-Identifier: Apache-2.0
"""Register the placements of network functions: one file each, listed in PLACEMENTS."""

from __future__ import annotations

from wirespeed.bench.placement.container import InContainer
from wirespeed.bench.placement.guest import InGuest
from wirespeed.bench.placement.interface import PlacementKind
from wirespeed.bench.placement.process import OwnProcess
from wirespeed.bench.placement.shared import Shared
from wirespeed.model.kinds import Kinds

PLACEMENTS: Kinds[PlacementKind] = Kinds(
    "sut.vnf.placement", Shared(), OwnProcess(), InContainer(), InGuest()
)
