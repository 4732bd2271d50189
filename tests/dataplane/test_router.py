# SPDX-License-Identifier: Apache-2.0
"""Check the router with Scapy, and that a change of its tables loses no frame."""

from __future__ import annotations

from pathlib import Path

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap, wrpcap

from tests.dataplane.program import running

OURS = "02:00:00:00:00:99"
ETHER = Ether(src="02:00:00:00:00:01", dst=OURS)
EAST = ("02:01:00:00:00:0a", "02:00:00:00:00:0a")
ROUTES = f"""wirespeed-routes 1
hop 0 0 {EAST[0]} {EAST[1]} 1400
hop 1 local
hop 2 neighbour
route 198.19.0.0/16 0
route 198.19.0.1/32 1
route 198.19.9.0/24 2
route 2001:2::/48 0
"""
PAYLOAD = Raw(b"x" * 1000)
FORWARDED: list[Packet] = [
    ETHER / IP(dst="198.19.1.1", ttl=2) / UDP() / PAYLOAD,
    ETHER / IPv6(dst="2001:2::9", hlim=2) / UDP() / PAYLOAD,
]
TO_HOST: list[tuple[Packet, str]] = [
    (ETHER / IP(dst="198.19.0.1", ttl=1) / ICMP() / PAYLOAD, "local"),
    (ETHER / IP(dst="198.19.1.1", ttl=1) / UDP() / PAYLOAD, "ttl_expired"),
    (ETHER / IP(dst="198.19.1.1", flags="DF") / UDP() / Raw(b"x" * 1373), "too_big"),
    (ETHER / IP(dst="198.19.1.1") / UDP() / Raw(b"x" * 1373), "fragment"),
    (ETHER / IPv6(dst="2001:2::9") / UDP() / Raw(b"x" * 1353), "too_big"),
    (ETHER / IPv6(dst="2001:2::9") / IPv6ExtHdrHopByHop() / UDP() / PAYLOAD, "options"),
    (ETHER / IP(dst="198.19.9.7") / UDP() / PAYLOAD, "neighbour"),
    (ETHER / IP(dst="192.0.2.1") / UDP() / PAYLOAD, "no_route"),
    (Ether(dst="ff:ff:ff:ff:ff:ff", src=ETHER.src) / ARP(pdst="198.19.0.1"), "not_ip"),
]
DROPPED: list[tuple[Packet, str]] = [
    (Ether(dst="02:00:00:00:00:98") / IP(dst="198.19.1.1") / UDP() / PAYLOAD, "other_mac"),
    (ETHER / IP(src="127.0.0.1", dst="198.19.1.1") / UDP() / PAYLOAD, "martian"),
    (ETHER / IP(dst="198.19.1.1", chksum=1) / UDP() / PAYLOAD, "bad_header"),
]


def routed(frame: Packet) -> bytes:
    """Return the frame after RFC 1812 and RFC 8200; Scapy recomputes the checksum."""
    frame = frame.copy()
    frame.src, frame.dst = EAST
    if IP in frame:
        frame.ttl -= 1
        del frame[IP].chksum
    else:
        frame.hlim -= 1
    return bytes(frame)


def test_router_forwards_hands_to_its_host_or_drops_by_cause(tmp_path: Path) -> None:
    entering, routes = tmp_path / "in.pcap", tmp_path / "routes"
    leaving, host = tmp_path / "out.pcap", tmp_path / "host.pcap"
    routes.write_text(ROUTES)
    excepted = [*TO_HOST, *DROPPED]
    wrpcap(str(entering), [*FORWARDED, *(frame for frame, _ in excepted)])
    with running(
        "[pool]\nmbufs = 4096\n"
        f"[port.a]\ndevice = net_pcap0,rx_pcap={entering},tx_pcap={leaving}\n"
        f"[port.h]\ndevice = net_pcap1,tx_pcap={host}\n"
        f"[task.r]\ntype = router\nlcore = 1\nrx = a:0\ntx = a:0, h:0\npunt_tx = 1\n"
        f"mac = {OURS}\nroutes = {routes}\n"
    ) as wsdp:
        sent = len(FORWARDED) + len(excepted)
        stats = wsdp.control.await_stats(lambda now: now["r"]["rx"] == sent)["r"]
        assert (stats["tx"], stats["discard"]) == (len(FORWARDED) + len(TO_HOST), len(DROPPED))
        told = wsdp.control.ask("task", "r")
        for cause in {why for _, why in excepted}:
            assert told[cause] == sum(why == cause for _, why in excepted), cause
        assert wsdp.end() == 0
    assert [bytes(frame) for frame in rdpcap(str(leaving))] == [routed(f) for f in FORWARDED]
    assert [bytes(frame) for frame in rdpcap(str(host))] == [bytes(frame) for frame, _ in TO_HOST]


