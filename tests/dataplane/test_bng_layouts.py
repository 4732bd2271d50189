# SPDX-License-Identifier: Apache-2.0
"""Check that the shipped layouts work; only devices, CPUs and tables are replaced."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from scapy.packet import Raw
from scapy.utils import rdpcap, wrpcap

from tests.dataplane.bng import (
    GATEWAY_MAC,
    HOP_MACS,
    HOST_IP,
    LABEL,
    TUNNELS,
    check_closes,
    inner,
    qinq,
    tunnel,
)
from tests.dataplane.program import REPOSITORY, check, eal_section, running

LAYOUTS = REPOSITORY / "dataplane" / "layouts"
USERS = 48
WORKERS = 8
ROUTES = ("20.0.0.9", "21.0.0.9")


def key_of(user: int) -> int:
    """Return scattered keys, so that all workers have some."""
    return user * 40503 + 17


def tables(ports: int) -> str:
    """Write one next hop for each port, and users in turn on the ports."""
    lines = ["wirespeed-bng-tables 1"]
    for hop in range(2):
        label = LABEL if hop == 0 else "-"
        lines.append(f"hop {hop} {TUNNELS[hop]} {label} {HOP_MACS[hop]} {hop % ports}")
        lines.append(f"route {ROUTES[hop][:2]}.0.0.0/8 {hop}")
    lines += [
        f"user {1 + i} 5 {key_of(i)} {i % ports} {HOST_IP} 02:00:00:00:01:{i:02x}"
        for i in range(USERS)
    ]
    return "\n".join(lines) + "\n"


def frames_in(ports: int) -> dict[str, list[bytes]]:
    """Return frames: each user sends over both hops, and gets a packet through either port."""
    sent: dict[str, list[bytes]] = {f"{side}{p}": [] for side in ("cpe", "inet") for p in range(2)}
    for i in range(USERS):
        sent[f"cpe{i % ports}"] += [qinq(inner(route), 1 + i, 5) for route in ROUTES]
        for port in range(ports):
            packet = inner(HOST_IP, ROUTES[port])
            sent[f"inet{port}"].append(tunnel(packet, port, key_of(i), upstream=False))
    sent["cpe0"].append(qinq(inner(flags="MF"), 1, 5))
    return sent


def frames_out(ports: int) -> dict[str, list[bytes]]:
    sent = frames_in(ports)
    out: dict[str, list[bytes]] = {name: [] for name in sent}
    out["slow"] = [sent["cpe0"][-1]]
    for i in range(USERS):
        for hop, route in enumerate(ROUTES):
            out[f"inet{hop % ports}"].append(tunnel(inner(route), hop, key_of(i)))
        for port in range(ports):
            packet = inner(HOST_IP, ROUTES[port], ttl=63)
            mac = f"02:00:00:00:01:{i:02x}"
            frame = qinq(packet, 1 + i, 5, src=GATEWAY_MAC, dst=mac, padded=False)
            out[f"cpe{i % ports}"].append(frame.ljust(60, b"\0"))
    return out


def placed(layout: str, directory: Path, ports: int) -> str:
    """Return a shipped layout on pcap files. Ports of the small one have no numbers."""
    text = (LAYOUTS / layout).read_text()
    (directory / "tables.txt").write_text(tables(ports))
    text = text.replace("tables.txt", str(directory / "tables.txt"))
    for name, frames in frames_in(ports).items():
        wrpcap(f"{directory}/{name}.in", [Raw(frame) for frame in frames], linktype=1)

    def device(match: re.Match[str]) -> str:
        name = match[1] if match[1][-1].isdigit() or match[1] == "slow" else match[1] + "0"
        rx = "" if name == "slow" else f",rx_pcap={directory}/{name}.in"
        return f"[port.{match[1]}]\ndevice = net_pcap_{name},tx_pcap={directory}/{name}.out{rx}"

    text, replaced = re.subn(r"\[port\.(\w+)\]\ndevice = net_vhost\S+", device, text)
    assert replaced == 2 * ports + 1
    return "[pool]\nmbufs = 16384\n" + text


@pytest.mark.parametrize(
    ("layout", "ports"), [("bng-one-lcore.ini", 1), ("bng-eight-workers.ini", 2)]
)
def test_every_frame_leaves_where_it_should(tmp_path: Path, layout: str, ports: int) -> None:
    expected = frames_out(ports)
    ini = placed(layout, tmp_path, ports)
    total = sum(map(len, expected.values()))
    with running(ini, eal_section(2048, 11)) as wsdp:
        # Eleven threads share one CPU: let them sleep between their polls.
        wsdp.control.ask("pause_pollers", "ns=1000000")
        edge = [name for name in wsdp.control.ask("stats") if name.startswith("to_")]
        last = edge or ["up", "down"]
        stats = wsdp.control.await_stats(lambda now: sum(now[n]["tx"] for n in last) >= total)
        for task in stats.values():
            check_closes(task)
            assert (task["discard"], task["tx_fail"]) == (0, 0)
        assert wsdp.end() == 0
    for name, frames in expected.items():
        if (tmp_path / f"{name}.out").exists():
            left = [bytes(frame) for frame in rdpcap(f"{tmp_path}/{name}.out")]
            assert Counter(left) == Counter(frames), name
    if "up0" in stats:
        shares = Counter(key_of(i) % WORKERS for i in range(USERS))
        for worker in range(WORKERS):
            # Both directions of each subscriber, and of nobody else; the fragment is the first's.
            extra = worker == key_of(0) % WORKERS
            assert stats[f"up{worker}"]["rx"] == 2 * shares[worker] + extra
            assert stats[f"down{worker}"]["rx"] == 2 * shares[worker]


def test_a_ring_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    ini = placed("bng-eight-workers.ini", tmp_path, 2)
    broken = re.sub(r"\[task\.down5\].*?\n\n", "", ini, flags=re.DOTALL)
    assert broken != ini
    done = check(eal_section(2048, 11) + broken, tmp_path, "--check")
    assert done.returncode != 0
    assert "down5" in done.stderr
