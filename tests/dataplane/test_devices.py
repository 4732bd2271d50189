# SPDX-License-Identifier: Apache-2.0
"""Check that frames cross pairs of devices of every kind, unchanged and once."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dataplane.program import DEADLINE_S, Control, running

FRAMES = 2000


@pytest.fixture
def socket_path() -> Iterator[Path]:
    """Yield a short path for a unix socket."""
    with tempfile.TemporaryDirectory(prefix="ws-", dir="/tmp") as directory:
        yield Path(directory) / "s"


def await_links(control: Control) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not all(port["link"] for port in control.ask("ports").values()):
        assert time.monotonic() < deadline, control.ask("ports")


def cross(near: str, far: str, mtu: int = 1500) -> None:
    """Send frames from one device to its peer, and back through a macswap."""
    frame = "abcdefg" if mtu == 1500 else min(mtu + 18, 9216)  # sizes of RFC 6985, up to 1518
    ini = (
        "[pool]\nmbufs = 8192\n"
        f"[port.near]\ndevice = {near}\nmtu = {mtu}\n"
        f"[port.far]\ndevice = {far}\nmtu = {mtu}\n"
        "[task.gen]\ntype = gen\nlcore = 1\ntx = near:0\nflows = 7\n"
        f"frame = {frame}\ncatchup_ns = 60000000000\n"
        "[task.swap]\ntype = macswap\nlcore = 1\nrx = far:0\ntx = far:0\n"
        "[task.sink]\ntype = sink\nlcore = 1\nrx = near:0\nflows = 7\n"
    )
    with running(ini) as wsdp:
        await_links(wsdp.control)
        wsdp.control.ask("reset")
        started = wsdp.control.ask(
            "start", "rate_fps=20000", f"duration_ns={FRAMES * 50000}", "trial=1"
        )
        assert started == {"ok": 1}
        stats = wsdp.control.await_stats(lambda now: now["sink"]["rx"] >= FRAMES)
        assert stats["gen"]["tx"] == stats["swap"]["tx"] == stats["sink"]["handled"] == FRAMES
        assert stats["sink"]["rx_bytes"] == stats["gen"]["tx_bytes"]
        sink = wsdp.control.ask("task", "sink")
        assert sink["received"] == FRAMES
        for fault in ("lost", "duplicated", "reordered", "foreign", "stale", "corrupt"):
            assert sink[fault] == 0, sink
        assert wsdp.end() == 0


def test_memif(socket_path: Path) -> None:
    where = f"socket={socket_path},socket-abstract=no,id=0"
    cross(f"net_memif0,role=server,{where}", f"net_memif1,role=client,{where}")
    assert not socket_path.exists()  # or nobody could listen there again


@pytest.mark.parametrize("mtu", [1500, 9000, 9198])
def test_vhost_and_virtio_user(socket_path: Path, mtu: int) -> None:
    cross(f"net_vhost0,iface={socket_path}",
          f"net_virtio_user0,path={socket_path},queue_size=1024", mtu)  # fmt: skip


def test_virtio_user_with_a_ring_of_another_size(socket_path: Path) -> None:
    cross(f"net_vhost0,iface={socket_path}",
          f"net_virtio_user0,path={socket_path},queue_size=256")  # fmt: skip


def test_pcap_path_of_200_octets_is_written(socket_path: Path) -> None:
    """DPDK limits the device string of a device added at run time to 128 octets."""
    directory = socket_path.parent / ("d" * (200 - len(f"{socket_path.parent}//out")))
    directory.mkdir()
    ini = (
        f"[pool]\nmbufs = 4096\n[port.p]\ndevice = net_pcap0,tx_pcap={directory}/out\n"
        "[task.gen]\ntype = gen\nlcore = 1\ntx = p:0\n"
    )
    with running(ini) as wsdp:
        assert wsdp.control.ask("ports")["p"]["link"] == 1
        assert wsdp.end() == 0
    assert (directory / "out").stat().st_size > 0


@pytest.fixture
def veth() -> Iterator[tuple[str, str]]:
    """Yield a pair of kernel interfaces on which the kernel sends nothing itself."""
    names = f"wsd{os.getpid()}a", f"wsd{os.getpid()}b"
    subprocess.run(["ip", "link", "add", names[0], "type", "veth", "peer", "name", names[1]],
                   check=True)  # fmt: skip
    try:
        for name in names:
            Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
        yield names
    finally:
        subprocess.run(["ip", "link", "del", names[0]], check=True)


@pytest.mark.root
def test_af_packet_on_veth(veth: tuple[str, str]) -> None:
    cross(f"net_af_packet0,iface={veth[0]}", f"net_af_packet1,iface={veth[1]}")


@pytest.mark.root
def test_af_packet_drops_of_the_kernel_are_counted(veth: tuple[str, str]) -> None:
    """Nobody empties a ring of 64 frames for a while."""
    device = f"net_af_packet0,iface={veth[0]},blocksz=4096,framesz=2048,framecnt=64"
    ini = (
        f"[pool]\nmbufs = 4096\n[port.p]\ndevice = {device}\n"
        "[port.end]\ndevice = net_null0,no-rx=1\n"
        "[task.t]\ntype = io\nlcore = 1\nrx = p:0\ntx = end:0\n"
    )
    frame = bytes.fromhex("0200000000020200000000010800").ljust(60, b"\0")
    with running(ini) as wsdp, socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind((veth[1], 0))
        assert wsdp.control.ask("reset") == {"ok": 1}
        assert wsdp.control.ask("pause_pollers", "ns=10000000") == {"ok": 1}
        for _ in range(FRAMES):
            sender.send(frame)
        assert wsdp.control.ask("pause_pollers", "ns=0") == {"ok": 1}
        # Once the last frame is sent, it is in the ring or dropped.
        polls = wsdp.control.ask("lcores")["1"]["polls"]
        while wsdp.control.ask("lcores")["1"]["polls"] < polls + 1000:
            pass
        port = wsdp.control.ask("ports")["p"]
    assert port["ipackets"] < FRAMES
    if port["imissed"] == 0:
        pytest.skip("net_af_packet of this DPDK does not count them")
    assert port["ipackets"] + port["imissed"] == FRAMES


@pytest.mark.root
def test_af_xdp_on_veth(veth: tuple[str, str]) -> None:
    cross(f"net_af_xdp0,iface={veth[0]}", f"net_af_xdp1,iface={veth[1]}")
