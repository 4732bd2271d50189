# SPDX-License-Identifier: Apache-2.0
"""Register the topologies: each file makes one type, whose wiring is pure data.

To add one: a file here, and its type in TOPOLOGIES.
"""

from __future__ import annotations

from wirespeed.bench.topology.chain import CHAIN
from wirespeed.bench.topology.external import EXTERNAL
from wirespeed.bench.topology.host import HOST
from wirespeed.bench.topology.interface import TopologyKind
from wirespeed.bench.topology.p2p import P2P
from wirespeed.bench.topology.parallel import PARALLEL
from wirespeed.bench.topology.pvp import PVP
from wirespeed.bench.topology.sriov import SRIOV
from wirespeed.bench.topology.sriov_vhost import SRIOV_VHOST
from wirespeed.bench.topology.wire import WIRE
from wirespeed.model.kinds import Kinds

TOPOLOGIES: Kinds[TopologyKind] = Kinds(
    "topology.kind", WIRE, HOST, P2P, PVP, CHAIN, PARALLEL, SRIOV, SRIOV_VHOST, EXTERNAL
)
