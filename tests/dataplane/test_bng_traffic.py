# SPDX-License-Identifier: Apache-2.0
"""Check that gen offers what a gateway serves, and that sink notices every wrong frame."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, GRE, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from tests.dataplane.bng_traffic import (
    FILE_ORDER,
    GATEWAY_MAC,
    INET_MAC,
    LABEL,
    LOCAL_IP,
    ROUTES,
    SEVERAL_ROUNDS,
    TUNNELS,
    USERS,
    Change,
    flipped,
    flow_of,
    gen,
    hop_mac,
    hop_of,
    judged,
    octets,
    offered,
    packet_of,
    sink,
    tables,
    through,
    user_ip,
    user_mac,
)
from tests.dataplane.program import check, running


@pytest.mark.parametrize(
    ("size", "tpid"), [(64, 0x88A8), (65, 0x8100), (71, 0x88A8), (72, 0x8100), (1518, 0x88A8)]
)
def test_upstream_frames_octet_by_octet(tmp_path: Path, size: int, tpid: int) -> None:
    """Scapy builds the same frame from flow, number and destination, checksums included."""
    sent = offered(
        tmp_path, "up", SEVERAL_ROUNDS, f"frame = {size}\nouter_tpid = {tpid:#x}\n{FILE_ORDER}"
    )
    hit = set()
    for number, frame in enumerate(sent):
        user, sequence = number % USERS, number // USERS
        packet = IP(frame[22:])
        hit.add(packet.dst)
        assert hop_of(packet.dst) in (0, 1)
        assert flow_of(packet[UDP]) == user
        total = 28 if size == 64 else size - 26
        outer = Dot1AD if tpid == 0x88A8 else Dot1Q
        payload = bytes(packet[UDP].payload)[: total - 28]
        assert (payload[:2] == b"WS") == (size >= 72)
        assert payload[18:] == bytes(max(0, total - 46))
        expected = bytes(
            Ether(src=user_mac(user), dst=GATEWAY_MAC)
            / outer(vlan=7)
            / Dot1Q(vlan=100 + user)
            / IP(src=user_ip(user), dst=packet.dst, id=sequence, ttl=64)
            / UDP(sport=packet.sport, dport=packet.dport, chksum=0)
            / Raw(payload)
        )
        assert frame == expected + bytes(size - 4 - len(expected))
    # Every route but perhaps one.
    assert len(hit) >= len(ROUTES) - 1


@pytest.mark.parametrize("size", [64, 1518])
def test_downstream_frames_octet_by_octet(tmp_path: Path, size: int) -> None:
    sent = offered(tmp_path, "down", SEVERAL_ROUNDS, f"frame = {size}\n{FILE_ORDER}")
    lengths = set()
    for number, frame in enumerate(sent):
        user, sequence = number % USERS, number // USERS
        mpls = frame[12:14] == b"\x88\x47"
        packet = IP(frame[46 if mpls else 42 :])
        hop = hop_of(packet.src)
        assert mpls == (hop == 0)
        assert flow_of(packet[UDP]) == user
        lengths.add(len(frame) + 4 - (0 if mpls else -4))
        link = Ether(src=hop_mac(hop), dst=INET_MAC)
        link = link / MPLS(label=LABEL, s=1, ttl=64) if mpls else link
        expected = bytes(
            link
            / IP(src=TUNNELS[hop], dst=LOCAL_IP, flags="DF", id=0, ttl=64)
            / GRE(key_present=1, key=5000 + user, proto=0x0800)
            / IP(src=packet.src, dst=user_ip(user), id=sequence, ttl=64)
            / UDP(sport=packet.sport, dport=packet.dport, chksum=0)
            / Raw(bytes(packet[UDP].payload))
        )
        assert frame == expected
    # 64 octets at the subscriber are 78 in the network.
    assert lengths == {78 if size == 64 else size + 24}


def test_subscribers_take_turns_in_another_order(tmp_path: Path) -> None:
    """Each comes once a round, but not in the file's order; the order is the same in every run."""
    rounds = [
        [frame[18:20] for frame in offered(tmp_path, "up", 2 * USERS, "order = random\n")]
        for _ in range(2)
    ]
    assert rounds[0] == rounds[1]
    first, second = rounds[0][:USERS], rounds[0][USERS:]
    assert first == second != sorted(first)
    assert len(set(first)) == USERS