def table(other: int) -> str:
    """Return routes to 198.19.0.0/16 that stay, and others that differ."""
    return f"{ROUTES}hop 9 blackhole\n" + "".join(
        f"route 10.{other}.{i}.0/24 9\n" for i in range(200)
    )


def test_router_reload_while_frames_flow_loses_none(tmp_path: Path) -> None:
    routes = tmp_path / "routes"
    routes.write_text(ROUTES)
    with running(
        "[ring.in]\nsize = 8192\n[ring.out]\nsize = 8192\n[pool]\nmbufs = 32768\n"
        "[task.g]\ntype = gen\nlcore = 1\ntx = ring:in\ndst_ip = 198.19.1.1\nflows = 100\n"
        f"dst_mac = {OURS}\n"
        f"[task.r]\ntype = router\nlcore = 1\nrx = ring:in\ntx = ring:out\nroutes = {routes}\n"
        "[task.s]\ntype = sink\nlcore = 1\nrx = ring:out\nflows = 100\n"
    ) as wsdp:
        assert wsdp.control.ask("start", "rate_fps=20000", "trial=3") == {"ok": 1}
        for turn in range(3):
            before = wsdp.control.ask("stats")["r"]["tx"]
            routes.write_text(table(turn))
            assert wsdp.control.ask("reload", "r", str(routes)) == {"ok": 1}
            # Frames of the new tables' time, before the next change.
            wsdp.control.await_stats(lambda now, before=before: now["r"]["tx"] > before + 100)
        assert wsdp.control.ask("stop") == {"ok": 1}
        sent = wsdp.control.ask("stats")["g"]["tx"]
        wsdp.control.await_stats(lambda now: now["s"]["rx"] == sent)
        told = wsdp.control.await_task("r", lambda seen: seen.get("generation") == 4)
        assert (told["routes_ipv4"], told["discard"]) == (203, 0)
        received = wsdp.control.await_task("s", lambda seen: seen.get("received") == sent)
        assert (received["lost"], received["reordered"]) == (0, 0)
        assert wsdp.end() == 0


def test_router_reload_that_fails_keeps_the_tables(tmp_path: Path) -> None:
    routes = tmp_path / "routes"
    routes.write_text(ROUTES)
    with running(
        "[port.a]\ndevice = net_null0,no-rx=1\n[port.b]\ndevice = net_null1,no-rx=1\n"
        "[pool]\nmbufs = 4096\n"
        f"[task.r]\ntype = router\nlcore = 1\nrx = a:0\ntx = a:0\nroutes = {routes}\n"
        "[task.i]\ntype = io\nlcore = 1\nrx = b:0\ntx = b:0\n"
    ) as wsdp:
        routes.write_text("wirespeed-routes 1\nroute 10.0.0.0/8 1\n")
        for words, said in (
            (("r", str(routes)), 'r: line 2: no line above this one makes hop "1"'),
            (("r", "/nowhere"), "r: line 0: No such file or directory"),
            (("i", str(routes)), "i: the tables of a task of type io do not change"),
            (("x", str(routes)), 'there is no task "x"; /wirespeed/info names them'),
        ):
            assert wsdp.control.ask("reload", *words) == {"error": said}
        told = wsdp.control.ask("task", "r")
        assert (told["generation"], told["routes_ipv4"], told["routes_ipv6"]) == (1, 3, 1)
        assert wsdp.end() == 0
