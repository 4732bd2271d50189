# SPDX-License-Identifier: Apache-2.0
"""Check that gen sends exactly the requested frames, octet by octet against Scapy's.

Only the time stamp is taken from the frame itself; it must not run backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap, wrpcap

from tests.dataplane.program import Running, check, eal_section, running
from tests.dataplane.stamp import BYTES as STAMP_BYTES
from tests.dataplane.stamp import Stamp
from wirespeed.model.frame import Encapsulation, FlowField, FrameSizes, stamped_minimum_bytes

FLOWS = 7
FRAMES = 40
# So long a time to catch up that no frame is ever given up.
PATIENCE_NS = 60_000_000_000
TRIAL = 201
STREAM = 13
VLAN, INNER_VLAN = 4000, 33
SOURCE = {4: "198.18.255.252", 6: "2001:2:0:7::ffff:fffc"}
DESTINATION = {4: "198.19.0.254", 6: "2001:2:0:8::fffe"}
SOURCE_MAC, DESTINATION_MAC = "02:00:00:ff:ff:fd", "0e:01:02:03:fe:ff"
SOURCE_PORT, DESTINATION_PORT = 49150, 65500


@dataclass(frozen=True, slots=True)
class Case:
    """Request to one gen task."""

    ip: int
    encapsulation: Encapsulation
    steps: FlowField
    frame: str
    keys: Mapping[str, str] = field(default_factory=dict)
    destinations: Path | None = None
    """File with the destination of each flow, instead of one that counts up."""

    @property
    def ini(self) -> str:
        keys = {
            "frame": self.frame, "ip": self.ip, "flow_field": self.steps, "flows": FLOWS,
            "stream": STREAM, "src_ip": SOURCE[self.ip], "dst_ip": DESTINATION[self.ip],
            "src_mac": SOURCE_MAC, "dst_mac": DESTINATION_MAC,
            "src_port": SOURCE_PORT, "dst_port": DESTINATION_PORT, "catchup_ns": PATIENCE_NS,
            **self.keys,
        }  # fmt: skip
        if self.destinations is not None:
            for meaningless in ("flow_field", "flows", "dst_ip"):
                del keys[meaningless]
            keys["destinations"] = str(self.destinations)
        if self.encapsulation.tags >= 1:
            keys["vlan"] = VLAN
        if self.encapsulation.tags == 2:
            keys["inner_vlan"] = INNER_VLAN
        return "".join(f"{key} = {value}\n" for key, value in keys.items())


def expected_frame(case: Case, flow: int, frame_bytes: int, stamp: bytes) -> Packet:
    """Return the frame of one flow, built by Scapy."""

    def step(which: FlowField) -> int:
        return flow if case.steps is which and case.destinations is None else 0

    def mac(text: str, which: FlowField) -> str:
        number = int(text.replace(":", ""), 16) + step(which)
        return number.to_bytes(6).hex(":")

    source = str(ip_address(SOURCE[case.ip]) + step(FlowField.SRC_IP))
    destination = str(ip_address(DESTINATION[case.ip]) + step(FlowField.DST_IP))
    if case.destinations is not None:
        destination = case.destinations.read_text().splitlines()[flow]
    packet: Packet = Ether(src=mac(SOURCE_MAC, FlowField.SRC_MAC),
                           dst=mac(DESTINATION_MAC, FlowField.DST_MAC))  # fmt: skip
    vlan = VLAN + step(FlowField.VLAN)
    if case.encapsulation is Encapsulation.VLAN:
        packet /= Dot1Q(vlan=vlan)
    elif case.encapsulation is Encapsulation.QINQ:
        outer = Dot1Q if case.keys.get("outer_tpid") == "0x8100" else Dot1AD
        packet.type = 0x8100 if outer is Dot1Q else 0x88A8
        packet = packet / outer(vlan=vlan) / Dot1Q(vlan=INNER_VLAN)
    udp = UDP(sport=SOURCE_PORT + step(FlowField.SRC_PORT),
              dport=DESTINATION_PORT + step(FlowField.DST_PORT))  # fmt: skip
    if case.ip == 4:
        udp.chksum = 0
        packet /= IP(src=source, dst=destination, id=0, ttl=64)
    else:
        packet /= IPv6(src=source, dst=destination, hlim=64)
    packet /= udp
    room = frame_bytes - 4 - len(packet)
    return packet / Raw(stamp.ljust(room, b"\0"))


def sent(cases: Sequence[Case], directory: Path) -> list[list[bytes]]:
    """Return the frames that each case writes to a pcap file; cases share one process."""
    files = [directory / f"{index}.pcap" for index in range(len(cases))]
    ini = "[pool]\nmbufs = 16384\n" + "".join(
        f"[port.p{index}]\ndevice = net_pcap{index},tx_pcap={file}\nmtu = 9198\n"
        f"[task.gen{index}]\ntype = gen\nlcore = 1\ntx = p{index}:0\n{case.ini}"
        for index, (case, file) in enumerate(zip(cases, files, strict=True))
    )
    with running(ini) as wsdp:
        duration_ns = FRAMES * 10_000
        wsdp.control.ask("start", "rate_fps=100000", f"duration_ns={duration_ns}", f"trial={TRIAL}")
        stats = await_end(wsdp, [f"gen{index}" for index in range(len(cases))])
        assert wsdp.end() == 0
    frames = [[bytes(frame) for frame in rdpcap(str(file))] for file in files]
    for seen, own in zip(stats, frames, strict=True):
        assert seen["intended"] == seen["offered"] == seen["tx"] == len(own) == FRAMES
        assert seen["tx_bytes"] == seen["rx_bytes"] == sum(len(frame) + 4 for frame in own)
    return frames


def await_end(wsdp: Running, tasks: Sequence[str]) -> list[dict[str, int]]:
    """Return the counters of generators that have all come to the end of their run."""
    for task in tasks:
        wsdp.control.await_task(task, lambda seen: seen["running"] == 0)
    return [wsdp.control.ask("task", task) for task in tasks]


def compare(case: Case, frames: Sequence[bytes]) -> None:
    """Compare frame by frame; those with space for a stamp count through flows and numbers."""
    sizes = FrameSizes.parse(case.frame).sizes
    least = stamped_minimum_bytes(case.ip, case.encapsulation)
    stamped = plain = latest = 0
    for index, frame in enumerate(frames):
        size = sizes[index % len(sizes)]
        if size >= least and case.keys.get("stamp") != "no":
            at = 14 + 4 * case.encapsulation.tags + (20 if case.ip == 4 else 40) + 8
            tsc = Stamp.read(frame[at:]).tsc
            assert tsc >= latest
            latest = tsc
            stamp = Stamp(STREAM, stamped % FLOWS, stamped // FLOWS, TRIAL, tsc)
            expected = expected_frame(case, stamp.flow, size, stamp.write())
            stamped += 1
        else:
            expected = expected_frame(case, plain % FLOWS, size, b"")
            plain += 1
        assert frame.hex() == bytes(expected).hex(), f"frame {index}"


def cases_of(encapsulation: Encapsulation) -> Iterator[Case]:
    """Yield at most 32 cases, as many as DPDK has ports: every edge size, and every field."""
    for ip in (4, 6):
        stamped = stamped_minimum_bytes(ip, encapsulation)
        least = max(64, 46 + 20 * (ip == 6) + 4 * encapsulation.tags)
        for size in sorted({least, stamped, 128, 132, 1518, 9216}):
            yield Case(ip, encapsulation, FlowField.SRC_PORT, str(size))
        for which in FlowField:
            if which is not FlowField.VLAN or encapsulation.tags:
                yield Case(ip, encapsulation, which, str(stamped))
        yield Case(ip, encapsulation, FlowField.DST_IP, "bbbbbbbddddg")


@pytest.mark.parametrize("encapsulation", Encapsulation)
def test_every_frame_is_as_scapy_makes_it(encapsulation: Encapsulation, tmp_path: Path) -> None:
    cases = list(cases_of(encapsulation))
    for case, frames in zip(cases, sent(cases, tmp_path), strict=True):
        compare(case, frames)


def test_variations(tmp_path: Path) -> None:
    none, vlan, qinq = Encapsulation.NONE, Encapsulation.VLAN, Encapsulation.QINQ
    port = FlowField.SRC_PORT
    cases = [
        Case(4, none, port, "aaaaaaaddddg"),
        # The small ones have no space: they leave no gap in the sequence numbers of the others.
        Case(4, vlan, port, "aaaaaaaddddg"),
        Case(4, qinq, FlowField.VLAN, "72", {"outer_tpid": "0x8100"}),
        Case(4, none, port, "64", {"stamp": "no"}),
        Case(6, none, FlowField.SRC_IP, "200", {"stamp": "no"}),
        Case(4, none, port, "64", {"burst": "1"}),
        Case(4, none, port, "64", {"burst": "64", "burst_span_ns": "1000000000"}),
    ]
    for case, frames in zip(cases, sent(cases, tmp_path), strict=True):
        compare(case, frames)


LISTED = {
    4: ["203.0.113.1", "1.2.3.4", "223.255.255.255", "8.0.0.1", "8.0.0.1", "9.9.9.9", "77.0.1.0"],
    6: ["2001:db8::1", "2400:1:2:3:4:5:6:7", "2a00::", "::1", "fd00::1", "2001:db8::2",
        "2c00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
}  # fmt: skip


def test_each_address_of_a_file_is_a_flow(tmp_path: Path) -> None:
    cases = []
    for ip, addresses in LISTED.items():
        file = tmp_path / f"{ip}.txt"
        file.write_text("\n".join(addresses) + "\n")
        for encapsulation in Encapsulation:
            for frame in ("132", "bbbbbbbddddg"):
                keys = {"stamp": "no"} if frame == "132" and encapsulation.tags else {}
                cases.append(Case(ip, encapsulation, FlowField.DST_MAC, frame, keys, file))
    for case, frames in zip(cases, sent(cases, tmp_path), strict=True):
        compare(case, frames)


def test_destinations_are_refused_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "addresses"
    file.write_text("1.2.3.4\n1.2.3\n")
    ini = eal_section() + (
        "[port.p]\ndevice = net_null0\n[task.gen]\ntype = gen\nlcore = 1\ntx = p:0\n"
        f"destinations = {file}\nflows = 5\nrss_queues = 2\n"
    )
    refused = check(ini, tmp_path, "--check")
    assert refused.returncode != 0
    assert f'destinations = {file}: line 2: "1.2.3" is no IPv4 address' in refused.stderr
    assert "flows = 5: has no meaning next to destinations" in refused.stderr
    assert "rss_queues = 2: does not go with destinations" in refused.stderr


REPLAYED: list[Packet] = [
    Ether(src=SOURCE_MAC, dst=DESTINATION_MAC) / IP() / TCP() / Raw(b"t" * 10),
    Ether(src=SOURCE_MAC, dst=DESTINATION_MAC) / IP() / UDP() / Raw(bytes(range(100))),
    Ether(src=SOURCE_MAC, dst=DESTINATION_MAC) / IPv6() / UDP() / Raw(bytes(range(200))),
    Ether(src=SOURCE_MAC, dst=DESTINATION_MAC) / Dot1Q(vlan=9) / IP() / UDP() / Raw(b"s" * 17),
    Ether(src=SOURCE_MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(),
]


def replay(stamp: str, directory: Path) -> list[bytes]:
    """Return two and a half rounds of the replayed frames."""
    played, out = directory / "played.pcap", directory / "out.pcap"
    wrpcap(str(played), REPLAYED)
    with running(
        f"[port.p]\ndevice = net_pcap0,tx_pcap={out}\n[task.gen]\ntype = gen\nlcore = 1\n"
        f"tx = p:0\npcap = {played}\nstream = {STREAM}\nstamp = {stamp}\n"
        f"catchup_ns = {PATIENCE_NS}\n"
    ) as wsdp:
        wsdp.control.ask("start", "rate_fps=12000", "duration_ns=1000000", f"trial={TRIAL}")
        await_end(wsdp, ["gen"])
        assert wsdp.end() == 0
    frames = [bytes(frame) for frame in rdpcap(str(out))]
    assert len(frames) == 12
    return frames


def padded(packet: Packet) -> bytes:
    return bytes(packet).ljust(60, b"\0")


def test_a_replayed_file_is_sent_unchanged(tmp_path: Path) -> None:
    expected = [padded(packet) for packet in REPLAYED]
    assert replay("no", tmp_path) == [expected[index % 5] for index in range(12)]


def test_replayed_udp_can_be_stamped(tmp_path: Path) -> None:
    stamped = 0
    for index, frame in enumerate(replay("yes", tmp_path)):
        packet = REPLAYED[index % 5].copy()
        if index % 5 in (1, 2):
            payload = bytes(packet[Raw])
            tsc = Stamp.read(bytes(Ether(frame)[UDP].payload)).tsc
            packet[Raw].load = Stamp(STREAM, 0, stamped, TRIAL, tsc).write() + payload[STAMP_BYTES:]
            stamped += 1
            if IP in packet:
                packet[UDP].chksum = 0
        assert frame.hex() == padded(packet).hex(), f"frame {index}"


def test_a_bad_file_is_refused_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "not.pcap"
    file.write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(100))
    ini = eal_section() + (
        "[port.p]\ndevice = net_null0\n[task.gen]\ntype = gen\nlcore = 1\ntx = p:0\n"
        f"pcap = {file}\nframe = 64\n"
    )
    refused = check(ini, tmp_path, "--check")
    assert refused.returncode != 0
    assert f"[task.gen] pcap = {file}: " in refused.stderr
    assert "editcap" in refused.stderr
    assert "[task.gen] frame = 64: has no meaning next to pcap" in refused.stderr


def test_generators_on_several_lcores_add_up(tmp_path: Path) -> None:
    """Two senders share one sink: every frame of both is recognised."""
    histogram = tmp_path / "histogram.json"
    with running(
        "[ring.a]\nsize = 65536\n[pool]\nmbufs = 65536\n"
        "[task.left]\ntype = gen\nlcore = 1\ntx = ring:a\nflows = 100\nstream = 4\n"
        f"catchup_ns = {PATIENCE_NS}\n"
        "[task.right]\ntype = gen\nlcore = 2\ntx = ring:a\nflows = 100\nstream = 5\n"
        f"catchup_ns = {PATIENCE_NS}\n"
        "[task.sink]\ntype = sink\nlcore = 3\nrx = ring:a\nflows = 100\nstream = 4\nstreams = 2\n"
    ) as wsdp:
        wsdp.control.ask("start", "rate_fps=100000", "duration_ns=200000000", "trial=1")
        left, right = await_end(wsdp, ["left", "right"])
        assert left["offered"] == left["tx"] == right["offered"] == right["tx"] == 20000
        wsdp.control.await_stats(lambda now: now["sink"]["handled"] == 40000)
        sink = wsdp.control.ask("task", "sink")
        assert wsdp.control.ask("histogram", "sink", str(histogram)) == {"ok": 1}
    assert sink["received"] == sink["latency_count"] == 40000
    for nothing in ("lost", "duplicated", "reordered", "foreign", "stale", "corrupt"):
        assert sink[nothing] == 0, nothing
    assert f'"count": {sink["received"]}' in histogram.read_text()
