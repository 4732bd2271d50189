# SPDX-License-Identifier: Apache-2.0
"""What did the kernel do with the frames on interfaces, and in the sockets that read them?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.bench.host.network import inside
from wirespeed.model.bounded import load_json
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class InterfaceCount:
    """Frames that an interface sent, that it could not send, that it received, and those of them
    that it could not pass on."""

    sent: int
    refused: int
    received: int
    missed: int


@dataclass(frozen=True, slots=True)
class CableCount:
    """Of a port that is one end of a veth pair. entered: frames that the other end gave to the
    cable; arrived: that the port's interface received; missed: those of them that it could not pass
    on; left: that it sent. backlogged: that the cable refused from either end, as the backlog of
    the CPU that carries them was full."""

    entered: int
    arrived: int
    missed: int
    left: int
    backlogged: int


def cable_count(near: InterfaceCount, far: InterfaceCount) -> CableCount:
    """near: the port's own interface; far: that of the program at the other end."""
    return CableCount(
        entered=far.sent + far.refused,
        arrived=near.received,
        missed=near.missed,
        left=near.sent,
        backlogged=far.refused + near.refused,
    )


def read_links(runner: Runner, namespace: str) -> Mapping[str, InterfaceCount]:
    """What the namespace's interfaces count."""
    words = ["ip", "-n", namespace, "-json", "-stats", "link", "show"]
    return parse_links(runner.run(words).stdout)


def parse_links(text: str) -> Mapping[str, InterfaceCount]:
    """By interface, from `ip -json -stats link show`."""
    return {
        link["ifname"]: InterfaceCount(
            *(link["stats64"][way][key] for way in ("tx", "rx") for key in ("packets", "dropped"))
        )
        for link in load_json(text)
    }


# How many frames a packet socket had no room for ends what ss(8) tells of its memory.
_PACKET = re.compile(r"^p_\S+ .*\*:(?P<interface>\S+) .*skmem:\([^)]*,d(?P<dropped>\d+)\)", re.M)


def read_unread(runner: Runner, namespace: str) -> Mapping[str, int]:
    """Frames that packet sockets of the namespace had no room for, by interface. Those with a ring
    that they share with the kernel, as DPDK's driver has them, count nothing there."""
    words = [*inside(namespace), "ss", "--no-header", "--oneline", "--numeric", "--extended",
             "--memory", "--packet"]  # fmt: skip
    return parse_sockets(runner.run(words).stdout)


def parse_sockets(text: str) -> Mapping[str, int]:
    """By interface, from `ss --packet --extended --memory --oneline`."""
    found = Counter[str]()
    for match in _PACKET.finditer(text):
        found[match["interface"]] += int(match["dropped"])
    return found
