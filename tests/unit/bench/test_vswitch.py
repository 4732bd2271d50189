# SPDX-License-Identifier: Apache-2.0
"""Check the vSwitch's ports and rules against the wiring, and the parsing of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

import pytest

from wirespeed.bench.assembly.kinds import wiring_of
from wirespeed.bench.interface import BenchError, HopCount
from wirespeed.bench.switch.ovs_dpdk import counters, flows
from wirespeed.bench.switch.ovs_dpdk.ports import add_ports_command, program_ports
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.plan.plan import Decision, VswitchPlan
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, Topology
from wirespeed.sources.pmd_stats import failed_upcalls

PLAN = VswitchPlan(
    Decision((0,), ""), Decision((1,), ""), Decision((256,), ""), Decision(2, ""),
    Decision(512, ""), Decision(9000, ""),
)  # fmt: skip
WIRED = wiring_of(Frames(Topology("pvp")))
PORTS = program_ports(WIRED, PLAN, PurePosixPath("/run/x"))

# As Open vSwitch 3.1.0 answers; port 4 has never been connected.
DUMP_PORTS = """OFPST_PORT reply (OF1.5) (xid=0x2): 5 ports
  port LOCAL: rx pkts=0, bytes=0, drop=0, errs=0, frame=0, over=0, crc=0
           tx pkts=0, bytes=0, drop=0, errs=0, coll=0
           duration=70.385s
  port  1: rx pkts=1000, bytes=60000, drop=0, errs=0, frame=?, over=?, crc=?
           tx pkts=0, bytes=0, drop=0, errs=0, coll=?
           duration=39.765s
           CUSTOM Statistics
                      ovs_tx_failure_drops=0, ovs_tx_mtu_exceeded_drops=0, ovs_tx_qos_drops=0,
                      ovs_rx_qos_drops=3, ovs_tx_invalid_hwol_drops=0,
  port  2: rx pkts=0, bytes=0, drop=0, errs=0, frame=?, over=?, crc=?
           tx pkts=880, bytes=1, drop=7, errs=0, coll=?
           duration=39.765s
           CUSTOM Statistics
                      ovs_tx_failure_drops=7, ovs_tx_mtu_exceeded_drops=2, ovs_tx_qos_drops=1,
                      ovs_rx_qos_drops=0, ovs_tx_invalid_hwol_drops=0,
  port  3: rx pkts=890, bytes=1, drop=20, errs=0, frame=?, over=?, crc=?
           tx pkts=970, bytes=1, drop=20, errs=0, coll=?
           duration=39.765s
           CUSTOM Statistics
                      ovs_tx_retries=8, ovs_tx_failure_drops=20, ovs_tx_mtu_exceeded_drops=0,
                      ovs_tx_qos_drops=0, ovs_rx_qos_drops=4, ovs_tx_invalid_hwol_drops=0,
  port  4: rx pkts=?, bytes=?, drop=?, errs=?, frame=?, over=?, crc=?
           tx pkts=?, bytes=?, drop=?, errs=?, coll=?
           duration=0.045s
           CUSTOM Statistics
                      ovs_tx_retries=0, ovs_tx_failure_drops=0, ovs_tx_mtu_exceeded_drops=0,
                      ovs_tx_qos_drops=0, ovs_rx_qos_drops=0, ovs_tx_invalid_hwol_drops=0,
"""

DUMP_FLOWS = """NXST_FLOW reply (xid=0x4):
 cookie=0x0, duration=9.3s, table=0, n_packets=29951616, n_bytes=1797096960, idle_age=0, priority=100,in_port=1,dl_dst=02:01:00:00:00:00 actions=output:3
 cookie=0x0, duration=9.3s, table=0, n_packets=17, n_bytes=1020, idle_age=9, priority=1,in_port=1 actions=drop
 cookie=0x0, duration=9.3s, table=0, n_packets=0, n_bytes=0, idle_age=9, priority=1,in_port=2 actions=drop
 cookie=0x0, duration=9.3s, table=0, n_packets=5, n_bytes=300, idle_age=9, priority=1,in_port=4 actions=drop
"""  # noqa: E501

PMD_STATS = """pmd thread numa_id 0 core_id 1:
  packets received: 59903424
  miss with success upcall: 2
  miss with failed upcall: 4
main thread:
  packets received: 0
  miss with failed upcall: 1