def test_every_nth_frame_is_an_announcement(tmp_path: Path) -> None:
    sent = offered(tmp_path, "up", 20, f"arp_every = 5\n{FILE_ORDER}")
    arps = [frame for frame in sent if frame[20:22] == b"\x08\x06"]
    assert [n for n, frame in enumerate(sent) if frame in arps] == [4, 9, 14, 19]
    announced = ARP(arps[0][22:])
    user = int.from_bytes(arps[0][18:20]) - 100
    assert (announced.op, announced.psrc, announced.pdst) == (1, user_ip(user), user_ip(user))
    assert announced.hwsrc == user_mac(user)
    seen = through(tmp_path, "up", 20, "arp_every = 5\nframe = 72\n")
    assert (seen.bng["handled"], seen.bng["answered"], seen.sink["received"]) == (4, 0, 16)
    assert (seen.stamped, seen.sink["unstamped"]) == (16, 0)


@pytest.mark.parametrize("side", ["up", "down"])
@pytest.mark.parametrize("frame", [64, 72, 1518, "abg"])
def test_all_that_a_gateway_forwards_is_right(tmp_path: Path, side: str, frame: int | str) -> None:
    passed = through(tmp_path, side, 600, f"frame = {frame}\n")
    seen = passed.sink
    assert seen["received"] == 600
    assert passed.stamped == seen["latency_count"]
    wrong = {name: n for name, n in seen.items() if name.startswith("wrong_")}
    assert len(wrong) == 13
    assert {**wrong, "misdirected": 0, "corrupt": 0, "foreign": 0} == dict.fromkeys(
        [*wrong, "misdirected", "corrupt", "foreign"], 0
    )
    assert seen["unstamped"] == {64: 600, "abg": 200}.get(frame, 0)
    assert (seen["lost"], seen["reordered"], seen["duplicated"]) == (0, 0, 0)
    assert seen["latency_count"] == 600 - seen["unstamped"]


@pytest.mark.parametrize("side", ["up", "down"])
def test_traffic_without_gateway_is_received_unchanged(tmp_path: Path, side: str) -> None:
    path = tables(tmp_path)
    ini = "[ring.in]\nsize = 1024\n" + gen(side, path, 300)
    with running(ini + sink(side, path, "gateway = no\n", "ring:in")) as wsdp:
        seen = wsdp.control.await_task("sink", lambda now: now["rx"] == 300)
    assert (seen["received"], seen["misdirected"], seen["corrupt"]) == (300, 0, 0)


# Offsets with a label: outer IPv4 at 18, GRE at 38, key at 42, inner IPv4 at 46, UDP at 66.
UP_FAULTS: Mapping[str, tuple[str, Change]] = {
    "key of another user": ("wrong_key", octets(42, (5001).to_bytes(4))),
    "MAC of another hop": ("wrong_mac", octets(5, b"\x01")),
    "source MAC": ("wrong_mac", flipped(11)),
    "label": ("wrong_label", flipped(15)),
    "no label": ("wrong_label", lambda f: f[:12] + b"\x08\x00" + f[18:]),
    "far end of another hop": ("wrong_ends", packet_of(18, dst=TUNNELS[1])),
    "near end": ("wrong_ends", packet_of(18, src="192.0.2.9")),
    "outer TTL": ("wrong_tunnel", packet_of(18, ttl=63)),
    "outer may be fragmented": ("wrong_tunnel", packet_of(18, flags=0)),
    "outer checksum": ("wrong_checksum", flipped(28)),
    "inner checksum": ("wrong_checksum", flipped(56)),
    "inner TTL lowered": ("wrong_ttl", packet_of(46, ttl=63)),
    "outer length": ("wrong_length", packet_of(18, len=99)),
    "padding kept": ("wrong_length", lambda f: f + bytes(10)),
    "inner destination": ("wrong_packet", packet_of(46, dst="20.9.9.9")),
    "inner service": ("wrong_packet", packet_of(46, tos=4)),
    "tags kept": ("wrong_format", lambda f: f[:12] + b"\x81\x00\x00\x07" + f[12:]),
}
# Tags at 14 and 18, IPv4 at 22.
DOWN_FAULTS: Mapping[str, tuple[str, Change]] = {
    "C-VID of another user": ("wrong_tags", octets(18, (101).to_bytes(2))),
    "S-VID": ("wrong_tags", octets(14, b"\x00\x08")),
    "priority": ("wrong_tags", octets(14, b"\xe0\x07")),
    "MAC of another user": ("wrong_mac", octets(5, b"\x02")),
    "outer TPID": ("wrong_format", octets(12, b"\x81\x00")),
    "one tag": ("wrong_format", lambda f: f[:16] + f[20:]),
    "TTL not lowered": ("wrong_ttl", packet_of(22, ttl=64)),
    "TTL lowered twice": ("wrong_ttl", packet_of(22, ttl=62)),
    "checksum not corrected": ("wrong_checksum", octets(30, b"\x40")),
    "destination of another user": ("wrong_packet", packet_of(22, dst=user_ip(1))),
    "UDP length": ("wrong_length", flipped(47)),
}


