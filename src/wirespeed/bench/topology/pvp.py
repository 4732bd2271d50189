# SPDX-License-Identifier: Apache-2.0
"""Define the topology pvp: port, switch, one VNF, switch, port."""

from __future__ import annotations

from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.switched import function_names, through_switch
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.study.spec import Frames


def _wiring(frames: Frames, function: Rewriting) -> Wiring:
    return through_switch(frames, function, visits=[(0,)])


PVP = TopologyKind(
    "pvp", "through the switch, one VNF and the switch again", _wiring,
    functions=lambda _frames: function_names(1), has_switch=True, takes=frozenset({"bng"}),
)  # fmt: skip
