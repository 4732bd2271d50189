# SPDX-License-Identifier: Apache-2.0
"""Check the gateway's frames on the wire against its formats: Scapy in, octets out."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP, UDP, IPOption_NOP, IPOption_Router_Alert
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from tests.dataplane.bng import (
    CPE_MAC,
    CVID,
    GATEWAY_IP,
    GATEWAY_MAC,
    HOP_MACS,
    HOST_IP,
    HOST_MAC,
    INET_MAC,
    KEY,
    LOCAL_IP,
    SVID,
    TABLES,
    arp,
    inner,
    qinq,
    through,
    tunnel,
    up_task,
)
from tests.dataplane.program import DEADLINE_S, running

LONG = bytes(range(256)) * 5 + b"end"  # odd, and longer than any minimum


def aged(frame: bytes, at: int) -> bytes:
    """Return the packet at this offset with its TTL decremented and its checksum recomputed."""
    packet = IP(frame[at:])
    packet.ttl -= 1
    del packet.chksum
    return bytes(packet)


def spoilt(frame: bytes, at: int) -> bytes:
    return frame[:at] + bytes([frame[at] ^ 0x01]) + frame[at + 1 :]


@pytest.mark.parametrize("tpid", [0x88A8, 0x8100])
@pytest.mark.parametrize(("pcp", "dei"), [(0, 0), (7, 1)])
def test_upstream_takes_tags_off_and_puts_the_tunnel_on(
    tmp_path: Path, tpid: int, pcp: int, dei: int
) -> None:
    packets = [inner(payload=b"x" * n) for n in (0, 1, 9, 10, 11, 1400)]
    packets += [inner(payload=LONG), inner(ttl=1), inner(ttl=0), inner(tos=0xB8, id=7, flags="DF")]
    left = through(tmp_path, cpe=[qinq(p, tpid=tpid, pcp=pcp, dei=dei) for p in packets])
    # Padding is gone; TTL and everything else of the inner packet are unchanged.
    assert left.inet == [tunnel(p) for p in packets]
    assert (left.cpe, left.slow, left.up["discard"]) == ([], [], 0)


def test_upstream_64_octets_become_78(tmp_path: Path) -> None:
    left = through(tmp_path, cpe=[qinq(inner())])
    assert len(left.inet[0]) + 4 == 78
    assert left.up["tx_bytes"] == 78
    assert left.up["rx_bytes"] == 64


@pytest.mark.parametrize(
    ("destination", "hop"),
    [
        ("20.0.0.1", 0), ("20.255.255.255", 0), ("20.1.0.0", 1), ("20.1.2.0", 0),
        ("20.1.2.3", 1), ("20.1.2.4", 0), ("20.1.3.3", 1),
    ],
)  # fmt: skip
def test_the_longest_prefix_decides_the_hop(tmp_path: Path, destination: str, hop: int) -> None:
    """Hop 0 has a label, hop 1 has none."""
    packet = inner(destination)
    assert through(tmp_path, cpe=[qinq(packet)]).inet == [tunnel(packet, hop)]


@pytest.mark.parametrize(("svid", "cvid", "key"), [(4095, 4095, 0), (9, 9, 99)])
def test_tags_decide_the_key(tmp_path: Path, svid: int, cvid: int, key: int) -> None:
    left = through(tmp_path, cpe=[qinq(inner(), svid, cvid)])
    assert left.inet == [tunnel(inner(), key=key)]


@pytest.mark.parametrize("mpls", [True, False])
@pytest.mark.parametrize("tpid", [0x88A8, 0x8100])
def test_downstream_takes_the_tunnel_off_and_puts_tags_on(
    tmp_path: Path, mpls: bool, tpid: int
) -> None:
    packets = [inner(HOST_IP, "20.0.0.9", b"x" * n) for n in (0, 1, 9, 10, 11, 1400)]
    packets += [inner(HOST_IP, "20.0.0.9", LONG), inner(HOST_IP, "20.0.0.9", ttl=2)]
    packets += [inner(HOST_IP, "20.0.0.9", id=n) for n in range(40)]
    frames = [tunnel(p, mpls=mpls, upstream=False) for p in packets]
    left = through(tmp_path, inet=frames, extra=f"tpid = {tpid:#06x}\n")
    expected = [
        qinq(Raw(aged(bytes(p), 0)), tpid=tpid, src=GATEWAY_MAC, dst=HOST_MAC, padded=False)
        for p in packets
    ]
    # Scapy cannot know that the raw packet is IPv4; padding is zeros.
    expected = [f[:20] + b"\x08\x00" + f[22:] + bytes(max(0, 60 - len(f))) for f in expected]
    assert left.cpe == expected
    assert (left.inet, left.slow, left.down["discard"]) == ([], [], 0)


def test_subscribers_share_an_address_and_are_distinguished_by_key(tmp_path: Path) -> None:
    packet = inner(HOST_IP, "20.0.0.9")
    left = through(tmp_path, inet=[tunnel(packet, key=k, upstream=False) for k in (KEY, 0)])
    assert [(frame[14:16], frame[18:20]) for frame in left.cpe] == [
        (SVID.to_bytes(2), CVID.to_bytes(2)),
        (b"\x0f\xff", b"\x0f\xff"),
    ]


BAD_UP = {
    "no_user": [qinq(inner(), SVID, CVID + 1), qinq(inner(), SVID + 1, CVID)],
    "no_route": [qinq(inner("21.0.0.1")), qinq(inner("0.0.0.0"))],  # noqa: S104 an address
    "type": [
        bytes(Ether(dst=GATEWAY_MAC) / inner()) + bytes(20),
        bytes(Ether(dst=GATEWAY_MAC) / Dot1Q(vlan=7) / inner()) + bytes(20),
        qinq(Raw(bytes(40))),
        tunnel(inner()),
    ],
    "truncated": [
        qinq(inner(payload=LONG))[:-1],
        qinq(inner(), padded=False)[:49],
        qinq(inner(), padded=False)[:41],
        qinq(inner(), padded=False)[:21],
        qinq(inner(), padded=False)[:13],
    ],
    "checksum": [spoilt(qinq(inner()), at) for at in (23, 27, 32, 33, 37, 41)],
    "ip_header": [
        qinq(inner(version=6)), qinq(inner(ihl=4)), qinq(inner(len=19)), qinq(inner(len=0)),
    ],
}  # fmt: skip

SLOW_UP = {
    "fragment": [qinq(inner(flags="MF")), qinq(inner(frag=5)), qinq(inner(flags="MF", frag=5))],
    "options": [
        qinq(inner(options=[IPOption_Router_Alert()])), qinq(inner(options=[IPOption_NOP()])),
    ],
    "local": [
        qinq(IP(src=HOST_IP, dst=GATEWAY_IP) / ICMP()),
        qinq(inner(GATEWAY_IP)), qinq(inner(LOCAL_IP)),
    ],
}  # fmt: skip

DOWN = inner(HOST_IP, "20.0.0.9")
GOOD_DOWN = tunnel(DOWN, upstream=False)


def gre_bits(flags: int, proto: int = 0x0800) -> bytes:
    return GOOD_DOWN[:38] + flags.to_bytes(2) + proto.to_bytes(2) + GOOD_DOWN[42:]


BAD_DOWN = {
    "no_user": [
        tunnel(DOWN, key=k, upstream=False) for k in (1, KEY + 1, KEY | 1 << 28, 2**32 - 1)
    ],
    "no_host": [tunnel(inner("10.7.0.8", "20.0.0.9"), upstream=False),
                tunnel(DOWN, key=99, upstream=False)],
    "foreign": [tunnel(DOWN, upstream=False, dst="192.0.2.2"), tunnel(DOWN)],
    "gre": [gre_bits(0x0000), gre_bits(0xA000), gre_bits(0x3000), gre_bits(0x2001),
            gre_bits(0x2000, 0x86DD)],
    "type": [spoilt(GOOD_DOWN, 16), spoilt(GOOD_DOWN, 12), qinq(inner())],
    "truncated": [GOOD_DOWN[:-1], GOOD_DOWN[:65], GOOD_DOWN[:45], GOOD_DOWN[:37], GOOD_DOWN[:17],
                  GOOD_DOWN[:13]],
    "checksum": [spoilt(GOOD_DOWN, at) for at in (19, 28, 47, 54, 56, 65)],
    "ip_header": [tunnel(DOWN, upstream=False, ihl=4), tunnel(DOWN, upstream=False, version=6),
                  tunnel(inner(HOST_IP, len=19), upstream=False)],
}  # fmt: skip

SLOW_DOWN = {
    "ttl": [tunnel(inner(HOST_IP, ttl=t), upstream=False) for t in (1, 0)],
    "fragment": [
        tunnel(DOWN, upstream=False, flags="MF"), tunnel(DOWN, upstream=False, frag=3),
        tunnel(inner(HOST_IP, flags="MF"), upstream=False),
    ],
    "options": [
        tunnel(DOWN, upstream=False, options=[IPOption_NOP()]),
        tunnel(inner(HOST_IP, options=[IPOption_NOP()]), upstream=False),
    ],
    "local": [
        bytes(Ether(src=HOP_MACS[0], dst=INET_MAC) / IP(dst=LOCAL_IP) / ICMP()) + bytes(18),
        bytes(Ether(src=HOP_MACS[0], dst=INET_MAC) / IP(dst=LOCAL_IP) / UDP() / Raw(bytes(40))),
    ],
}  # fmt: skip


@pytest.mark.parametrize("cause", BAD_UP)
def test_upstream_drops_what_is_wrong_under_its_cause(tmp_path: Path, cause: str) -> None:
    """Each bad frame is between two good ones, which leave."""
    frames = [f for bad in BAD_UP[cause] for f in (qinq(inner()), bad)] + [qinq(inner())]
    left = through(tmp_path, cpe=frames)
    assert left.up[cause] == left.up["discard"] == len(BAD_UP[cause])
    assert left.inet == [tunnel(inner())] * (len(BAD_UP[cause]) + 1)
    assert (left.cpe, left.slow) == ([], [])


@pytest.mark.parametrize("cause", BAD_DOWN)
def test_downstream_drops_what_is_wrong_under_its_cause(tmp_path: Path, cause: str) -> None:
    frames = [f for bad in BAD_DOWN[cause] for f in (GOOD_DOWN, bad)] + [GOOD_DOWN]
    left = through(tmp_path, inet=frames)
    assert left.down[cause] == left.down["discard"] == len(BAD_DOWN[cause])
    assert len(left.cpe) == len(BAD_DOWN[cause]) + 1
    assert len(set(left.cpe)) == 1
    assert (left.inet, left.slow) == ([], [])


@pytest.mark.parametrize("cause", SLOW_UP)
def test_upstream_exceptions_reach_the_slow_path_unchanged(tmp_path: Path, cause: str) -> None:
    left = through(tmp_path, cpe=SLOW_UP[cause])
    assert left.slow == SLOW_UP[cause]
    assert (left.up[cause], left.up["discard"], left.inet) == (len(SLOW_UP[cause]), 0, [])


@pytest.mark.parametrize("cause", SLOW_DOWN)
def test_downstream_exceptions_reach_the_slow_path_unchanged(tmp_path: Path, cause: str) -> None:
    left = through(tmp_path, inet=SLOW_DOWN[cause])
    assert left.slow == SLOW_DOWN[cause]
    assert (left.down[cause], left.down["discard"], left.cpe) == (len(SLOW_DOWN[cause]), 0, [])


@pytest.mark.parametrize("tpid", [0x88A8, 0x8100])
def test_arp_for_the_gateway_is_answered_with_the_same_tags(tmp_path: Path, tpid: int) -> None:
    left = through(tmp_path, cpe=[qinq(arp(), tpid=tpid, pcp=3, dst="ff:ff:ff:ff:ff:ff")])
    reply = arp(2, GATEWAY_IP, GATEWAY_MAC, "10.9.0.9")
    reply.hwdst = CPE_MAC
    assert left.cpe == [qinq(reply, tpid=tpid, pcp=3, src=GATEWAY_MAC, dst=CPE_MAC)]
    assert (left.up["answered"], left.up["learned"], left.up["tx"]) == (1, 1, 1)


def test_arp_that_is_not_for_the_gateway_is_consumed(tmp_path: Path) -> None:
    others = [arp(target="10.9.0.1"), arp(2, ip="10.9.0.10"), arp(ip="0.0.0.0")]  # noqa: S104
    left = through(tmp_path, cpe=[qinq(a) for a in others[:2]])
    assert (left.up["handled"], left.up["learned"], left.cpe) == (2, 2, [])


@pytest.mark.parametrize(
    "frame",
    [
        qinq(arp(), SVID, CVID + 1),
        qinq(arp(mac="01:00:00:00:00:01")),
        qinq(arp(op=3)),
        qinq(arp())[:49],
    ],
    ids=["unknown-user", "group-mac", "operation", "short"],
)
def test_arp_that_cannot_be_believed_is_dropped(tmp_path: Path, frame: bytes) -> None:
    left = through(tmp_path, cpe=[frame])
    assert (left.up["discard"], left.up["learned"], left.cpe) == (1, 0, [])


def test_arp_on_the_network_side_is_answered(tmp_path: Path) -> None:
    ask = Ether(src=HOP_MACS[0], dst="ff:ff:ff:ff:ff:ff") / arp(mac=HOP_MACS[0], target=LOCAL_IP)
    other = Ether(src=HOP_MACS[0], dst="ff:ff:ff:ff:ff:ff") / arp(mac=HOP_MACS[0], target="1.2.3.4")
    left = through(tmp_path, inet=[bytes(ask), bytes(other)])
    reply = arp(2, LOCAL_IP, INET_MAC, "10.9.0.9")
    reply.hwdst = HOP_MACS[0]
    assert left.inet == [bytes(Ether(src=INET_MAC, dst=HOP_MACS[0]) / reply)]
    assert (left.down["answered"], left.down["handled"]) == (1, 1)


def test_hosts_are_learnt_from_arp_move_and_are_reached(tmp_path: Path) -> None:
    """The first of a subscriber's two addresses appears again with another MAC."""
    moved = "02:00:00:00:00:02"
    asks = [arp(ip="10.9.0.9"), arp(ip="10.9.0.10"), arp(ip="10.9.0.9", mac=moved)]
    down = [inner(ip, "20.0.0.9") for ip in ("10.9.0.9", "10.9.0.10", "10.9.0.11")]
    left = through(
        tmp_path,
        cpe=[qinq(ask, 9, 9) for ask in asks],
        inet=[tunnel(packet, key=99, upstream=False) for packet in down],
    )
    assert (left.up["learned"], left.up["moved"], left.up["answered"]) == (2, 1, 3)
    # The last address is nobody's, whichever side was polled first.
    assert left.down["no_host"] >= 1


