# SPDX-License-Identifier: Apache-2.0
"""Count frames on kernel interfaces, and in the sockets that read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.bench.host.network import inside
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class InterfaceCount:
    """Counters of an interface."""

    sent: int
    """Frames sent."""
    refused: int
    """Frames that it could not send."""
    received: int
    """Frames received."""
    missed: int
    """Received frames that it could not pass on."""


@dataclass(frozen=True, slots=True)
class CableCount:
    """Counters of a port that is one end of a veth pair."""

    entered: int
    """Frames that the other end gave to the cable."""
    arrived: int
    """Frames that the port's interface received."""
    missed: int
    """Arrived frames that the interface could not pass on."""
    left: int
    """Frames that the port's interface sent."""
    backlogged: int
    """Frames from either end that found the backlog of the CPU that carries them full."""


def cable_count(near: InterfaceCount, far: InterfaceCount) -> CableCount:
    """Combine the counters of both ends.

    near: the port's interface. far: the interface of the program at the other end.
    """
    return CableCount(
        entered=far.sent + far.refused,
        arrived=near.received,
        missed=near.missed,
        left=near.sent,
        backlogged=far.refused + near.refused,
    )


def read_links(runner: Runner, namespace: str) -> Mapping[str, InterfaceCount]:
    """Return the counters of the namespace's interfaces."""
    words = ["ip", "-n", namespace, "-json", "-stats", "link", "show"]
    return parse_links(runner.run(words).stdout)


def parse_links(text: str) -> Mapping[str, InterfaceCount]:
    """Return counters by interface, from `ip -json -stats link show`."""
    return {
        link["ifname"]: InterfaceCount(
            *(link["stats64"][way][key] for way in ("tx", "rx") for key in ("packets", "dropped"))
        )
        for link in load_json(text)
    }


# In the output of ss(8), a packet socket's drops end its memory figures.
_PACKET = re.compile(r"^p_\S+ .*\*:(?P<interface>\S+) .*skmem:\([^)]*,d(?P<dropped>\d+)\)", re.M)


def read_unread(runner: Runner, namespace: str) -> Mapping[str, int]:
    """Return frames that packet sockets of the namespace had no room for, by interface.

    Sockets with a ring shared with the kernel, as DPDK's driver has, count nothing here.
    """
    words = [*inside(namespace), "ss", "--no-header", "--oneline", "--numeric", "--extended",
             "--memory", "--packet"]  # fmt: skip
    return parse_sockets(runner.run(words).stdout)


def parse_sockets(text: str) -> Mapping[str, int]:
    """Return drops by interface, from `ss --packet --extended --memory --oneline`."""
    found = Counter[str]()
    for match in _PACKET.finditer(text):
        found[match["interface"]] += int(match["dropped"])
    return found
