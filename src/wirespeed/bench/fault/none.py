# SPDX-License-Identifier: Apache-2.0
"""No fault: the name that a study varies against the others."""

from __future__ import annotations

from wirespeed.bench.fault.interface import Kind
from wirespeed.model.study.injected import NO_FAULT
from wirespeed.model.study.spec import Frames


class NoFault(Kind):
    name = NO_FAULT
    summary = "the point is as healthy as its host"

    def places(self, _frames: Frames) -> tuple[str, ...]:
        return (NO_FAULT,)
