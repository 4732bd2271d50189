# SPDX-License-Identifier: Apache-2.0
"""Where network functions run: each kind is a file here, and its name in PLACEMENTS."""

from __future__ import annotations

from wirespeed.bench.placement.guest import InGuest
from wirespeed.bench.placement.interface import PlacementKind
from wirespeed.bench.placement.process import OwnProcess
from wirespeed.bench.placement.shared import Shared
from wirespeed.model.kinds import Kinds

PLACEMENTS: Kinds[PlacementKind] = Kinds("sut.vnf.placement", Shared(), OwnProcess(), InGuest())
