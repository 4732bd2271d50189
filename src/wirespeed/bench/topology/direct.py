# SPDX-License-Identifier: Apache-2.0
"""How does a topology look in which the generator's ports lead straight into one function?"""

from __future__ import annotations

from wirespeed.bench.topology.addresses import generator_mac
from wirespeed.bench.topology.wiring import (
    GENERATOR,
    PORTS,
    SIDES,
    Cable,
    End,
    Forward,
    Stream,
    Wiring,
)
from wirespeed.model.spec import PointSpec


def streams(spec: PointSpec) -> tuple[Stream, ...]:
    """One stream for each direction."""
    ways = {0: PORTS, 1: PORTS[::-1]}
    return tuple(
        Stream(f"{start}-{end}", i, start, end, generator_mac(start), generator_mac(end))
        for i in spec.directions
        for start, end in [ways[i]]
    )


def between_ports(spec: PointSpec, name: str, rewrites: bool) -> Wiring:
    """The generator's ports on the two sides of one function, which may rewrite addresses."""
    cables = tuple(
        Cable(End(GENERATOR, port), End(name, side))
        for port, side in zip(PORTS, SIDES, strict=True)
    )
    side_of = dict(zip(PORTS, SIDES, strict=True))
    forwards = tuple(
        Forward(name, side_of[s.from_port], side_of[s.to_port], s.dst_mac if rewrites else None)
        for s in streams(spec)
    )
    return Wiring(cables, streams(spec), forwards)
