# SPDX-License-Identifier: Apache-2.0
"""Run a gateway between wsdp's sender and receiver, and corrupt good frames on purpose."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scapy.layers.inet import IP, UDP
from scapy.packet import Raw
from scapy.utils import rdpcap, wrpcap

from tests.dataplane.program import running

GATEWAY_MAC, INET_MAC = "02:00:00:00:00:f1", "02:00:00:00:00:f2"
LOCAL_IP, GATEWAY_IP = "192.0.2.1", "10.0.0.1"
TUNNELS = ("198.51.100.1", "198.51.100.2")
LABEL = 1000
ROUTES = {"20.0.0.0/8": 0, "20.1.0.0/16": 1, "30.0.0.0/24": 0, "40.0.0.0/24": 1}
USERS = 6
KEYS = f"local_ip = {LOCAL_IP}\ngateway_mac = {GATEWAY_MAC}\ninet_mac = {INET_MAC}\n"
FILE_ORDER = "order = file\n"
SEVERAL_ROUNDS = 60
PPPOE = "access = pppoe\n"


def hop_mac(hop: int) -> str:
    return f"02:00:00:00:10:{hop:02x}"


def user_mac(user: int) -> str:
    return f"02:00:00:00:00:{user + 1:02x}"


def user_ip(user: int) -> str:
    return f"10.0.{user}.7"


def user_session(user: int) -> int:
    return 0x900 + user


def tables(directory: Path, *, pppoe: bool = False) -> Path:
    """Write two next hops, one with a label; user i has tags 7.(100 + i) and key 5000 + i."""
    lines = ["wirespeed-bng-tables 1"]
    lines += [f"hop 0 {TUNNELS[0]} {LABEL} {hop_mac(0)} 0", f"hop 1 {TUNNELS[1]} - {hop_mac(1)} 0"]
    lines += [f"route {prefix} {hop}" for prefix, hop in ROUTES.items()]
    for i in range(USERS):
        session = f" {user_session(i)}" if pppoe else ""
        lines.append(f"user 7 {100 + i} {5000 + i} 0 {user_ip(i)} {user_mac(i)}{session}")
    file = directory / "tables.txt"
    file.write_text("\n".join(lines) + "\n")
    return file


def hop_of(address: str) -> int:
    """Return the hop by the longest prefix."""
    found = [
        (network.prefixlen, hop)
        for prefix, hop in ROUTES.items()
        if ipaddress.ip_address(address) in (network := ipaddress.ip_network(prefix))
    ]
    return max(found)[1]


def gen(side: str, path: Path, frames: int, extra: str = "", tx: str = "ring:in") -> str:
    """Return a sender that offers this many frames at once."""
    return (
        f"[task.gen]\ntype = gen\nlcore = 1\ntx = {tx}\nbng = {side}\ntables = {path}\n{KEYS}"
        f"rate_fps = 1e6\nduration_ns = {frames * 1000}\ncatchup_ns = 60000000000\n"
        f"autostart = yes\n{extra}"
    )


def bng(side: str, path: Path, extra: str = "") -> str:
    gateway_ip = f"gateway_ip = {GATEWAY_IP}\n" if side == "up" else ""
    return (
        f"[task.bng]\ntype = bng_{side}\nlcore = 1\nrx = ring:in\ntx = ring:out\n"
        f"tables = {path}\n{gateway_ip}{KEYS}{extra}"
    )


def sink(side: str, path: Path, extra: str = "", rx: str = "ring:out") -> str:
    return (
        f"[task.sink]\ntype = sink\nlcore = 1\nrx = {rx}\nbng = {side}\ntables = {path}\n"
        f"{KEYS}{extra}"
    )


RINGS = "[pool]\nmbufs = 8191\n[ring.in]\nsize = 1024\n[ring.out]\nsize = 1024\n"


@dataclass(frozen=True, slots=True)
class Seen:
    """Frames that passed a gateway and arrived, with counters."""

    frames: list[bytes]
    sink: Mapping[str, Any]
    bng: Mapping[str, Any]
    stamped: int
    """Frames in the generator's windows."""


def through(
    directory: Path,
    side: str,
    frames: int,
    gen_extra: str = "",
    sink_extra: str = "",
    *,
    pppoe: bool = False,
) -> Seen:
    """Send frames through a gateway; return those that arrived, and the sink's counters."""
    path, capture = tables(directory, pppoe=pppoe), directory / "out.pcap"
    kept = f"capture = {capture}\ncapture_frames = {frames}\ncapture_every = 1\n"
    access = PPPOE if pppoe else ""
    ini = RINGS + gen(side, path, frames, access + gen_extra) + bng(side, path, access)
    with running(ini + sink(side, path, access + kept + sink_extra)) as wsdp:
        wsdp.control.await_task("gen", lambda now: not now["running"] and now["offered"] == frames)
        wsdp.control.await_stats(lambda now: now["bng"]["rx"] == frames)
        wsdp.control.await_stats(lambda now: now["sink"]["rx"] == now["bng"]["tx"])
        stamped = sum(wsdp.export("windows", "gen")["frames"])
        seen, gateway = wsdp.control.ask("task", "sink"), wsdp.control.ask("task", "bng")
        assert wsdp.end() == 0
    return Seen([bytes(f) for f in rdpcap(str(capture))], seen, gateway, stamped)


def offered(
    directory: Path, side: str, frames: int, extra: str, *, pppoe: bool = False
) -> list[bytes]:
    """Return what gen itself sends."""
    path, out = tables(directory, pppoe=pppoe), directory / "sent.pcap"
    extra += PPPOE if pppoe else ""
    port = f"[port.p]\ndevice = net_pcap0,tx_pcap={out}\n"
    with running("[pool]\nmbufs = 4095\n" + port + gen(side, path, frames, extra, "p:0")) as wsdp:
        wsdp.control.await_task("gen", lambda now: not now["running"] and now["offered"] == frames)
        assert wsdp.end() == 0
    return [bytes(frame) for frame in rdpcap(str(out))]


def flow_of(udp: UDP) -> int:
    assert udp.sport & 0xC000 == udp.dport & 0xC000 == 0xC000
    return int((udp.sport & 0x3FFF) << 14 | udp.dport & 0x3FFF)


# A corruption: which counter it must raise, and how a good frame becomes bad.
Change = Callable[[bytes], bytes]


def octets(at: int, new: bytes) -> Change:
    return lambda frame: frame[:at] + new + frame[at + len(new) :]


def packet_of(at: int, **changes: Any) -> Change:
    """Change fields of the IPv4 header at this offset, and correct its checksum."""

    def change(frame: bytes) -> bytes:
        header = IP(frame[at : at + 20])
        for name, value in changes.items():
            setattr(header, name, value)
        del header.chksum
        return frame[:at] + bytes(header)[:20] + frame[at + 20 :]

    return change


def flipped(at: int) -> Change:
    return lambda frame: frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]


def judged(
    directory: Path, side: str, frames: Sequence[bytes], extra: str = "", *, pppoe: bool = False
) -> Mapping[str, Any]:
    """Return the sink's counters for frames from a file."""
    path, file = tables(directory, pppoe=pppoe), directory / "in.pcap"
    extra += PPPOE if pppoe else ""
    wrpcap(str(file), [Raw(frame) for frame in frames], linktype=1)
    port = f"[port.p]\ndevice = net_pcap0,rx_pcap={file}\n[pool]\nmbufs = 4095\n"
    with running(port + sink(side, path, FILE_ORDER + extra, "p:0")) as wsdp:
        return wsdp.control.await_task("sink", lambda now: now["rx"] == len(frames))
