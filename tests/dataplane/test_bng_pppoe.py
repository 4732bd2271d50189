# SPDX-License-Identifier: Apache-2.0
"""Check that PPPoE subscribers get through, and nobody else's frames: Scapy in, octets out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Dot1AD, Ether
from scapy.layers.ppp import PPP, PPP_LCP_Echo, PPPoE, PPPoED
from scapy.packet import Packet, Raw

from tests.dataplane.bng import (
    CPE_MAC,
    CVID,
    GATEWAY_IP,
    GATEWAY_MAC,
    HOP_MACS,
    HOST_IP,
    HOST_MAC,
    KEY,
    LABEL,
    SVID,
    TUNNELS,
    Left,
    arp,
    check,
    down_task,
    inner,
    nulls,
    qinq,
    through,
    tunnel,
    up_task,
)
from tests.dataplane.program import running

SESSION = 0x1234
TABLES = f"""wirespeed-bng-tables 1
hop 0 {TUNNELS[0]} {LABEL} {HOP_MACS[0]} 0
route 20.0.0.0/8 0
user {SVID} {CVID} {KEY} 0 {HOST_IP} {HOST_MAC} {SESSION}
user 9 9 99 0 {HOST_IP} {HOST_MAC} 65534
"""
NOBODY = TABLES.split("user", maxsplit=1)[0]
PPPOE = "access = pppoe\n"


def session(
    packet: Packet, number: int = SESSION, svid: int = SVID, cvid: int = CVID, *,
    src: str = CPE_MAC, dst: str = GATEWAY_MAC, **header: Any
) -> bytes:  # fmt: skip
    """Return a frame of a session, padded to 60 octets with zeros."""
    frame = bytes(
        Ether(src=src, dst=dst)
        / Dot1AD(vlan=svid)
        / Raw(cvid.to_bytes(2) + b"\x88\x64")
        / PPPoE(sessionid=number, **header)
        / PPP(proto=0x0021)
        / packet
    )
    frame = frame[:16] + b"\x81\x00" + frame[18:]
    return frame + bytes(max(0, 60 - len(frame)))


def gateway(directory: Path, cpe: Sequence[bytes] = (), inet: Sequence[bytes] = ()) -> Left:
    return through(directory, cpe=cpe, inet=inet, tables=TABLES, both=PPPOE)


def test_the_frames_made_here_are_what_scapy_reads() -> None:
    read = Ether(session(inner()))
    assert (read[PPPoE].sessionid, read[PPPoE].len) == (SESSION, 30)
    assert bytes(read[IP])[:28] == bytes(inner())


def test_upstream_takes_session_and_tags_off(tmp_path: Path) -> None:
    packets = [inner(payload=b"x" * n) for n in (0, 1, 2, 3, 1460)]
    left = gateway(tmp_path, cpe=[session(p) for p in packets])
    assert left.inet == [tunnel(p) for p in packets]
    assert (left.cpe, left.slow, left.up["discard"]) == ([], [], 0)


def test_downstream_puts_the_subscribers_session_on(tmp_path: Path) -> None:
    packets = [inner(HOST_IP, "20.0.0.9", b"x" * n, ttl=9) for n in (0, 1, 2, 3, 1400)]
    left = gateway(tmp_path, inet=[tunnel(p, upstream=False) for p in packets])
    expected = [inner(HOST_IP, "20.0.0.9", b"x" * n, ttl=8) for n in (0, 1, 2, 3, 1400)]
    assert left.cpe == [session(p, src=GATEWAY_MAC, dst=HOST_MAC) for p in expected]
    assert (left.inet, left.slow, left.down["discard"]) == ([], [], 0)


def test_every_subscriber_has_a_session_of_his_own(tmp_path: Path) -> None:
    up = [session(inner(), 65534, 9, 9), session(inner())]
    down = [tunnel(inner(HOST_IP, "20.0.0.9"), key=k, upstream=False) for k in (99, KEY)]
    left = gateway(tmp_path, cpe=up, inet=down)
    assert left.inet == [tunnel(inner(), key=99), tunnel(inner())]
    assert [frame[24:26] for frame in left.cpe] == [b"\xff\xfe", SESSION.to_bytes(2)]


GOOD = session(inner())
BAD = {
    "no_session": [session(inner(), 65534), session(inner(), 0), session(inner(), SESSION, 9, 9)],
    "no_user": [session(inner(), cvid=CVID + 1)],
    "no_route": [session(inner("21.0.0.1"))],
    "type": [qinq(inner()), qinq(arp()), GOOD[:28] + b"\x00\x57" + GOOD[30:]],
    "pppoe": [session(inner(), version=2), session(inner(), code=9), session(inner(), len=1)],
    "truncated": [GOOD[:49], GOOD[:57], GOOD[:29], session(inner(), len=300),
                  session(inner(), len=29)],
    "checksum": [GOOD[:40] + bytes([GOOD[40] ^ 1]) + GOOD[41:]],
    "ip_header": [session(inner(ihl=4)), session(inner(version=6)), session(inner(len=19))],
}  # fmt: skip


@pytest.mark.parametrize("cause", BAD)
def test_pppoe_malformed_frame_is_counted_under_its_cause(tmp_path: Path, cause: str) -> None:
    frames = [f for bad in BAD[cause] for f in (GOOD, bad)] + [GOOD]
    left = gateway(tmp_path, cpe=frames)
    assert left.up[cause] == left.up["discard"] == len(BAD[cause])
    assert left.inet == [tunnel(inner())] * (len(BAD[cause]) + 1)
    assert (left.cpe, left.slow) == ([], [])


def discovery(code: int) -> bytes:
    frame = bytes(Ether(src=CPE_MAC, dst="ff:ff:ff:ff:ff:ff") / Dot1AD(vlan=SVID)
                  / Raw(CVID.to_bytes(2) + b"\x88\x63") / PPPoED(code=code))  # fmt: skip
    return frame[:16] + b"\x81\x00" + frame[18:] + bytes(30)


SLOW = {
    "control": [
        discovery(0x09), discovery(0xA7),
        GOOD[:28] + b"\xc0\x21" + bytes(PPP_LCP_Echo(code=9)) + GOOD[38:],
        GOOD[:28] + b"\x80\x21" + GOOD[30:],
    ],
    "fragment": [session(inner(flags="MF"))],
    "local": [session(inner(GATEWAY_IP))],
}  # fmt: skip


@pytest.mark.parametrize("cause", SLOW)
def test_control_and_exceptions_reach_the_slow_path_unchanged(tmp_path: Path, cause: str) -> None:
    left = gateway(tmp_path, cpe=SLOW[cause])
    assert left.slow == SLOW[cause]
    assert (left.up[cause], left.up["discard"], left.inet) == (len(SLOW[cause]), 0, [])


@pytest.mark.parametrize(
    ("tables", "up", "down", "fault"),
    [
        (TABLES, "", "", f"the user with key {KEY} of the tables has a PPPoE session"),
        (TABLES.replace(f" {SESSION}\n", "\n"), PPPOE, PPPOE,
         f"the user with key {KEY} of the tables has no PPPoE session"),
        (NOBODY, PPPOE, "", "must have the same; the other one has pppoe"),
        (TABLES.replace("65534", "65535"), PPPOE, PPPOE,
         'field 7, session = "65535": must be a PPPoE session from 1 to 65534'),
        (TABLES, "access = pppoa\n", PPPOE, "access"),
    ],
)  # fmt: skip
def test_disagreement_about_access_is_refused(
    tmp_path: Path, tables: str, up: str, down: str, fault: str
) -> None:
    file = tmp_path / "tables.txt"
    file.write_text(tables)
    text = nulls() + up_task(file, extra=up) + down_task(file, down)
    done = check(text, tmp_path)
    assert done.returncode != 0
    assert fault in done.stderr


def test_a_user_with_a_session_comes_at_run_time(tmp_path: Path) -> None:
    file = tmp_path / "tables.txt"
    file.write_text(TABLES)
    with running(nulls() + up_task(file, extra=PPPOE)) as wsdp:
        new = "user=8 8 500 0 10.7.0.8 02:00:00:00:00:08"
        assert "Protocol error" in wsdp.control.ask("set", "up", new)["error"]
        assert wsdp.control.ask("set", "up", f"{new} 77") == {"ok": 1}
        assert wsdp.control.ask("task", "up")["users"] == 3
