# SPDX-License-Identifier: Apache-2.0
"""Define the topology parallel: each VNF has its own stream, chosen by destination MAC."""

from __future__ import annotations

from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.switched import function_names, through_switch
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.study.spec import Frames


def _wiring(frames: Frames, function: Rewriting) -> Wiring:
    return through_switch(frames, function, visits=[(vnf,) for vnf in range(frames.topology.vnfs)])


PARALLEL = TopologyKind(
    "parallel", "through `vnfs` VNFs side by side", _wiring,
    functions=lambda frames: function_names(frames.topology.vnfs), has_switch=True,
    takes=frozenset({"topology.vnfs"}),
)  # fmt: skip
