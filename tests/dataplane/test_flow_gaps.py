# SPDX-License-Identifier: Apache-2.0
"""Check that a sink names the flows of a planted hole, in frames that Scapy makes."""

from __future__ import annotations

from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import wrpcap

from tests.dataplane.program import running
from tests.dataplane.stamp import Stamp

FLOWS, ROUNDS, DARK = 40, 30, range(10, 20)
HOLES = {3, 17}
# Cycles between two frames of a flow.
INTERVAL = 1_000_000
PRIMARY, BACKUP = "02:00:01:00:00:00", "02:00:01:00:00:0b"


def frame(flow: int, sequence: int, mac: str, ttl: int = 63) -> Packet:
    tsc = (sequence + 1) * INTERVAL + flow
    stamp = Stamp(stream=0, flow=flow, sequence=sequence, trial=0, tsc=tsc)
    return Ether(dst=mac, src="02:00:00:00:00:01") / IP(ttl=ttl) / UDP() / stamp.write()


def test_planted_hole_names_its_flows_and_times(tmp_path: Path) -> None:
    """Two flows lose ten frames each, and come back by the backup; another goes astray once."""
    frames = [
        frame(flow, sequence, BACKUP if flow in HOLES and sequence >= DARK.stop else PRIMARY)
        for sequence in range(ROUNDS)
        for flow in range(FLOWS)
        if not (flow in HOLES and sequence in DARK)
    ]
    frames += [frame(0, ROUNDS, "02:00:00:00:00:99"), frame(1, ROUNDS, PRIMARY, ttl=61)]
    wrpcap(str(tmp_path / "in.pcap"), frames)
    with running(
        f"[pool]\nmbufs = 4096\n[port.a]\ndevice = net_pcap0,rx_pcap={tmp_path}/in.pcap\n"
        f"[task.sink]\ntype = sink\nlcore = 1\nrx = a:0\nflows = {FLOWS}\n"
        f"track_flows = {FLOWS}\npaths = {PRIMARY}, {BACKUP}\n"
    ) as wsdp:
        wsdp.control.await_stats(lambda now: now["sink"]["rx"] == len(frames))
        found = wsdp.export("flow_gaps", "sink")
        counted = wsdp.control.ask("task", "sink")
    assert found["format"] == "wirespeed-flow-gaps-1"
    assert sorted(found["gaps"]) == [
        [flow, len(DARK), DARK.start * INTERVAL + flow, (DARK.stop + 1) * INTERVAL + flow, 0, 1]
        for flow in sorted(HOLES)
    ]
    assert found["not_recorded"] == 0
    assert (found["misrouted"], found["looped"]) == (1, 1)
    assert (counted["misrouted"], counted["lost"]) == (1, len(HOLES) * len(DARK))
    assert found["last"][3] == [ROUNDS * INTERVAL + 3, ROUNDS, 1]
