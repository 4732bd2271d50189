# SPDX-License-Identifier: Apache-2.0
"""List errors of guests, flavors and nova.conf."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.audit.case import Case
from tests.unit.audit.good_host import (
    with_facts,
    with_flavor,
    with_guest,
    with_nova,
)
from wirespeed.model.host.guest_facts import Flavor, GuestPort, VcpuPin

_PINS_NODE_1 = (VcpuPin(0, (8,)), VcpuPin(1, (20,)))
_ONE_QUEUE = (GuestPort("vhostuser", 1, "/run/vhu0"),)

GUEST_FAULTS = [
    Case(
        "WS35",
        "default filters",
        with_nova(enabled_filters=("ComputeFilter",)),
        ("lacks NUMATopologyFilter, PciPassthroughFilter",),
        "enabled_filters = ComputeFilter,NUMATopologyFilter,PciPassthroughFilter",
    ),
    Case(
        "WS36",
        "S0's and S3's keys",
        with_flavor(hw__cpu_threads_policy="prefer", hw__numa_mempolicy="preferred"),
        ("hw:cpu_threads_policy=prefer", "hw:numa_mempolicy=preferred"),
        "openstack flavor set odd --property hw:cpu_thread_policy=prefer",
    ),
    Case(
        "WS37",
        "isolate with SMT",
        with_flavor(hw__cpu_thread_policy="isolate"),
        ("flavor odd has hw:cpu_thread_policy=isolate",),
        "hw:cpu_thread_policy=require",
    ),
    Case(
        "WS38",
        "S1's example",
        with_facts(
            flavors=(Flavor("s1", 8, 2048, {"hw:numa_cpus.0": "0-3", "hw:numa_cpus.1": "4-7"}),)
        ),
        ("flavor s1 has hw:numa_cpus.0, hw:numa_cpus.1 and no hw:numa_nodes",),
        "hw:numa_nodes=2",
    ),
    Case(
        "WS39",
        "no emulatorpin",
        with_guest("vnf0", emulator_cpus=None),
        ("emulator threads of vnf0 run on its vCPUs' CPUs 3,15",),
        "virsh emulatorpin vnf0 0,12",
    ),
    Case(
        "WS39",
        "emulatorpin on a vCPU",
        with_guest("vnf1", emulator_cpus=(0, 4)),
        ("emulator threads of vnf1 run on its vCPUs' CPUs 4",),
    ),
    Case(
        "WS40",
        "guest on node 1",
        with_guest("vnf0", pins=_PINS_NODE_1),
        ("vnf0 runs on node 1, its NIC is on node 0",),
        "pci_numa_affinity_policy=required",
    ),
    Case(
        "WS40",
        "vhost-user only, guest on node 1",
        with_guest("vnf0", pins=_PINS_NODE_1, ports=_ONE_QUEUE),
        ("vnf0 runs on node 1, its NIC is on node 0",),
    ),
    Case(
        "WS41",
        "4 KiB pages",
        with_guest("vnf0", huge_page_kib=None),
        ("vnf0 has 4096 MiB without huge pages",),
        "hw:mem_page_size",
    ),
    Case(
        "WS42",
        "one queue, two rxqs",
        with_guest("vnf0", ports=_ONE_QUEUE),
        ("vnf0 has 1 queue on /run/vhu0, DPDK ports have 2 rxqs",),
        "queues='2'",
    ),
    Case(
        "WS43",
        "CPU 15 twice",
        with_guest("vnf1", pins=(VcpuPin(0, (15,)),)),
        ("CPU 15 is pinned by vnf0, vnf1",),
        "virsh vcpupin vnf1",
    ),
    Case(
        "WS46",
        "cpu_mode none",
        with_nova(cpu_mode="none"),
        ("cpu_mode = none; flavor nfv requires aes",),
        "cpu_mode = host-model",
    ),
    Case(
        "WS46",
        "required by a trait",
        replace(
            with_nova(cpu_mode="none"),
            facts=replace(
                with_nova(cpu_mode="none").facts,
                flavors=(Flavor("t", 1, 1, {"trait:HW_CPU_X86_AVX2": "required"}),),
            ),
        ),
        ("flavor t requires avx2",),
    ),
    Case(
        "WS50",
        "two vCPUs, one queue",
        with_guest("vnf0", ports=_ONE_QUEUE),
        ("vnf0 has 2 vCPUs and 1 queue",),
        "vif_multiqueue_enabled",
    ),
]

GUEST_UNDECIDABLE = [
    Case(
        "WS35",
        "a compute node's nova.conf",
        with_nova(enabled_filters=None),
        ("needs the scheduler's nova.conf",),
    ),
    Case(
        "WS46",
        "a named CPU model",
        with_nova(cpu_mode="custom", cpu_models=("SandyBridge",)),
        ("definition of the CPU models in use: SandyBridge",),
    ),
]
