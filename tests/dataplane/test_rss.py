# SPDX-License-Identifier: Apache-2.0
"""Check that senders spread a stream's flows over queues as a NIC with RSS would.

The hash is recomputed here, bit by bit, from the frames that were sent, and checked on the vectors
of Microsoft's RSS specification.
"""

from __future__ import annotations

import ipaddress
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap

from tests.dataplane.program import running
from tests.dataplane.stamp import Stamp
from tests.dataplane.test_devices import await_links

KEY = bytes.fromhex(
    "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"
)
QUEUES = 3
FLOWS = 200


def toeplitz(data: bytes) -> int:
    """Combine, for each set bit i of the data, the key's 32 bits from bit i on."""
    key, key_bits = int.from_bytes(KEY), len(KEY) * 8
    bits, result = int.from_bytes(data), 0
    for i in range(len(data) * 8):
        if bits >> (len(data) * 8 - 1 - i) & 1:
            result ^= key >> (key_bits - 32 - i) & 0xFFFFFFFF
    return result


def queue_of(frame: bytes, queues: int) -> int:
    """Return the queue by a redirection table of 128 entries, filled round robin."""
    packet = Ether(frame)
    network = packet[IP] if IP in packet else packet[IPv6]
    addresses = b"".join(ipaddress.ip_address(at).packed for at in (network.src, network.dst))
    ports = packet[UDP].sport.to_bytes(2) + packet[UDP].dport.to_bytes(2)
    return [i % queues for i in range(128)][toeplitz(addresses + ports) & 127]


@pytest.mark.parametrize(
    ("source", "destination", "expected"),
    [
        (("66.9.149.187", 2794), ("161.142.100.80", 1766), 0x51CCC178),
        (("199.92.111.2", 14230), ("65.69.140.83", 4739), 0xC626B0EA),
        (("3ffe:2501:200:1fff::7", 2794), ("3ffe:2501:200:3::1", 1766), 0x40207D3D),
    ],
)
def test_the_hash_of_this_file_is_the_specified_one(
    source: tuple[str, int], destination: tuple[str, int], expected: int
) -> None:
    ends = (source, destination)
    addresses = b"".join(ipaddress.ip_address(address).packed for address, _ in ends)
    ports = b"".join(port.to_bytes(2) for _, port in ends)
    assert toeplitz(addresses + ports) == expected


def sent(directory: Path, keys: Mapping[str, object]) -> list[list[bytes]]:
    """Return what each queue's sender writes to its own file: two rounds of its flows and more."""
    files = [directory / f"{queue}.pcap" for queue in range(QUEUES)]
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    ini = "[pool]\nmbufs = 16384\n" + "".join(
        f"[port.p{queue}]\ndevice = net_pcap{queue},tx_pcap={file}\n"
        f"[task.gen{queue}]\ntype = gen\nlcore = 1\ntx = p{queue}:0\nflows = {FLOWS}\n"
        f"rss_queues = {QUEUES}\nrss_queue = {queue}\nstream = {queue}\n"
        f"catchup_ns = 60000000000\n{lines}"
        for queue, file in enumerate(files)
    )
    with running(ini) as wsdp:
        rate_fps = 100_000
        duration_ns = 3 * FLOWS * 10**9 // (QUEUES * rate_fps)
        assert wsdp.control.ask(
            "start", f"rate_fps={rate_fps}", f"duration_ns={duration_ns}", "trial=1"
        ) == {"ok": 1}
        tasks = [
            wsdp.control.await_task(f"gen{queue}", lambda now: not now["running"])
            for queue in range(QUEUES)
        ]
        assert wsdp.end() == 0
    frames = [[bytes(frame) for frame in rdpcap(str(file))] for file in files]
    for task, own in zip(tasks, frames, strict=True):
        assert task["intended"] == task["offered"] == len(own)
        # Its share of 3 x FLOWS frames: each flow three times.
        assert task["intended"] == 3 * task["flows_own"]
    assert sum(task["flows_own"] for task in tasks) == FLOWS
    return frames


