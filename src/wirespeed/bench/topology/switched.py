# SPDX-License-Identifier: Apache-2.0
"""Wire topologies in which every hop passes through a switch.

The input is the visits: which functions the frames of each stream pass, in which order. The rest
follows: cables, what each function does to a frame, the switch's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wirespeed.bench.topology.addresses import Header, vnf_mac
from wirespeed.bench.topology.interface import Rewriting
from wirespeed.bench.topology.routes import destinations
from wirespeed.bench.topology.wiring import (
    EAST,
    GENERATOR,
    NIC,
    PORTS,
    SIDES,
    SWITCH,
    WEST,
    Cable,
    End,
    Flow,
    Forward,
    Route,
    Stream,
    Wiring,
    generator_mac,
)
from wirespeed.model.frame import FlowField
from wirespeed.model.study.spec import Frames


def _never(_end: End) -> bool:
    return False


def through_switch(
    frames: Frames,
    function: Rewriting,
    visits: Sequence[Sequence[int]],
    on_nic: Callable[[End], bool] = _never,
) -> Wiring:
    """Return the wiring in which each visit is one stream through these functions.

    visits: numbers of functions, in order. on_nic: whether a port is a virtual function, which the
    NIC's switch joins to others.
    """
    streams: list[Stream] = []
    forwards: list[Forward] = []
    flows: list[Flow] = []
    for direction in frames.directions:
        for i, visit in enumerate(visits):
            number = direction * len(visits) + i
            legs = _legs(visit, direction)
            stream = _stream(direction, number, legs)
            streams.append(stream)
            does, rules = _walk(stream, legs, frames, function)
            forwards += does
            flows += rules
    cables = _cables(len({vnf for visit in visits for vnf in visit}), on_nic)
    # A NIC's switch knows its ports by their addresses and needs no rules.
    ruled = {cable.b.port for cable in cables if cable.b.owner == SWITCH}
    first = _entries(visits[0])
    # A ring into the switch and one out, and two more for each function on the way.
    rings = 2 + 2 * max(len(visit) for visit in visits)
    routes = tuple(
        Route(prefix, stream.to_port)
        for stream in streams
        for prefix in destinations(frames, stream, len(visits))
    )
    return Wiring(
        cables, tuple(streams), tuple(forwards), tuple(f for f in flows if f.in_port in ruled),
        first, rings,
        passes=tuple(dict.fromkeys(
            (End(NIC, f.in_port), End(NIC, f.out_port)) for f in flows if f.in_port not in ruled)),
        routes=tuple(dict.fromkeys(routes)),
    )  # fmt: skip


def function_names(count: int) -> tuple[str, ...]:
    return tuple(f"vnf{index}" for index in range(count))


def _switch_port(owner: str, port: str) -> str:
    """Return a switch port's name, which is that of its program and port."""
    return port if owner == GENERATOR else f"{owner}{port}"


# Passage through a function: its number, the side where frames enter, the side where they leave.
Leg = tuple[int, str, str]


def _legs(visit: Sequence[int], direction: int) -> list[Leg]:
    enter, leave = SIDES if direction == 0 else SIDES[::-1]
    return [(vnf, enter, leave) for vnf in (visit if direction == 0 else reversed(visit))]


def _entries(visit: Sequence[int]) -> tuple[str, str]:
    there, back = (_stream(direction, 0, _legs(visit, direction)) for direction in (0, 1))
    return there.dst_mac, back.dst_mac


def _stream(direction: int, number: int, legs: Sequence[Leg]) -> Stream:
    start, end = PORTS if direction == 0 else PORTS[::-1]
    first = vnf_mac(legs[0][0], legs[0][1]) if legs else generator_mac(end)
    return Stream(f"{start}-{end}", number, start, end, generator_mac(start), first)


def _walk(
    stream: Stream, legs: Sequence[Leg], frames: Frames, function: Rewriting
) -> tuple[list[Forward], list[Flow]]:
    """Return what the functions do to the stream's frames, and the rule for each passage."""
    field = frames.traffic.flow_field
    header = Header(
        stream.src_mac, stream.dst_mac, field is FlowField.SRC_MAC, field is FlowField.DST_MAC
    )
    forwards: list[Forward] = []
    flows: list[Flow] = []
    at = stream.from_port
    targets = [vnf_mac(vnf, enter) for vnf, enter, _ in legs[1:]] + [generator_mac(stream.to_port)]
    for (vnf, enter, leave), target in zip(legs, targets, strict=False):
        [name] = function_names(vnf + 1)[vnf:]
        flows.append(Flow(at, header.match, _switch_port(name, enter)))
        header, told = function.rewritten(frames, header, vnf_mac(vnf, leave), target, leave)
        forwards.append(Forward(name, enter, leave, told))
        at = _switch_port(name, leave)
    flows.append(Flow(at, header.match, stream.to_port))
    return forwards, flows


def _cables(vnfs: int, on_nic: Callable[[End], bool]) -> tuple[Cable, ...]:
    ends = [End(GENERATOR, port) for port in (EAST, WEST)]
    ends += [End(name, side) for name in function_names(vnfs) for side in SIDES]
    return tuple(
        Cable(e, End(NIC if on_nic(e) else SWITCH, _switch_port(e.owner, e.port))) for e in ends
    )
