# SPDX-License-Identifier: Apache-2.0
"""Check the collectors of Open vSwitch on its answers, as version 3.1 prints them."""

from __future__ import annotations

from wirespeed.kpi.collectors import ovs_pmd, ovs_ports
from wirespeed.sources.errors import Refused

STATS = """pmd thread numa_id 0 core_id 1:
  packets received: 1000
  packet recirculations: 7
  avg. datapath passes per packet: 1.00
  emc hits: 900
  smc hits: 0
  megaflow hits: 90
  avg. subtable lookups per megaflow hit: 1.00
  miss with success upcall: 9
  miss with failed upcall: 1
  avg. packets per output batch: 1.00
  idle cycles: 8000 (80.00%)
  processing cycles: 2000 (20.00%)
  avg cycles per packet: 10.00 (10000/1000)
main thread:
  packets received: 3
"""
RXQ = """pmd thread numa_id 0 core_id 1:
  isolated : false
  port: dpdk0             queue-id:  0 (enabled)   pmd usage: 43 %
  port: vhu1              queue-id:  0 (enabled)   pmd usage: NOT AVAIL
  overhead: 11 %
"""
COVERAGE = """Event coverage, avg rate over last: 5 seconds, last minute, last hour,  hash=abc:
datapath_drop_upcall_error   0.0/sec     0.000/sec        0.0000/sec   total: 4
drop_action_of_pipeline      0.0/sec     0.000/sec        0.0000/sec   total: 12
dpif_flow_del                0.0/sec     0.000/sec        0.0000/sec   total: 2
netdev_sent                967178.4/sec 966510.667/sec   880482.1181/sec   total: 21235468562413
100 events never hit
"""
SHOW = """netdev@ovs-netdev:
  lookups: hit:57 missed:13 lost:2
  flows: 6
  port 0: ovs-netdev (tap)
    RX packets:0 errors:0 dropped:0 overruns:0 frame:0
    TX packets:0 errors:0 dropped:5 aborted:0 carrier:0
    collisions:0
    RX bytes:0  TX bytes:0
  port 1: dpdk0 (dpdk: configured_rx_queues=1, mtu=1500)
    RX packets:1000 errors:1 dropped:2 overruns:? frame:?
    TX packets:900 errors:0 dropped:3 aborted:? carrier:?
    collisions:?
    RX bytes:64000 (62.5 KiB)  TX bytes:57600 (56.3 KiB)
"""
UPCALL = """netdev@ovs-netdev:
  flows         : (current 6) (avg 5) (max 7) (limit 200000)
  offloaded flows : 0
  dump duration : 3ms
  ufid enabled : true

  6: (keys 6)
"""
MEMORY = "handlers:1 idl-cells-Open_vSwitch:402 ports:2 revalidators:1 rules:5 udpif keys:6\n"
POOLS = """mempool <ovsabc>@0x17f7d1a40
  flags=10
  socket_id=0
  size=262143
  populated_size=262143
  internal cache infos:
    cache_size=512
    cache_count[0]=120
    total_cache_count=120
  common_pool_count=261000
  no statistics available
"""


def pmd_answers(command: str, *_: str) -> str:
    return {
        "dpif-netdev/pmd-stats-show": STATS,
        "dpif-netdev/pmd-rxq-show": RXQ,
        "coverage/show": COVERAGE,
    }[command]


def port_answers(command: str, *_: str) -> str:
    return {
        "dpctl/show": SHOW, "upcall/show": UPCALL, "memory/show": MEMORY,
        "netdev-dpdk/get-mempool-info": POOLS,
    }[command]  # fmt: skip


def test_pmd_threads_have_total_cycles_hits_and_upcalls() -> None:
    found = ovs_pmd.read("system", pmd_answers)
    pmd = ("system", "0", "1")
    assert found["pmd_busy_cycles", pmd] == 2000
    assert found["pmd_idle_cycles", pmd] == 8000
    assert found["pmd_emc_hits", pmd] == 900
    assert found["pmd_upcalls", pmd] == 9
    assert found["pmd_lost_upcalls", pmd] == 1
    assert found["pmd_rxq_usage_ratio", (*pmd, "dpdk0", "0")] == 43
    assert ("pmd_rxq_usage_ratio", (*pmd, "vhu1", "0")) not in found


def test_datapath_drops_have_the_cause_as_a_label() -> None:
    found = ovs_pmd.read("system", pmd_answers)
    drops = {labels: n for (key, labels), n in found.items() if key == "datapath_dropped_packets"}
    assert drops == {
        ("system", "datapath_drop_upcall_error"): 4, ("system", "drop_action_of_pipeline"): 12,
    }  # fmt: skip


def test_ports_without_a_counter_of_the_driver_lack_that_series() -> None:
    found = ovs_ports.read("bench", port_answers)
    assert found["port_packets", ("bench", "dpdk0", "rx")] == 1000
    assert found["port_bytes", ("bench", "dpdk0", "tx")] == 57600
    assert found["port_dropped_packets", ("bench", "ovs-netdev", "tx")] == 5
    assert found["datapath_lookups", ("bench", "missed")] == 13
    assert found["upcall_flow_limit", ("bench",)] == 200000
    assert found["upcall_dump_seconds", ("bench",)] == 3_000_000
    assert found["switch_objects", ("bench", "udpif keys")] == 6
    assert found["mempool_free", ("ovs bench", "ovsabc")] == 261120


def test_a_switch_without_dpdk_has_no_mempools() -> None:
    def ask(command: str, *words: str) -> str:
        if command == "netdev-dpdk/get-mempool-info":
            raise Refused("is not a valid command")
        return port_answers(command, *words)

    assert not any(key.startswith("mempool") for key, _ in ovs_ports.read("system", ask))
