# SPDX-License-Identifier: Apache-2.0
"""Define the path and the frames of a point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Gt, Le

from wirespeed.model.frame import Encapsulation, FlowField, FrameSizes, VlanId
from wirespeed.model.input.text import FilePath, Word


@dataclass(frozen=True, slots=True)
class Topology:
    """Path of the frames between the generator's ports."""

    kind: Word = "p2p"
    """Hops on the path."""
    vnfs: Annotated[int, Ge(1), Le(8)] = 1
    """Number of VNFs of a chain, parallel or sriov topology."""
    bidirectional: bool = False
    """Traffic in both directions; loads and rates are then sums of both."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Frames to offer."""

    frame: FrameSizes = field(default_factory=lambda: FrameSizes.parse("64"))
    """Frame size in octets including the FCS (64..9216), or an IMIX genome (RFC 6985) as
    "imix:aaaaadddg"."""
    ip_version: Annotated[int, Ge(4), Le(6)] = 4
    """IP version, 4 or 6; the payload is UDP."""
    encapsulation: Encapsulation = Encapsulation.NONE
    """VLAN tags in front of the IP header."""
    vlan_id: VlanId = 100
    """VLAN tag, or outer tag of a QinQ frame."""
    inner_vlan_id: VlanId = 200
    """Inner tag of a QinQ frame."""
    flows: Annotated[int, Ge(1), Le(1_000_000)] = 64
    """Number of flows. Each frame belongs to the next flow."""
    flow_field: FlowField = FlowField.SRC_PORT
    """Header field that differs between flows."""
    burst: Annotated[int, Ge(1), Le(64)] = 32
    """Largest number of frames passed to the port at once."""
    link_bps: Annotated[float, Gt(0)] = 10e9
    """Link speed for "% of line rate". It is nominal for virtual ports, which have no speed."""
    link_bound: bool = False
    """Offer virtual ports at most the rate of a link of link_bps, as a NIC would. Default: as much
    as the generator can. Ports of the external topology are always bound."""
    pcap: FilePath | None = None
    """Capture file to replay instead of generated frames."""
