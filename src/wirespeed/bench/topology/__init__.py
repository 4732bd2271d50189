# SPDX-License-Identifier: Apache-2.0
"""The topologies: each file turns a point's parameters into a Wiring, as pure data.

To add one: a file here with `wiring(spec) -> Wiring`, its line in `_WIRINGS`, its name in
model.spec.TopologyKind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wirespeed.bench.topology import chain, external, host, p2p, parallel, pvp, wire
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.spec import PointSpec, TopologyKind

_WIRINGS: Mapping[TopologyKind, Callable[[PointSpec], Wiring]] = {
    TopologyKind.WIRE: wire.wiring,
    TopologyKind.HOST: host.wiring,
    TopologyKind.P2P: p2p.wiring,
    TopologyKind.PVP: pvp.wiring,
    TopologyKind.CHAIN: chain.wiring,
    TopologyKind.PARALLEL: parallel.wiring,
    TopologyKind.EXTERNAL: external.wiring,
}


def wiring(spec: PointSpec) -> Wiring:
    """How the topology of this point is wired."""
    return _WIRINGS[spec.topology.kind](spec)
