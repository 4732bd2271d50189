# SPDX-License-Identifier: Apache-2.0
"""Run a gateway of one worker on pcap files, with frames of both sides made with Scapy."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, GRE, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap, wrpcap

from tests.dataplane.program import check as check_file
from tests.dataplane.program import eal_section, running

GATEWAY_IP, LOCAL_IP = "10.0.0.1", "192.0.2.1"
GATEWAY_MAC, INET_MAC = "02:00:00:00:00:f1", "02:00:00:00:00:f2"
CPE_MAC, HOST_MAC = "02:00:00:00:00:01", "02:00:00:00:00:07"
HOP_MACS = ("02:00:00:00:10:00", "02:00:00:00:10:01")
TUNNELS = ("198.51.100.1", "198.51.100.2")
LABEL = 1000
HOST_IP = "10.7.0.7"
SVID, CVID, KEY = 7, 42, 0x1234567
# A user with a static host, the same with key 0, and one whose hosts must be learnt.
TABLES = f"""wirespeed-bng-tables 1
hop 0 {TUNNELS[0]} {LABEL} {HOP_MACS[0]} 0
hop 1 {TUNNELS[1]} - {HOP_MACS[1]} 0
route 20.0.0.0/8 0
route 20.1.0.0/16 1
route 20.1.2.0/24 0
route 20.1.2.3/32 1
user {SVID} {CVID} {KEY} 0 {HOST_IP} {HOST_MAC}
user 4095 4095 0 0 {HOST_IP} {HOST_MAC}
user 9 9 99 0
"""
COMMON = f"local_ip = {LOCAL_IP}\ngateway_mac = {GATEWAY_MAC}\ninet_mac = {INET_MAC}\n"
PADDING = b"\xaa" * 46  # padding of a careless sender


@dataclass(frozen=True, slots=True)
class Left:
    """Frames that left the gateway, by port, and its counters once all frames were in."""

    cpe: list[bytes]
    inet: list[bytes]
    slow: list[bytes]
    up: Mapping[str, Any]
    down: Mapping[str, Any]


def up_task(tables: Path, rx: str = "cpe:0", extra: str = "") -> str:
    return (
        f"[task.up]\ntype = bng_up\nlcore = 1\nrx = {rx}\ntx = inet:0, cpe:0, slow:0\n"
        f"reply_tx = 1\nslow_tx = 2\ngateway_ip = {GATEWAY_IP}\n"
        f"tables = {tables}\n{COMMON}{extra}"
    )


def down_task(tables: Path, extra: str = "") -> str:
    return (
        "[task.down]\ntype = bng_down\nlcore = 1\nrx = inet:0\ntx = cpe:0, inet:0, slow:0\n"
        f"reply_tx = 1\nslow_tx = 2\ntables = {tables}\n{COMMON}{extra}"
    )


def check_closes(task: Mapping[str, int]) -> None:
    """Check that every frame handed to a task is accounted for."""
    out = task["tx"] + task["tx_fail"] + task["discard"] + task["handled"] + task["held"]
    assert task["rx"] == out, task


def nulls(names: Sequence[str] = ("cpe", "inet", "slow")) -> str:
    """Return ports without traffic."""
    ports = [f"[port.{name}]\ndevice = net_null{i},no-rx=1\n" for i, name in enumerate(names)]
    return "[pool]\nmbufs = 4096\n" + "".join(ports)


def check(ini: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Let wsdp check a gateway's file without starting it."""
    return check_file(eal_section() + ini, directory, "--check")


def one_task(
    directory: Path, keys: str, frames: Sequence[bytes]
) -> tuple[list[bytes], dict[str, Any]]:
    """Return what a single task makes of frames, and its counters once all were in."""
    wrpcap(f"{directory}/in", [Raw(frame) for frame in frames], linktype=1)
    ini = (
        f"[pool]\nmbufs = 4096\n[port.in]\ndevice = net_pcap0,rx_pcap={directory}/in,"
        f"tx_pcap={directory}/unused\n[port.out]\ndevice = net_pcap1,tx_pcap={directory}/out\n"
        f"[task.t]\nlcore = 1\nrx = in:0\ntx = out:0\n{keys}"
    )
    with running(ini) as wsdp:
        wsdp.control.await_stats(lambda now: now["t"]["rx"] == len(frames))
        task = wsdp.control.ask("task", "t")
        check_closes(task)
        assert wsdp.end() == 0
    return [bytes(frame) for frame in rdpcap(f"{directory}/out")], task


