# SPDX-License-Identifier: Apache-2.0
"""Define the topology p2p: the switch between two ports, nothing else."""

from __future__ import annotations

from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.switched import through_switch
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.study.spec import Frames


def _wiring(frames: Frames, function: Rewriting) -> Wiring:
    return through_switch(frames, function, visits=[()])


P2P = TopologyKind(
    "p2p", "the switch between two ports", _wiring, has_switch=True, takes=frozenset({"bng"})
)
