# SPDX-License-Identifier: Apache-2.0
"""List errors of ports, queues, DPDK memory and huge pages."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.audit.case import Case
from tests.unit.audit.good_host import (
    GIB_IN_KIB,
    good_facts,
    with_config,
    with_device,
    with_facts,
    with_kernel,
    with_node,
    with_ovs,
    with_port,
)
from wirespeed.model.host.facts import HugePagePool
from wirespeed.model.host.ovs_facts import OvsInterface, PmdThread, Rxq
from wirespeed.model.plan.host_rules import MemoryModel

_NO_PAGES = tuple(replace(n, huge_pages=()) for n in good_facts().nodes)
_OVS = good_facts().ovs
assert _OVS
_PATCHED = (
    *_OVS.interfaces,
    OvsInterface("p0", "br0", "patch", {"peer": "p1"}),
    OvsInterface("p1", "br1", "patch", {"peer": "p0"}),
    OvsInterface("far", "br1", "dpdkvhostuserclient", mtu=1500),
)
_TWO_BRIDGES = (*_OVS.bridges, replace(_OVS.bridges[0], name="br1"))

VSWITCH_FAULTS = [
    Case(
        "WS13",
        "dpdk0 on node 1's PMD",
        with_ovs(pmds=(PmdThread(7, 1, rxqs=(Rxq("dpdk0", 1),)),)),
        ("rxq 1 of dpdk0 (node 0) is polled by the PMD thread on CPU 7 (node 1)",),
        "pmd-rxq-rebalance",
    ),
    Case(
        "WS14",
        "BIOS says nothing",
        with_device("0000:5e:00.0", node=None),
        ("0000:5e:00.0: numa_node of 0000:5e:00.0",),
    ),
    Case(
        "WS15",
        "one rxq, MTU 9000",
        with_port("dpdk1", configured_rx_queues=1),
        ("dpdk1 has MTU 9000 and 1 rxq",),
        "ovs-vsctl set Interface dpdk1 options:n_rxq=2",
    ),
    Case(
        "WS15",
        "nothing said: one rxq is the default",
        with_port("dpdk1", configured_rx_queues=None, options={}),
        ("dpdk1 has MTU 9000 and 1 rxq",),
    ),
    Case(
        "WS16",
        "four rxqs, two PMD threads on the node",
        with_port("dpdk0", configured_rx_queues=4),
        ("dpdk0 has 4 rxqs, 2 PMD threads",),
        "options:n_rxq=2",
    ),
    Case(
        "WS17",
        "2048 descriptors",
        with_port("dpdk0", rx_descriptors=2048),
        ("dpdk0 has 2048 rx and 4096 tx descriptors",),
        "n_rxq_desc=4096",
    ),
    Case(
        "WS18",
        "device gave fewer",
        with_port("dpdk0", configured_rx_queues=1, configured_tx_queues=1),
        ("has 1 rx queues, 2 are requested", "has 1 tx queues, 4 are requested"),
        "options:n_rxq=1",
    ),
    Case(
        "WS19",
        "1 GiB for two jumbo ports",
        with_config(dpdk_socket_mem="1024,1024"),
        ("1024 MiB on node 0 for 2 ports with MTU 9000",),
        "dpdk-socket-mem=3072,1024",
    ),
    Case(
        "WS19",
        "S3's model requires more",
        replace(with_config(dpdk_socket_mem="3072,1024"), memory_model=MemoryModel.S3_PER_PORT),
        ("3072 MiB on node 0",),
        "dpdk-socket-mem=6144,1024",
    ),
    Case(
        "WS20",
        "four times the need",
        with_config(dpdk_socket_mem="12288,1024"),
        ("12288 MiB on node 0; Open vSwitch's own model needs 3072",),
        "dpdk-socket-mem=3072,1024",
    ),
    Case(
        "WS21",
        "nothing on node 1",
        with_config(dpdk_socket_mem="3072"),
        ("node 1 has PMD threads and 0 MiB",),
        "dpdk-socket-mem=3072,1024",
    ),
    Case(
        "WS22",
        "no huge pages at all",
        with_facts(nodes=_NO_PAGES),
        ("node 0: dpdk-socket-mem 3072 MiB", "node 1: dpdk-socket-mem 1024 MiB"),
        "hugepages=6",
    ),
    Case(
        "WS23",
        "-n 4 on six channels",
        with_config(dpdk_extra="--proc-type primary -n 4"),
        ("DPDK uses 4 (-n), the host has 6",),
        "'other_config:dpdk-extra=--proc-type primary -n 6'",
    ),
    Case("WS23", "default", with_config(dpdk_extra=None), ("DPDK uses 4 (its default)",)),
    Case(
        "WS24",
        "guest port keeps 1500",
        with_port("vhu0", mtu=1500, mtu_request=None),
        ("vhu0 has MTU 1500, another port of its path 9000",),
        "ovs-vsctl set Interface vhu0 mtu_request=9000",
    ),
    Case(
        "WS24",
        "device refused",
        with_port("dpdk0", mtu=1500),
        ("dpdk0 has MTU 1500, 9000 is requested",),
    ),
    Case(
        "WS24",
        "behind a patch port",
        with_ovs(interfaces=_PATCHED, bridges=_TWO_BRIDGES),
        ("far has MTU 1500",),
    ),
    Case(
        "WS25",
        "2 MiB pages only",
        with_facts(
            nodes=tuple(
                replace(n, huge_pages=(HugePagePool(2048, 512, 0),)) for n in good_facts().nodes
            )
        ),
        ("no 1 GiB huge page; 512 of 2048 KiB on node 0, 512 of 2048 KiB on node 1",),
        "hugepages=62",
    ),
    Case(
        "WS26",
        "16 and 4",
        with_node(1, huge_pages=(HugePagePool(GIB_IN_KIB, 4, 4),)),
        ("16 on node 0, 4 on node 1",),
        "node1/hugepages/hugepages-1048576kB/nr_hugepages",
    ),
    Case(
        "WS53",
        "blocks not onlined",
        with_node(1, installed_kib=66 << 20, online_kib=24 << 20),
        ("node 1: node 1 has 24576 MiB online of 67584 MiB installed",),
        "node1/memory*/state",
    ),
    Case(
        "WS27",
        "140 MiB, as S3 figure 5",
        with_node(1, free_kib=140 * 1024),
        ("node 1 has 140 MiB free",),
        "echo 15 > /sys/devices/system/node/node1/hugepages",
    ),
    Case("WS28", "S3's 164.0", with_kernel(cmdline="hugepages=164.0"), ("164.0",), "hugepages=164"),
    Case(
        "WS49", "TCP without TSO", with_config(userspace_tso_enable=None), ("is not set",), "=true"
    ),
]

VSWITCH_UNDECIDABLE = [
    Case(
        "WS12",
        "a port without node",
        replace(
            with_ovs(interfaces=tuple(replace(i, node=None, pci=None) for i in _OVS.interfaces))
        ),
        ("needs the NUMA node of dpdk0, dpdk1",),
    ),
    Case(
        "WS19",
        "a port without node",
        with_ovs(interfaces=tuple(replace(i, node=None, pci=None) for i in _OVS.interfaces)),
        ("needs the NUMA node of DPDK port dpdk0",),
    ),
    Case("WS22", "not a list of MiB", with_config(dpdk_socket_mem="1G,1G"), ("not a list of MiB",)),
    Case(
        "WS49",
        "nobody said what guests carry",
        replace(with_config(userspace_tso_enable=None), tcp=None),
        ("--traffic",),
    ),
]