"""


def test_generator_ports_stand_for_nics_and_functions_are_vhost_user_servers() -> None:
    assert [(p.name, p.number, p.kind) for p in PORTS] == [
        ("east", 1, "dpdk"),
        ("west", 2, "dpdk"),
        ("vnf0a", 3, "dpdkvhostuserclient"),
        ("vnf0b", 4, "dpdkvhostuserclient"),
    ]
    assert PORTS[0].options == {
        "dpdk-devargs": "net_vhost1,iface=/run/x/east.sock,queues=2", "n_rxq": "2",
    }  # fmt: skip
    assert PORTS[2].options == {"vhost-server-path": "/run/x/vnf0a.sock"}


def test_all_ports_are_added_in_one_command() -> None:
    words = add_ports_command("br", PORTS[:1], mtu=9000)
    assert words == [
        "add-port", "br", "east", "--", "set", "Interface", "east", "type=dpdk",
        "ofport_request=1", "mtu_request=9000",
        'options:dpdk-devargs="net_vhost1,iface=/run/x/east.sock,queues=2"', 'options:n_rxq="2"',
    ]  # fmt: skip


def test_rules_name_port_and_address_and_drop_the_rest_port_by_port() -> None:
    assert flows.rules(WIRED.flows, PORTS).splitlines() == [
        "priority=100,in_port=1,dl_dst=02:01:00:00:00:00,actions=output:3",
        "priority=100,in_port=4,dl_dst=02:00:01:00:00:00,actions=output:2",
        "priority=1,in_port=1,actions=drop",
        "priority=1,in_port=2,actions=drop",
        "priority=1,in_port=3,actions=drop",
        "priority=1,in_port=4,actions=drop",
    ]


def test_frames_that_fit_no_rule_are_counted_by_port() -> None:
    assert flows.dropped_by_port(DUMP_FLOWS, PORTS) == {
        (port, DropCause.NO_FLOW): n
        for port, n in {"east": 17, "west": 0, "vnf0a": 0, "vnf0b": 5}.items()
    }


def hop(
    dump: str, unmatched: Mapping[tuple[str, DropCause], int] = MappingProxyType({})
) -> HopCount:
    answers = counters.Answers(counters.parse_ports(dump), unmatched)
    return counters.hop(SWITCH, PORTS, answers)


def seen(no_flow: int = 0) -> HopCount:
    unmatched = {("vnf0b", DropCause.NO_FLOW): no_flow}
    return hop(DUMP_PORTS, unmatched)


def test_frames_in_and_out_are_counted_by_port() -> None:
    # The rx count of a vhost-user port lacks policed frames (vnf0a: 4); a NIC's includes them.
    assert seen().entered == {"east": 1000, "west": 0, "vnf0a": 894, "vnf0b": 0}
    assert seen().left == {"east": 0, "west": 880, "vnf0a": 970, "vnf0b": 0}


def test_frames_missed_by_a_nic_ring_entered_and_were_dropped() -> None:
    """DPDK excludes it from a PCI port's rx count, and Open vSwitch reports it separately."""
    nic = DUMP_PORTS.replace("ovs_rx_qos_drops=3,", "ovs_rx_qos_drops=3, rx_missed_errors=11,")
    found = hop(nic)
    assert found.entered["east"] == 1011
    assert found.drops["switch:east", DropCause.RX_RING_FULL] == 11


def test_each_drop_has_its_place_and_cause() -> None:
    found = {key: n for key, n in seen(no_flow=5).drops.items() if n}
    assert found == {
        ("switch:east", DropCause.POLICER): 3,
        ("switch:west", DropCause.TG_RX_RING_FULL): 7,
        ("switch:west", DropCause.MTU): 2,
        ("switch:west", DropCause.EGRESS_POLICER): 1,
        ("switch:vnf0a", DropCause.VHOST_TX_RING_FULL): 20,
        ("switch:vnf0a", DropCause.POLICER): 4,
        ("switch:vnf0b", DropCause.NO_FLOW): 5,
    }


def test_failed_upcalls_are_added_up_over_all_threads() -> None:
    assert failed_upcalls(PMD_STATS) == 5


@pytest.mark.parametrize(("no_flow", "dropped"), [(0, 7), (5, 2), (7, 0), (9, 0)])
def test_failed_upcalls_only_frames_that_did_not_leave_are_dropped(
    no_flow: int, dropped: int
) -> None:
    """Frames whose flow could not be installed are forwarded, and count as failed all the same."""
    unmatched = {("vnf0b", DropCause.NO_FLOW): no_flow}
    found = counters.hop(
        SWITCH, PORTS, counters.Answers(counters.parse_ports(DUMP_PORTS), unmatched, upcalls=9)
    )
    assert found.drops[SWITCH, DropCause.UPCALL] == dropped


def test_a_port_without_an_answer_is_an_error() -> None:
    counted = dict(counters.parse_ports(DUMP_PORTS))
    del counted[3]
    with pytest.raises(BenchError, match="no counters for port vnf0a"):
        counters.hop(SWITCH, PORTS, counters.Answers(counted))