def test_a_learnt_host_is_forgotten_after_its_time(tmp_path: Path) -> None:
    tables = tmp_path / "tables.txt"
    tables.write_text(TABLES)
    wrpcap(str(tmp_path / "in"), [Raw(qinq(arp(), 9, 9))], linktype=1)
    ini = (
        f"[pool]\nmbufs = 4096\n[port.cpe]\ndevice = net_pcap0,rx_pcap={tmp_path}/in,"
        f"tx_pcap={tmp_path}/out\n"
        "[port.inet]\ndevice = net_null0\n[port.slow]\ndevice = net_null1\n"
        + up_task(tables, extra="timeout_s = 1\n")
    )
    with running(ini) as wsdp:
        known = wsdp.control.ask("task", "up")["hosts"]
        deadline = time.monotonic() + DEADLINE_S
        while wsdp.control.ask("task", "up")["expired"] == 0:
            assert time.monotonic() < deadline
        up = wsdp.control.ask("task", "up")
    assert (up["learned"], up["expired"], up["hosts"]) == (1, 1, 2)  # static ones stay
    assert known in (2, 3)


def test_tables_change_through_the_socket(tmp_path: Path) -> None:
    tables = tmp_path / "tables.txt"
    tables.write_text(TABLES)
    nulls = "".join(
        f"[port.{name}]\ndevice = net_null{i},no-rx=1\n"
        for i, name in enumerate(("cpe", "inet", "slow"))
    )
    with running("[pool]\nmbufs = 4096\n" + nulls + up_task(tables)) as wsdp:
        ask = wsdp.control.ask
        before = ask("task", "up")
        assert ask("set", "up", "user=8 8 500 0", "route=30.0.0.0/8 1") == {"ok": 1}
        after = ask("task", "up")
        assert (after["users"], after["routes"]) == (before["users"] + 1, before["routes"] + 1)
        for request, reason in [
            ("user=8 8 501 0", "File exists"),
            ("route=31.0.0.0/8 7", "No such file or directory"),
            ("route=64.0.0.0/4 0", "Numerical result out of range"),
            ("user=8 9", "Invalid argument"),
            ("hop=5 1.2.3.4 - 02:00:00:00:00:01 9", "No such device or address"),
        ]:
            assert reason in ask("set", "up", request)["error"]
        assert ask("set", "up", "no_user=8 8 500", "no_route=30.0.0.0/8") == {"ok": 1}
        again = ask("task", "up")
        assert (again["users"], again["routes"]) == (before["users"], before["routes"])