def first_of_user_0(directory: Path, side: str, size: int) -> bytes:
    """Return the first good frame of user 0, through the hop that has a label."""
    right = through(directory, side, SEVERAL_ROUNDS, f"frame = {size}\n{FILE_ORDER}", FILE_ORDER)
    for frame in right.frames[::USERS]:
        packet = IP(frame[46:]) if frame[12:14] == b"\x88\x47" else IP(frame[22:])
        if side == "down" or frame[12:14] == b"\x88\x47":
            assert flow_of(packet[UDP]) == 0
            return frame
    raise AssertionError("no frame of user 0 left through hop 0")


@pytest.mark.parametrize("size", [64, 200])
@pytest.mark.parametrize(("side", "faults"), [("up", UP_FAULTS), ("down", DOWN_FAULTS)])
def test_each_fault_is_counted_as_what_it_is(
    tmp_path: Path, side: str, faults: Mapping[str, tuple[str, Change]], size: int
) -> None:
    """The input is one good frame, and one with each fault, with and without space for a stamp."""
    right = first_of_user_0(tmp_path, side, size)
    changed = {name: change(right) for name, (_, change) in faults.items()}
    assert all(frame != right for frame in changed.values())
    seen = judged(tmp_path, side, [right, *changed.values()])
    expected: dict[str, int] = {}
    for counter, _ in faults.values():
        expected[counter] = expected.get(counter, 0) + 1
    found = {name: n for name, n in seen.items() if name.startswith("wrong_") and n}
    assert found == expected
    lost_way = {"wrong_key", "wrong_mac", "wrong_label", "wrong_ends", "wrong_tags", "wrong_port"}
    assert seen["received"] == 1
    assert seen["misdirected"] == sum(n for name, n in expected.items() if name in lost_way)
    assert seen["corrupt"] == len(faults) - seen["misdirected"]
    assert seen["foreign"] == 0
    assert seen["handled"] == len(faults) + 1


def test_a_frame_at_another_port_is_misdirected(tmp_path: Path) -> None:
    for side in ("up", "down"):
        right = first_of_user_0(tmp_path, side, 64)
        seen = judged(tmp_path, side, [right], "bng_port = 1\n")
        assert (seen["wrong_port"], seen["misdirected"], seen["received"]) == (1, 1, 0)


def test_a_stamp_that_contradicts_the_headers_is_corrupt(tmp_path: Path) -> None:
    """A frame of flow 0 has the stamp of flow 1: the payload was exchanged."""
    right = first_of_user_0(tmp_path, "down", 200)
    at = right.index(b"WS") + 5
    seen = judged(tmp_path, "down", [octets(at, b"\x01")(right)])
    assert (seen["wrong_packet"], seen["corrupt"], seen["received"]) == (1, 1, 0)


def test_sink_frame_of_other_traffic_is_counted_as_foreign(tmp_path: Path) -> None:
    right = first_of_user_0(tmp_path, "down", 64)
    others = [
        bytes(Ether() / ARP()) + bytes(18),
        right[:40],
        octets(42, b"\x00\x01")(right),  # no port of the gateway
        octets(44, b"\xff\xff")(right),  # an unknown user
        octets(12, b"\x86\xdd")(right),
    ]
    seen = judged(tmp_path, "down", others)
    assert (seen["foreign"], seen["handled"]) == (5, 5)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("bng = sideways\n", "must be one of: up, down"),
        ("src_ip = 10.0.0.1\n", "no meaning next to bng"),
        ("vlan = 7\n", "no meaning next to bng"),
        ("flows = 7\n", "7 flows need as many users; the tables have 6"),
        ("tables = {absent}\n", "{absent}"),
    ],
)
def test_bad_keys_are_refused(tmp_path: Path, keys: str, says: str) -> None:
    keys, says = (text.replace("{absent}", f"{tmp_path}/absent") for text in (keys, says))
    text = gen("up", tables(tmp_path), 1, tx="p:0") + "[port.p]\ndevice = net_null0\n"
    name = keys.partition(" ")[0]
    kept = [line for line in text.splitlines() if not line.startswith(f"{name} =")]
    at = kept.index("[task.gen]") + 1
    done = check("\n".join([*kept[:at], keys.strip(), *kept[at:]]) + "\n", tmp_path, "--check")
    assert done.returncode == 2
    assert says in done.stderr


def test_announcements_are_the_subscribers(tmp_path: Path) -> None:
    text = gen("down", tables(tmp_path), 1, "arp_every = 5\n", "p:0")
    done = check(text + "[port.p]\ndevice = net_null0\n", tmp_path, "--check")
    assert done.returncode == 2
    assert "goes with bng = up" in done.stderr
