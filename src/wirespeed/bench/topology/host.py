# SPDX-License-Identifier: Apache-2.0
"""Define the topology host: one forwarding program between two ports, no switch."""

from __future__ import annotations

from wirespeed.bench.topology.direct import between_ports
from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.switched import function_names
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.study.spec import Frames


def _wiring(frames: Frames, function: Rewriting) -> Wiring:
    return between_ports(frames, function, *function_names(1))


HOST = TopologyKind(
    "host", "one VNF between two ports, no switch", _wiring,
    functions=lambda _frames: function_names(1), function_is_sut=True,
    takes=frozenset({"bng"}),
)  # fmt: skip
