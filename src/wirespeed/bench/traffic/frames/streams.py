# SPDX-License-Identifier: Apache-2.0
"""Assign a bench's traffic to tasks.

Pure. Each stream has one `gen` task for each queue of its port. Each direction has one `sink` task,
which reads all queues and separates the streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wirespeed.bench.program.attachment import Attachment
from wirespeed.bench.program.config import WsdpTask
from wirespeed.bench.topology.addresses import flows_of_each
from wirespeed.bench.topology.wiring import GENERATOR, End, Stream, Wiring
from wirespeed.bench.traffic.frames.content import Content, Sender
from wirespeed.model.study.spec import Traffic


@dataclass(frozen=True, slots=True)
class Direction:
    """Tasks of one direction."""

    name: str
    from_port: str
    to_port: str
    generators: tuple[str, ...]
    """Generators of each stream's queues, in order."""
    sink: str
    feeds_sut: bool
    """See Attachment."""
    queues: int = 1


def directions(wiring: Wiring, attached: Mapping[End, Attachment]) -> tuple[Direction, ...]:
    """Return the directions of a bench, in order."""
    found: list[Direction] = []
    for index, name in enumerate(wiring.directions):
        streams = [s for s in wiring.streams if s.direction == name]
        attachment = attached[End(GENERATOR, streams[0].from_port)]
        generators = tuple(
            _name(stream, queue) for stream in streams for queue in range(len(attachment.transmit))
        )
        found.append(
            Direction(name, streams[0].from_port, streams[0].to_port, generators,
                      f"sink{index}", attachment.feeds_sut, len(attachment.transmit))
        )  # fmt: skip
    return tuple(found)


def traffic_tasks(
    traffic: Traffic,
    wiring: Wiring,
    attached: Mapping[End, Attachment],
    lcores: int,
    content: Content,
) -> Iterator[WsdpTask]:
    """Yield all gen and sink tasks; they share `lcores` lcores as evenly as possible.

    The flows are divided among a direction's streams. Each queue carries the flows that a NIC with
    RSS would put there.
    """
    found = directions(wiring, attached)
    lcore_of = _lcores(2 * len(found), lcores)
    for index, direction in enumerate(found):
        streams = [s for s in wiring.streams if s.direction == direction.name]
        transmit = attached[End(GENERATOR, direction.from_port)].transmit
        flows = flows_of_each(traffic, len(streams))
        first = streams[0].number * len(transmit)
        for stream in streams:
            for queue, target in enumerate(transmit):
                number = stream.number * len(transmit) + queue
                keys = {"burst": str(traffic.burst), "stream": str(number)}
                sender = Sender(stream, flows, queue, len(transmit))
                yield WsdpTask(
                    _name(stream, queue), "gen", lcore_of[2 * index], (), (target,),
                    {**keys, **content.sender_keys(sender)},
                )  # fmt: skip
        yield WsdpTask(
            direction.sink,
            "sink",
            lcore_of[2 * index + 1],
            rx=attached[End(GENERATOR, direction.to_port)].receive,
            keys={
                "stream": str(first),
                "streams": str(len(direction.generators)),
                **content.receiver_keys(direction.from_port, flows),
            },
        )


def _lcores(roles: int, lcores: int) -> list[int]:
    """Return the lcore of each role; neighbours share when there are fewer lcores than roles."""
    used = min(roles, lcores)
    return [1 + role * used // roles for role in range(roles)]


def _name(stream: Stream, queue: int) -> str:
    return f"gen{stream.number}_{queue}"