def through(
    directory: Path,
    cpe: Sequence[Packet | bytes] = (),
    inet: Sequence[Packet | bytes] = (),
    *,
    extra: str = "",
    tables: str = TABLES,
    both: str = "",
) -> Left:
    """Put frames into both sides of the gateway; return its output once all were handled."""
    file = directory / "tables.txt"
    file.write_text(tables)
    ini = "[pool]\nmbufs = 4096\n"
    for number, (name, frames) in enumerate({"cpe": cpe, "inet": inet, "slow": ()}.items()):
        device = f"net_pcap{number},tx_pcap={directory}/{name}.out"
        if frames:
            # As raw octets: Scapy would complete what is missing on purpose.
            wrpcap(f"{directory}/{name}.in", [Raw(bytes(frame)) for frame in frames], linktype=1)
            device += f",rx_pcap={directory}/{name}.in"
        ini += f"[port.{name}]\ndevice = {device}\n"
    ini += up_task(file, extra=both) + down_task(file, both + extra)
    with running(ini) as wsdp:
        wsdp.control.await_stats(
            lambda now: (now["up"]["rx"], now["down"]["rx"]) == (len(cpe), len(inet))
        )
        up, down = wsdp.control.ask("task", "up"), wsdp.control.ask("task", "down")
        for task in (up, down):
            check_closes(task)
            assert task["tx_fail"] == 0
        assert wsdp.end() == 0
    return Left(
        *([bytes(frame) for frame in rdpcap(f"{directory}/{name}.out")]
          for name in ("cpe", "inet", "slow")),
        up, down,
    )  # fmt: skip


def inner(dst: str = "20.0.0.9", src: str = HOST_IP, payload: bytes = b"", **ip: Any) -> Packet:
    """Return an IPv4 packet that a subscriber sends or gets."""
    return IP(src=src, dst=dst, **ip) / UDP(sport=1000, dport=2000, chksum=0) / Raw(payload)


def qinq(
    packet: Packet,
    svid: int = SVID,
    cvid: int = CVID,
    *,
    tpid: int = 0x88A8,
    pcp: int = 0,
    dei: int = 0,
    src: str = CPE_MAC,
    dst: str = GATEWAY_MAC,
    padded: bool = True,
) -> bytes:
    """Return a frame of the CPE side, padded to 60 octets."""
    outer = Dot1AD if tpid == 0x88A8 else Dot1Q
    frame = bytes(
        Ether(src=src, dst=dst)
        / outer(vlan=svid, prio=pcp, dei=dei)
        / Dot1Q(vlan=cvid, prio=pcp, dei=dei)
        / packet
    )
    return frame + PADDING[: max(0, 60 - len(frame))] if padded else frame


def tunnel(
    packet: Packet,
    hop: int = 0,
    key: int = KEY,
    mpls: bool | None = None,
    upstream: bool = True,
    **outer: Any,
) -> bytes:
    """Return a frame of the INET side: as sent to a hop, or as received from there."""
    ends = {"src": LOCAL_IP, "dst": TUNNELS[hop]}
    macs = {"src": INET_MAC, "dst": HOP_MACS[hop]}
    if not upstream:
        ends = {"src": TUNNELS[hop], "dst": LOCAL_IP}
        macs = {"src": HOP_MACS[hop], "dst": INET_MAC}
    header = IP(**{"flags": "DF", "ttl": 64, "id": 0, "proto": 47, **ends, **outer})
    gre = GRE(key_present=1, key=key, proto=0x0800)
    if mpls if mpls is not None else hop == 0:
        frame = Ether(type=0x8847, **macs) / MPLS(label=LABEL, s=1, ttl=64) / header / gre
    else:
        frame = Ether(**macs) / header / gre
    return bytes(frame / packet)


def arp(op: int = 1, ip: str = "10.9.0.9", mac: str = CPE_MAC, target: str = GATEWAY_IP) -> Packet:
    return ARP(op=op, hwsrc=mac, psrc=ip, pdst=target)
