# SPDX-License-Identifier: Apache-2.0
"""Define the topology chain: frames pass every VNF in turn, with the switch in between."""

from __future__ import annotations

from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.switched import function_names, through_switch
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.study.spec import Frames


def _wiring(frames: Frames, function: Rewriting) -> Wiring:
    return through_switch(frames, function, visits=[range(frames.topology.vnfs)])


CHAIN = TopologyKind(
    "chain", "through `vnfs` VNFs in series, with the switch before, between and after", _wiring,
    functions=lambda frames: function_names(frames.topology.vnfs), has_switch=True,
    takes=frozenset({"topology.vnfs"}),
)  # fmt: skip
