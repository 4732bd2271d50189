# SPDX-License-Identifier: Apache-2.0
"""Check that gen offers PPPoE sessions, and that sink notices every wrong frame."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.layers.ppp import PPP, PPPoE
from scapy.packet import Raw

from tests.dataplane.bng_traffic import (
    FILE_ORDER,
    GATEWAY_MAC,
    PPPOE,
    SEVERAL_ROUNDS,
    USERS,
    Change,
    flow_of,
    gen,
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
    user_session,
)
from tests.dataplane.program import check, running

IP_AT = 30


@pytest.mark.parametrize("size", [64, 79, 80, 1518])
def test_upstream_frames_octet_by_octet(tmp_path: Path, size: int) -> None:
    """Scapy builds the same frame from flow, number and destination, lengths included."""
    sent = offered(tmp_path, "up", SEVERAL_ROUNDS, f"frame = {size}\n{FILE_ORDER}", pppoe=True)
    total = 28 if size == 64 else size - 34
    for number, frame in enumerate(sent):
        user, sequence = number % USERS, number // USERS
        packet = IP(frame[IP_AT:])
        assert hop_of(packet.dst) in (0, 1)
        assert flow_of(packet[UDP]) == user
        payload = bytes(packet[UDP].payload)[: total - 28]
        assert (payload[:2] == b"WS") == (size >= 80)
        expected = bytes(
            Ether(src=user_mac(user), dst=GATEWAY_MAC)
            / Dot1AD(vlan=7)
            / Dot1Q(vlan=100 + user, type=0x8864)
            / PPPoE(sessionid=user_session(user))
            / PPP(proto=0x0021)
            / IP(src=user_ip(user), dst=packet.dst, id=sequence, ttl=64)
            / UDP(sport=packet.sport, dport=packet.dport, chksum=0)
            / Raw(payload)
        )
        assert frame == expected + bytes(size - 4 - len(expected))


@pytest.mark.parametrize(("size", "network"), [(64, 78), (1518, 1534)])
def test_in_the_network_there_is_no_session(tmp_path: Path, size: int, network: int) -> None:
    """Downstream the sender's frames are those of IPoE; only full ones are shorter."""
    usual = f"stamp = no\n{FILE_ORDER}"
    sent = offered(tmp_path, "down", SEVERAL_ROUNDS, f"frame = {size}\n{usual}", pppoe=True)
    plain = f"frame = {size if size == 64 else size - 8}\n{usual}"
    assert sent == offered(tmp_path, "down", SEVERAL_ROUNDS, plain)
    labelled = {len(frame) + 4 for frame in sent if frame[12:14] == b"\x88\x47"}
    assert labelled == {network}


@pytest.mark.parametrize("side", ["up", "down"])
@pytest.mark.parametrize("frame", [64, "abg"])
def test_all_that_a_gateway_forwards_is_right(tmp_path: Path, side: str, frame: int | str) -> None:
    seen = through(tmp_path, side, 600, f"frame = {frame}\n", pppoe=True).sink
    assert (seen["received"], seen["lost"], seen["misdirected"]) == (600, 0, 0)
    assert (seen["corrupt"], seen["foreign"]) == (0, 0)
    assert seen["unstamped"] == {64: 600, "abg": 200}[frame]


def test_downstream_frames_that_arrive_are_in_their_sessions(tmp_path: Path) -> None:
    arrived = through(tmp_path, "down", SEVERAL_ROUNDS, FILE_ORDER, FILE_ORDER, pppoe=True).frames
    assert len(arrived) == SEVERAL_ROUNDS
    for frame in arrived:
        read = Ether(frame)
        user = flow_of(IP(frame[IP_AT:])[UDP])
        assert (read[PPPoE].sessionid, read[PPPoE].len) == (user_session(user), 30)
        assert (read.dst, read.src) == (user_mac(user), GATEWAY_MAC)


@pytest.mark.parametrize("side", ["up", "down"])
def test_pppoe_traffic_without_gateway_is_received_unchanged(tmp_path: Path, side: str) -> None:
    path = tables(tmp_path, pppoe=True)
    ini = "[ring.in]\nsize = 1024\n" + gen(side, path, 300, PPPOE)
    with running(ini + sink(side, path, f"gateway = no\n{PPPOE}", "ring:in")) as wsdp:
        seen = wsdp.control.await_task("sink", lambda now: now["rx"] == 300)
    assert (seen["received"], seen["misdirected"], seen["corrupt"]) == (300, 0, 0)


# Tags at 14 and 18, PPPoE at 22, PPP at 28, IPv4 at 30.
FAULTS: Mapping[str, tuple[str, Change]] = {
    "session of another user": ("wrong_session", octets(24, user_session(1).to_bytes(2))),
    "no session number": ("wrong_session", octets(24, b"\0\0")),
    "PPPoE's length with the padding": ("wrong_length", octets(26, b"\0\x40")),
    "PPPoE's length without PPP": ("wrong_length", octets(26, b"\0\x1c")),
    "PPPoE's version": ("wrong_format", octets(22, b"\x21")),
    "PPPoE's code": ("wrong_format", octets(23, b"\x09")),
    "PPP's protocol": ("wrong_format", octets(28, b"\xc0\x21")),
    "no session": ("wrong_format", lambda f: (f[:20] + b"\x08\x00" + f[30:]).ljust(60, b"\0")),
    "C-VID of another user": ("wrong_tags", octets(18, (101).to_bytes(2))),
    "TTL not lowered": ("wrong_ttl", packet_of(IP_AT, ttl=64)),
}


@pytest.mark.parametrize("size", [64, 200])
def test_each_fault_is_counted_as_what_it_is(tmp_path: Path, size: int) -> None:
    extra = f"frame = {size}\n{FILE_ORDER}"
    right = through(tmp_path, "down", USERS, extra, FILE_ORDER, pppoe=True).frames[0]
    assert flow_of(IP(right[IP_AT:])[UDP]) == 0
    changed = [change(right) for _, change in FAULTS.values()]
    assert all(frame != right for frame in changed)
    seen = judged(tmp_path, "down", [right, *changed], pppoe=True)
    expected: dict[str, int] = {}
    for counter, _ in FAULTS.values():
        expected[counter] = expected.get(counter, 0) + 1
    assert {name: n for name, n in seen.items() if name.startswith("wrong_") and n} == expected
    assert (seen["received"], seen["misdirected"]) == (1, 3)
    assert seen["corrupt"] == len(FAULTS) - 3


def test_a_session_where_none_belongs_is_a_wrong_format(tmp_path: Path) -> None:
    right = through(tmp_path, "down", USERS, FILE_ORDER, FILE_ORDER, pppoe=True).frames[0]
    seen = judged(tmp_path, "down", [right])
    assert (seen["wrong_format"], seen["corrupt"], seen["received"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("pppoe", "extra", "says"),
    [
        (False, PPPOE, "the user with key 5000 has no PPPoE session"),
        (True, "", "the user with key 5000 has a PPPoE session"),
        (True, f"{PPPOE}arp_every = 5\n", "does not go with access = pppoe"),
        (True, "access = pppoa\n", "must be one of: ipoe, pppoe"),
    ],
)
def test_bad_keys_are_refused(tmp_path: Path, pppoe: bool, extra: str, says: str) -> None:
    text = gen("up", tables(tmp_path, pppoe=pppoe), 1, extra, "p:0")
    done = check(text + "[port.p]\ndevice = net_null0\n", tmp_path, "--check")
    assert done.returncode == 2
    assert says in done.stderr