@pytest.mark.parametrize(
    "keys",
    [
        {"flow_field": "src_port"},
        {"flow_field": "dst_ip", "frame": 128},
        {"flow_field": "src_ip", "vlan": 5, "inner_vlan": 6, "frame": "abb"},
        {"flow_field": "dst_port", "ip": 6, "frame": 200},
        {"flow_field": "src_ip", "ip": 6, "frame": 84},
        {"flow_field": "vlan", "vlan": 100, "frame": 68},
    ],
    ids=lambda keys: "-".join(map(str, keys.values())),
)
def test_each_frame_is_in_the_queue_that_a_nic_would_choose(
    keys: Mapping[str, object], tmp_path: Path
) -> None:
    queues = sent(tmp_path, keys)
    for queue, frames in enumerate(queues):
        assert all(queue_of(frame, QUEUES) == queue for frame in frames)
    # Where only tags differ all flows have one hash, else every queue has its share.
    assert all(queues) == (keys["flow_field"] != "vlan")


def test_no_flow_has_two_senders(tmp_path: Path) -> None:
    stamps = [
        [Stamp.read(bytes(Ether(frame)[UDP].payload)) for frame in frames]
        for frames in sent(tmp_path, {"flow_field": "src_ip"})
    ]
    flows = [{stamp.flow for stamp in own} for own in stamps]
    assert sum(map(len, flows)) == FLOWS
    assert set.union(*flows) == set(range(FLOWS))
    for queue, own in enumerate(stamps):
        assert {stamp.stream for stamp in own} == {queue}
        # Flows take turns: numbers go up by one a round.
        rounds = [i // len(flows[queue]) for i in range(len(own))]
        assert [stamp.sequence for stamp in own] == rounds


def test_queues_of_a_ring_stay_apart_and_a_sink_finds_every_frame() -> None:
    """Frames sent on a queue of a virtio-user port arrive on the same queue of its vhost peer."""
    with tempfile.TemporaryDirectory(prefix="ws-", dir="/tmp") as directory:
        tasks = "".join(
            f"[task.gen{queue}]\ntype = gen\nlcore = 1\ntx = near:{queue}\nflows = {FLOWS}\n"
            f"rss_queues = 2\nrss_queue = {queue}\nstream = {queue}\n"
            "catchup_ns = 60000000000\n"
            f"[task.io{queue}]\ntype = io\nlcore = 2\nrx = far:{queue}\ntx = ring:r\n"
            for queue in range(2)
        )
        queues = "rx_queues = 2\ntx_queues = 2\nspread = peer\n"
        with running(
            "[pool]\nmbufs = 65536\n"
            f"[port.far]\ndevice = net_vhost0,iface={directory}/s,queues=2\n{queues}"
            f"[port.near]\ndevice = net_virtio_user0,path={directory}/s,queues=2\n{queues}"
            f"[ring.r]\nsize = 32768\n{tasks}"
            "[task.sink]\ntype = sink\nlcore = 3\nrx = ring:r\nstreams = 2\n"
            f"flows = {FLOWS}\n"
        ) as wsdp:
            await_links(wsdp.control)
            wsdp.control.ask("reset")
            wsdp.control.ask("start", "rate_fps=20000", "duration_ns=100000000", "trial=1")
            for queue in range(2):
                wsdp.control.await_task(f"gen{queue}", lambda now: not now["running"])
            gens = [wsdp.control.ask("task", f"gen{queue}") for queue in range(2)]
            accepted = sum(gen["tx"] for gen in gens)
            stats = wsdp.control.await_stats(lambda now: now["sink"]["handled"] == accepted)
            sink = wsdp.control.ask("task", "sink")
    assert sum(gen["offered"] for gen in gens) == 4000
    assert [stats[f"io{queue}"]["rx"] for queue in range(2)] == [gen["tx"] for gen in gens]
    assert all(gen["tx"] for gen in gens)
    assert sink["received"] == accepted
    for nothing in ("duplicated", "reordered", "too_late", "foreign", "stale", "corrupt"):
        assert sink[nothing] == 0, nothing
