# SPDX-License-Identifier: Apache-2.0
"""How does a topology look whose every hop passes through the vSwitch?

Such a topology is told by its ways: which network functions the frames of each stream visit, in
which order. The rest follows: cables, what each function does to a frame, and the vSwitch's rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.bench.topology.addresses import (
    Header,
    beyond_gateway,
    generator_mac,
    vnf_mac,
)
from wirespeed.bench.topology.wiring import (
    EAST,
    GENERATOR,
    PORTS,
    SIDES,
    VSWITCH,
    WEST,
    Cable,
    End,
    Flow,
    Forward,
    Stream,
    Wiring,
)
from wirespeed.model.frame import FlowField
from wirespeed.model.spec import PointSpec, VnfKind, VnfMode


def through_vswitch(spec: PointSpec, ways: Sequence[Sequence[int]]) -> Wiring:
    """The wiring in which each way is one stream through the functions of these numbers."""
    streams: list[Stream] = []
    forwards: list[Forward] = []
    flows: list[Flow] = []
    for direction in spec.directions:
        for i, way in enumerate(ways):
            number = direction * len(ways) + i
            legs = _legs(way, direction)
            stream = _stream(direction, number, legs)
            streams.append(stream)
            does, rules = _walk(stream, legs, spec)
            forwards += does
            flows += rules
    vnfs = range(len({vnf for way in ways for vnf in way}))
    return Wiring(_cables(vnfs), tuple(streams), tuple(forwards), tuple(flows))


def vnf_name(index: int) -> str:
    return f"vnf{index}"


def switch_port(owner: str, port: str) -> str:
    """The vSwitch's ports are named after what is plugged into them."""
    return port if owner == GENERATOR else f"{owner}{port}"


# A visit to a function: its number, the side where frames enter and the side where they leave.
Leg = tuple[int, str, str]


def _legs(way: Sequence[int], direction: int) -> list[Leg]:
    enter, leave = SIDES if direction == 0 else SIDES[::-1]
    return [(vnf, enter, leave) for vnf in (way if direction == 0 else reversed(way))]


def _stream(direction: int, number: int, legs: Sequence[Leg]) -> Stream:
    start, end = PORTS if direction == 0 else PORTS[::-1]
    first = vnf_mac(legs[0][0], legs[0][1]) if legs else generator_mac(end)
    return Stream(f"{start}-{end}", number, start, end, generator_mac(start), first)


def _walk(stream: Stream, legs: Sequence[Leg], spec: PointSpec) -> tuple[list[Forward], list[Flow]]:
    """What the functions do to the stream's frames, and the rule for each passage."""
    mode, field = spec.sut.vnf.mode, spec.traffic.flow_field
    header = Header(
        stream.src_mac, stream.dst_mac, field is FlowField.SRC_MAC, field is FlowField.DST_MAC
    )
    forwards: list[Forward] = []
    flows: list[Flow] = []
    at = stream.from_port
    targets = [vnf_mac(vnf, enter) for vnf, enter, _ in legs[1:]] + [generator_mac(stream.to_port)]
    for (vnf, enter, leave), target in zip(legs, targets, strict=False):
        name = vnf_name(vnf)
        flows.append(Flow(at, header.match, switch_port(name, enter)))
        rewrites = mode is VnfMode.MAC and spec.sut.vnf.kind is not VnfKind.BNG
        forwards.append(Forward(name, enter, leave, target if rewrites else None))
        if spec.sut.vnf.kind is VnfKind.BNG:
            header = Header(vnf_mac(vnf, leave), beyond_gateway(leave), dst_steps=True)
        elif mode is VnfMode.MAC:
            header = Header(vnf_mac(vnf, leave), target)
        elif mode is VnfMode.MACSWAP:
            header = header.swapped()
        at = switch_port(name, leave)
    flows.append(Flow(at, header.match, stream.to_port))
    return forwards, flows


def _cables(vnfs: Sequence[int]) -> tuple[Cable, ...]:
    ends = [End(GENERATOR, port) for port in (EAST, WEST)]
    ends += [End(vnf_name(vnf), side) for vnf in vnfs for side in SIDES]
    return tuple(Cable(e, End(VSWITCH, switch_port(e.owner, e.port))) for e in ends)
