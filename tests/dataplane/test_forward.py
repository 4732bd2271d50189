# SPDX-License-Identifier: Apache-2.0
"""Check that the forwarding tasks change what they promise and nothing else, with Scapy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap, wrpcap

from tests.dataplane.program import running

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
FRAMES: list[Packet] = [
    ETHER / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=2) / Raw(b"x" * 18),
    ETHER / IPv6(src="fd00::1", dst="fd00::2") / UDP() / Raw(bytes(range(256))),
    ETHER / Dot1Q(vlan=5, prio=3) / IP() / UDP() / Raw(b"y" * 14),
    ETHER / Dot1AD(vlan=7) / Dot1Q(vlan=8) / IP() / UDP() / Raw(b"z" * 10),
    Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01") / ARP(pdst="10.0.0.9"),
    ETHER / IP() / UDP() / Raw(b"j" * (9216 - 4 - 42)),
    ETHER / Raw(b""),
]


def forwarded(directory: Path, keys: str, frames: list[Packet]) -> list[bytes]:
    """Return what leaves a task when these frames enter it."""
    entering, leaving = directory / "in.pcap", directory / "out.pcap"
    wrpcap(str(entering), frames)
    with running(
        "[pool]\nmbufs = 4096\n"
        f"[port.a]\ndevice = net_pcap0,rx_pcap={entering}\nmtu = 9198\n"
        f"[port.b]\ndevice = net_pcap1,tx_pcap={leaving}\nmtu = 9198\n"
        f"[task.t]\nlcore = 1\nrx = a:0\ntx = b:0\n{keys}"
    ) as wsdp:
        stats = wsdp.control.await_stats(lambda now: now["t"]["rx"] == len(frames))["t"]
        assert stats["tx"] == len(frames)
        assert stats["rx_bytes"] == stats["tx_bytes"] == sum(len(f) + 4 for f in frames)
        assert wsdp.end() == 0
    return [bytes(frame) for frame in rdpcap(str(leaving))]


def unchanged(frame: Packet) -> Packet:
    return frame


def swapped(frame: Packet) -> Packet:
    frame.src, frame.dst = frame.dst, frame.src
    return frame


def new_destination(frame: Packet) -> Packet:
    frame.dst = "02:00:00:00:00:aa"
    return frame


def new_both(frame: Packet) -> Packet:
    frame.src = "02:00:00:00:00:bb"
    return new_destination(frame)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("type = io\n", unchanged),
        ("type = macswap\n", swapped),
        ("type = mac\ndst_mac = 02:00:00:00:00:aa\n", new_destination),
        ("type = mac\ndst_mac = 02:00:00:00:00:aa\nsrc_mac = 02:00:00:00:00:bb\n", new_both),
    ],
    ids=["io", "macswap", "mac", "mac-both"],
)
def test_frames_leave_as_the_task_says(
    tmp_path: Path, keys: str, expected: Callable[[Packet], Packet]
) -> None:
    assert forwarded(tmp_path, keys, FRAMES) == [bytes(expected(frame.copy())) for frame in FRAMES]
