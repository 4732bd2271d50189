# SPDX-License-Identifier: Apache-2.0
"""Account for every frame of a trial, at all hops and on all links between them.

Pure. Each hop must pass on or drop what entered it; what left a hop must enter the next. A gap is
reported as `unknown` at its hop or link; it is negative where more frames came out than went in. So
offered = received + all drops always holds, and `unknown` counts unexplained frames. In two-way
traffic each direction must close by itself (direction_accounting.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from wirespeed.bench.direction_accounting import Paths, by_direction
from wirespeed.bench.interface import HopCount, Way
from wirespeed.bench.topology.wiring import GENERATOR, PARTNER, Cable, End
from wirespeed.model.result.hop_counts import (
    EXTERNAL,
    INGRESS,
    Counted,
    Drop,
    DropCause,
    HopEvents,
    PortCount,
    QueueShare,
    WorkerShare,
)
from wirespeed.model.result.observation import DirectionCount

Counts = Mapping[str, HopCount]
K = TypeVar("K")


def since(before: Iterable[HopCount], after: Iterable[HopCount]) -> Counts:
    """Return what each hop counted between two readings."""
    start = {count.hop: count for count in before}
    return {
        count.hop: HopCount(
            count.hop,
            _minus(count.entered, start[count.hop].entered),
            _minus(count.left, start[count.hop].left),
            _minus(count.drops, start[count.hop].drops),
            _minus(count.workers, start[count.hop].workers),
            _minus(count.events, start[count.hop].events),
            _minus(count.queues, start[count.hop].queues),
            _minus(count.links, start[count.hop].links),
        )
        for count in after
    }


def _minus(after: Mapping[K, int], before: Mapping[K, int]) -> dict[K, int]:
    return {key: value - before.get(key, 0) for key, value in after.items()}


def drops(
    counts: Counts,
    cables: Sequence[Cable],
    directions: Sequence[DirectionCount],
    unread: Mapping[End, DropCause] = MappingProxyType({}),
    paths: Paths = MappingProxyType({}),
) -> tuple[Drop, ...]:
    """Return every frame that was offered and not received, by place and cause.

    unread: endpoints where a program reads from a ring of the kernel, with the cause that a full
    ring is. The kernel reports those drops to nobody else, and DPDK's AF_PACKET driver does not
    ask. A frame lost on such a cable can only have been lost there. paths: of each direction, empty
    where they are unknown; with two directions, unknown drops name theirs.
    """
    found: Counter[tuple[str, DropCause]] = Counter()
    found[_first_ring(cables)] += sum(d.refused for d in directions)
    for count in counts.values():
        found.update(count.drops)
        if count.hop != GENERATOR:
            lacking = sum(count.entered.values()) - sum(count.left.values())
            found[count.hop, DropCause.UNKNOWN] += lacking - sum(count.drops.values())
    for cable in cables:
        for origin, target in ((cable.a, cable.b), (cable.b, cable.a)):
            lost = _lost_between(counts, origin, target)
            if lost > 0 and target in unread:
                found[str(target), unread[target]] += lost
            else:
                found[f"{origin}-{target}", DropCause.UNKNOWN] += lost
    arrived = sum(counts[GENERATOR].entered.values())
    if not cables:
        sent = sum(counts[GENERATOR].left.values())
        found[EXTERNAL, DropCause.UNKNOWN] += sent - arrived
    wrong = {
        DropCause.MISDIRECTED: sum(d.misdirected for d in directions),
        DropCause.CORRUPTED: sum(d.corrupted for d in directions),
    }
    for cause, frames in wrong.items():
        found[GENERATOR, cause] += frames
    _of_the_ended(found, counts, cables)
    right = sum(d.received for d in directions)
    missed = sum(counts[GENERATOR].drops.values())
    found[GENERATOR, DropCause.UNKNOWN] += arrived - right - missed - sum(wrong.values())
    unknown = partial(by_direction, counts=counts, directions=directions, paths=paths)
    return tuple(_divided(found, unknown))


def _divided(
    found: Mapping[tuple[str, DropCause], int], unknown: Callable[[str, int], Mapping[str, int]]
) -> Iterator[Drop]:
    """Yield the drops, those of unknown cause by direction. unknown: divides those of a place."""
    for (hop, cause), frames in found.items():
        if cause is DropCause.UNKNOWN:
            yield from (Drop(hop, cause, n, way) for way, n in unknown(hop, frames).items())
        elif frames:
            yield Drop(hop, cause, frames)


def _first_ring(cables: Sequence[Cable]) -> tuple[str, DropCause]:
    """Return where the generator's frames go first, and why that ring rejects one.

    It is the SUT's first ring, or that of a bond's partner, which is not part of the SUT.
    """
    if any((cable.a.owner, cable.b.owner) == (GENERATOR, PARTNER) for cable in cables):
        return PARTNER, DropCause.PARTNER_RING_FULL
    return INGRESS, DropCause.RX_RING_FULL


def _of_the_ended(
    found: Counter[tuple[str, DropCause]], counts: Counts, cables: Sequence[Cable]
) -> None:
    """Merge the losses at a killed program and its cables into one.

    Its death takes the frames in its rings and its last counts along.
    """
    for count in counts.values():
        if not count.events.get((count.hop, Counted.RESTARTS)):
            continue
        places = [count.hop]
        for cable in cables:
            if count.hop in (cable.a.owner, cable.b.owner):
                places += [f"{cable.a}-{cable.b}", f"{cable.b}-{cable.a}"]
        lost = sum(found.pop((place, DropCause.UNKNOWN), 0) for place in places)
        found[count.hop, DropCause.VNF_ENDED] += lost


def _lost_between(counts: Counts, origin: End, target: End) -> int:
    left = counts[origin.owner].left.get(origin.port, 0)
    return left - counts[target.owner].entered.get(target.port, 0)


def ports(counts: Counts) -> tuple[PortCount, ...]:
    """Return what every port counted, by the name of its endpoint, and every link of bonds."""
    found = [
        PortCount(
            str(End(count.hop, port)), count.entered.get(port, 0), count.left.get(port, 0)
        )
        for count in counts.values()
        for port in dict.fromkeys((*count.entered, *count.left))
    ]  # fmt: skip
    found += [
        PortCount(
            str(End(count.hop, link)), count.links.get((link, Way.IN), 0),
            count.links.get((link, Way.OUT), 0),
        )
        for count in counts.values()
        for link in dict.fromkeys(name for name, _ in count.links)
    ]  # fmt: skip
    return tuple(found)


def shares(counts: Counts) -> tuple[WorkerShare, ...]:
    """Return the frames that each of several workers took, by hop and worker number."""
    loads: Counter[tuple[str, int]] = Counter()
    for count in counts.values():
        for (number, _), frames in count.workers.items():
            loads[count.hop, number] += frames
    return tuple(WorkerShare(hop, number, frames) for (hop, number), frames in loads.items())


def events(counts: Counts) -> tuple[HopEvents, ...]:
    """Return the events other than frames that hops counted, by place."""
    found: Counter[tuple[str, Counted]] = Counter()
    for count in counts.values():
        found.update(count.events)
    return tuple(HopEvents(place, what, n) for (place, what), n in found.items() if n)


def queue_shares(counts: Counts) -> tuple[QueueShare, ...]:
    """Return frames by port and queue."""
    return tuple(
        QueueShare(port, queue, frames)
        for count in counts.values()
        for (port, queue), frames in sorted(count.queues.items())
    )


def unexplained(found: Iterable[Drop]) -> bool:
    """Return whether frames are unaccounted for: missing, or still in flight.

    A hop that closes over all directions holds none, even if a single direction does not close.
    """
    at_places = Counter[str]()
    for drop in found:
        at_places[drop.hop] += drop.frames if drop.cause is DropCause.UNKNOWN else 0
    return any(at_places.values())
