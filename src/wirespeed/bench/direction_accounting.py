# SPDX-License-Identifier: Apache-2.0
"""Divide the frames that a hop or cable does not account for among the directions of the traffic.

Pure. In two-way traffic, what one direction lacks at a hop may be what the other has too many of:
the hop's sum closes then, and neither direction does. The counters of ports tell directions apart
where each port is entered, and left, by one direction alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from wirespeed.bench.interface import HopCount
from wirespeed.bench.topology.wiring import GENERATOR, End
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import DirectionCount

# Ports that frames pass from generator to generator, in turns left and entered; by direction.
Paths = Mapping[str, Sequence[tuple[End, ...]]]

_TWO_WAY = 2
# Causes of drops at the port by which the frame came in, and at the port that it was to leave by.
_ENTERING = frozenset(
    {DropCause.NO_FLOW, DropCause.WRONG_VLAN, DropCause.FOREIGN_RULE, DropCause.POLICER,
     DropCause.RX_RING_FULL, DropCause.SOCKET_FULL, DropCause.NIC_DISCARD}
)  # fmt: skip
_LEAVING = frozenset(
    {DropCause.VHOST_TX_RING_FULL, DropCause.TG_RX_RING_FULL, DropCause.PARTNER_RING_FULL,
     DropCause.MTU, DropCause.EGRESS_POLICER, DropCause.NOT_CONNECTED, DropCause.PORT_DOWN,
     DropCause.TAP_RING_FULL, DropCause.VNF_RX_RING_FULL}
)  # fmt: skip
# Share of a hop's frames: fewer that leave by the port they came in are answers, as of ARP.
_ANSWERS = 0.001


def by_direction(
    place: str,
    unknown: int,
    counts: Mapping[str, HopCount],
    directions: Sequence[DirectionCount],
    paths: Paths,
) -> Mapping[str, int]:
    """Return the unexplained frames of a hop or cable by direction; "" where none is known.

    unknown: their sum. Negative numbers are frames too many. Numbers that are 0 are omitted.
    """
    undivided = {"": unknown} if unknown else {}
    if len(paths) < _TWO_WAY:
        return undivided
    if place == GENERATOR:
        lacking = _arrived(counts[GENERATOR], directions, paths)
    elif place in counts:
        lacking = _passing(counts[place], paths)
    else:
        uses = [name for name, each in paths.items() if place in _cables(each)]
        return {uses[0]: unknown} if len(uses) == 1 and unknown else undivided
    if lacking is None:
        return undivided
    found = divided(unknown, lacking)
    answers = _ANSWERS * sum(counts[place].entered.values())
    opposed = min(found.values(), default=0) < 0 < max(found.values(), default=0)
    return undivided if opposed and max(map(abs, found.values())) <= answers else found


def divided(unknown: int, lacking: Mapping[str, int]) -> Mapping[str, int]:
    """Divide `unknown` frames among directions. lacking: frames that each lacks, by its counters.

    What directions lack beyond the sum was dropped, or left the path, without a counter of its own
    direction. It may belong to any direction that lacks frames, so each of these is assigned what
    it lacks at least; "" has the rest.
    """
    elsewhere = max(0, sum(lacking.values()) - unknown)
    found = {name: n if n < 0 else max(0, n - elsewhere) for name, n in lacking.items()}
    found[""] = unknown - sum(found.values())
    return {name: n for name, n in found.items() if n}


def _cables(paths: Sequence[tuple[End, ...]]) -> set[str]:
    return {
        f"{origin}-{target}"
        for path in paths
        for origin, target in zip(path[::2], path[1::2], strict=True)
    }


def _passed(hop: str, path: tuple[End, ...]) -> Iterator[tuple[str, bool]]:
    """Yield the ports of a hop that a path passes, and whether frames enter there."""
    for index, end in enumerate(path):
        if end.owner == hop:
            yield end.port, bool(index % 2)


def _ports(hop: str, paths: Paths) -> Mapping[tuple[str, bool], str] | None:
    """Return the direction that enters, or leaves, each port; None where two do."""
    found: dict[tuple[str, bool], str] = {}
    for direction, each in paths.items():
        for port in (port for path in each for port in _passed(hop, path)):
            if found.setdefault(port, direction) != direction:
                return None
    return found


def _passing(count: HopCount, paths: Paths) -> Mapping[str, int] | None:
    """Return the frames that entered a hop, did not leave it and were not dropped at a port."""
    ports = _ports(count.hop, paths)
    if not ports:
        return None
    found = Counter(dict.fromkeys(ports.values(), 0))
    for (port, enters), direction in ports.items():
        counted = count.entered if enters else count.left
        found[direction] += counted.get(port, 0) if enters else -counted.get(port, 0)
    for (place, cause), frames in count.drops.items():
        owner, _, port = place.partition(":")
        known = cause in _ENTERING or cause in _LEAVING
        if known and owner == count.hop and (port, cause in _ENTERING) in ports:
            found[ports[port, cause in _ENTERING]] -= frames
    return found


def _arrived(
    count: HopCount, directions: Sequence[DirectionCount], paths: Paths
) -> Mapping[str, int] | None:
    """Return the frames that arrived at the generator and were not received as of a direction."""
    ports = _ports(GENERATOR, paths)
    if not ports:
        return None
    found = {
        d.name: -d.received - d.misdirected - d.corrupted for d in directions if d.name in paths
    }
    for (port, enters), direction in ports.items():
        if enters and direction in found:
            missed = count.drops.get((f"{GENERATOR}:{port}", DropCause.TG_RX_RING_FULL), 0)
            found[direction] += count.entered.get(port, 0) - missed
    return found
