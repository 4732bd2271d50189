# SPDX-License-Identifier: Apache-2.0
"""Which tasks offer and receive a bench's traffic?

Pure. Each stream has one `gen` task for each queue of its port; each direction has one `sink` task,
which reads all queues and tells the streams apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wirespeed.bench.gateway import Gateway
from wirespeed.bench.plugs import Plug
from wirespeed.bench.topology.wiring import GENERATOR, End, Stream, Wiring
from wirespeed.bench.wsdp.config import WsdpTask
from wirespeed.model.frame import Encapsulation
from wirespeed.model.spec import Traffic

_TPID_QINQ = "0x88a8"


@dataclass(frozen=True, slots=True)
class Direction:
    """The tasks of one direction. feeds_sut: see Plug."""

    name: str
    from_port: str
    to_port: str
    generators: tuple[str, ...]
    sink: str
    feeds_sut: bool


def directions(wiring: Wiring, plugs: Mapping[End, Plug]) -> tuple[Direction, ...]:
    """The directions of a bench, in order."""
    found: list[Direction] = []
    for index, name in enumerate(wiring.directions):
        streams = [s for s in wiring.streams if s.direction == name]
        plug = plugs[End(GENERATOR, streams[0].from_port)]
        generators = tuple(
            _name(stream, queue) for stream in streams for queue in range(len(plug.transmit))
        )
        found.append(
            Direction(name, streams[0].from_port, streams[0].to_port, generators,
                      f"sink{index}", plug.feeds_sut)
        )  # fmt: skip
    return tuple(found)


def traffic_tasks(
    traffic: Traffic,
    wiring: Wiring,
    plugs: Mapping[End, Plug],
    lcores: int,
    gateway: Gateway | None = None,
) -> Iterator[WsdpTask]:
    """All gen and sink tasks. Senders and receivers share `lcores` lcores as evenly as it goes.

    The flows are shared out among a direction's generators; with a gateway, each sends for all
    subscribers.
    """
    ways = directions(wiring, plugs)
    lcore_of = _lcores(2 * len(ways), lcores)
    for index, way in enumerate(ways):
        streams = [s for s in wiring.streams if s.direction == way.name]
        transmit = plugs[End(GENERATOR, way.from_port)].transmit
        flows = _flows(traffic, len(way.generators))
        first = streams[0].number * len(transmit)
        for stream in streams:
            for queue, target in enumerate(transmit):
                number = stream.number * len(transmit) + queue
                keys = {"burst": str(traffic.burst), "stream": str(number)}
                if gateway is not None:
                    keys |= gateway.sender_keys(way.from_port, traffic.frame.text)
                else:
                    keys |= _frame_keys(traffic) | _header_keys(traffic, stream, number)
                if gateway is None and traffic.pcap is None:
                    keys["flows"] = str(flows)
                yield WsdpTask(_name(stream, queue), "gen", lcore_of[2 * index], (), (target,),
                               keys)  # fmt: skip
        yield WsdpTask(
            way.sink,
            "sink",
            lcore_of[2 * index + 1],
            rx=plugs[End(GENERATOR, way.to_port)].receive,
            keys={
                "stream": str(first),
                "streams": str(len(way.generators)),
                **(
                    {"flows": str(flows)}
                    if gateway is None
                    else gateway.receiver_keys(way.from_port)
                ),
            },
        )


def _flows(traffic: Traffic, generators: int) -> int:
    """Of each generator. A replayed file's frames are one flow: its headers stay as they are."""
    return 1 if traffic.pcap is not None else max(1, traffic.flows // generators)


def _lcores(roles: int, lcores: int) -> list[int]:
    """The lcore of each role; neighbours share when there are fewer lcores than roles."""
    used = min(roles, lcores)
    return [1 + role * used // roles for role in range(roles)]


def _name(stream: Stream, queue: int) -> str:
    return f"gen{stream.number}_{queue}"


def _frame_keys(traffic: Traffic) -> dict[str, str]:
    if traffic.pcap is not None:
        return {"pcap": traffic.pcap}
    keys = {
        "frame": traffic.frame.text,
        "ip": str(traffic.ip_version),
        "flow_field": str(traffic.flow_field),
    }
    if traffic.encapsulation is not Encapsulation.NONE:
        keys["vlan"] = str(traffic.vlan_id)
    if traffic.encapsulation is Encapsulation.QINQ:
        keys |= {"inner_vlan": str(traffic.inner_vlan_id), "outer_tpid": _TPID_QINQ}
    return keys


def _header_keys(traffic: Traffic, stream: Stream, number: int) -> dict[str, str]:
    """Each generator's addresses are its own, from the ranges set aside for benchmarks.

    198.18.0.0/15: RFC 2544 appendix C.2.2; 2001:2::/48: RFC 5180 section 8.
    """
    if traffic.pcap is not None:
        return {}
    if traffic.ip_version == 4:
        addresses = {"src_ip": f"198.18.{number}.1", "dst_ip": f"198.19.{number}.1"}
    else:
        addresses = {"src_ip": f"2001:2:0:{number:x}::1", "dst_ip": f"2001:2:0:8{number:03x}::1"}
    return {"src_mac": stream.src_mac, "dst_mac": stream.dst_mac, **addresses}
