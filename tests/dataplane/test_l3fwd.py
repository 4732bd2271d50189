# SPDX-License-Identifier: Apache-2.0
"""Check that the router forwards as Scapy computes, and drops the rest by cause."""

from __future__ import annotations

from pathlib import Path

from scapy.layers.inet import IP, TCP, UDP, IPOption_Router_Alert
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap, wrpcap

from tests.dataplane.program import running

ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
# Addresses of the next hops: that of the port, and the neighbour's.
EAST, WEST = ("02:01:00:00:00:0a", "02:00:00:00:00:0a"), ("02:01:00:00:00:0b", "02:00:00:00:00:0b")
ROUTES = f"""wirespeed-routes 1
hop 0 0 {EAST[0]} {EAST[1]}
hop 1 1 {WEST[0]} {WEST[1]}
route 0.0.0.0/0 0
route 198.19.0.0/16 1
route 198.19.7.8/32 0
route 2001:2::/48 1
"""
PAYLOAD = Raw(b"x" * 1400)
# Each frame with the next hop that its longest prefix leads to.
PASS: list[tuple[Packet, tuple[str, str]]] = [
    (ETHER / IP(dst="198.19.0.1", ttl=64) / UDP(sport=1, dport=2) / PAYLOAD, WEST),
    (ETHER / IP(dst="198.19.7.8", ttl=2, tos=0xB8) / TCP(dport=80) / PAYLOAD, EAST),
    (ETHER / IP(dst="192.0.2.1", ttl=255, id=0xFFFF, flags="DF") / UDP() / PAYLOAD, EAST),
    (ETHER / IP(dst="198.19.0.1", flags="MF", frag=0) / UDP() / PAYLOAD, WEST),
    (ETHER / IPv6(dst="2001:2::9", hlim=2, tc=3, fl=77) / UDP() / PAYLOAD, WEST),
    (ETHER / IPv6(dst="2001:2::9") / IPv6ExtHdrHopByHop() / UDP() / PAYLOAD, WEST),
]
DROP: list[tuple[Packet, str]] = [
    (ETHER / IPv6(dst="2001:db8::1") / UDP() / PAYLOAD, "no_route"),
    (ETHER / IP(dst="198.19.0.1", ttl=1) / UDP() / PAYLOAD, "ttl_expired"),
    (ETHER / IPv6(dst="2001:2::9", hlim=1) / UDP() / PAYLOAD, "ttl_expired"),
    (ETHER / IP(dst="198.19.0.1", chksum=1) / UDP() / PAYLOAD, "bad_header"),
    (ETHER / IP(dst="198.19.0.1", options=IPOption_Router_Alert()) / UDP() / PAYLOAD, "options"),
    (ETHER / Dot1Q(vlan=5) / IP(dst="198.19.0.1") / UDP() / PAYLOAD, "not_ip"),
    (ETHER / ARP(pdst="198.19.0.1"), "not_ip"),
]


def routed(frame: Packet, hop: tuple[str, str]) -> bytes:
    """Return the frame after RFC 1812 and RFC 8200; Scapy recomputes the checksum."""
    frame = frame.copy()
    frame.src, frame.dst = hop
    if IP in frame:
        frame.ttl -= 1
        del frame[IP].chksum
    else:
        frame.hlim -= 1
    return bytes(frame)


def test_frames_are_routed_or_dropped_by_cause(tmp_path: Path) -> None:
    entering, routes = tmp_path / "in.pcap", tmp_path / "routes"
    leaving = [tmp_path / "east.pcap", tmp_path / "west.pcap"]
    routes.write_text(ROUTES)
    wrpcap(str(entering), [frame for frame, _ in (*PASS, *DROP)])
    with running(
        "[pool]\nmbufs = 4096\n"
        f"[port.a]\ndevice = net_pcap0,rx_pcap={entering},tx_pcap={leaving[0]}\n"
        f"[port.b]\ndevice = net_pcap1,tx_pcap={leaving[1]}\n"
        f"[task.r]\ntype = l3fwd\nlcore = 1\nrx = a:0\ntx = a:0, b:0\nroutes = {routes}\n"
    ) as wsdp:
        sent = len(PASS) + len(DROP)
        stats = wsdp.control.await_stats(lambda now: now["r"]["rx"] == sent)["r"]
        assert (stats["tx"], stats["discard"]) == (len(PASS), len(DROP))
        told = wsdp.control.ask("task", "r")
        for cause in ("no_route", "ttl_expired", "bad_header", "options", "not_ip"):
            assert told[cause] == sum(why == cause for _, why in DROP)
        assert wsdp.end() == 0
    for path, hop in zip(leaving, (EAST, WEST), strict=True):
        expected = [routed(frame, to) for frame, to in PASS if to is hop]
        assert [bytes(frame) for frame in rdpcap(str(path))] == expected
