# SPDX-License-Identifier: Apache-2.0
"""List errors of cores, isolation, frequency and interrupts."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.audit.case import Case
from tests.unit.audit.good_host import (
    GUEST_CPUS,
    ISOLATED,
    good_facts,
    with_config,
    with_facts,
    with_guest,
    with_kernel,
    with_nova,
    with_ovs,
)
from wirespeed.model.host.facts import IdleState, Irq, Missing
from wirespeed.model.host.guest_facts import VcpuPin
from wirespeed.model.host.neighbours import Neighbours

_MISSING_GUESTS = (Missing("guests", "needs root to ask libvirt"),)
_CPUS = good_facts().cpus
_OVS = good_facts().ovs

CPU_FAULTS = [
    Case(
        "WS01",
        "Nova's set",
        with_nova(dedicated_cpus=(2, *GUEST_CPUS)),
        ("CPUs 2 run PMD threads",),
        "cpu_dedicated_set = 3-5,8-11,15-17,20-23",
    ),
    Case(
        "WS01",
        "a running guest's pin",
        with_guest("vnf0", pins=(VcpuPin(0, (7,)),)),
        ("CPUs 7 run PMD threads",),
    ),
    Case(
        "WS02",
        "lcore mask",
        with_config(dpdk_lcore_mask="0x3"),
        ("CPUs 1 are in dpdk-lcore-mask",),
        "dpdk-lcore-mask=0x1",
    ),
    Case(
        "WS03",
        "shared in dedicated",
        with_nova(shared_cpus=(0, 3)),
        ("CPUs 3 are in cpu_shared_set",),
        "cpu_shared_set = 0",
    ),
    Case(
        "WS04",
        "PMD on CPU 6",
        with_config(pmd_cpu_mask="0xc6"),
        ("PMD CPUs 6 are not isolated",),
        "isolcpus=1-11,13-17,19-23",
    ),
    Case(
        "WS05",
        "guests on CPU 12",
        with_nova(dedicated_cpus=(*GUEST_CPUS, 12)),
        ("guest CPUs 12 are not isolated",),
        "isolcpus=1-5,7-17,19-23",
    ),
    Case(
        "WS06",
        "empty",
        with_kernel(nohz_full=()),
        ("nohz_full is empty",),
        "nohz_full=1-5,7-11,13-17,19-23",
    ),
    Case("WS06", "kernel without it", with_kernel(nohz_full=None), ("CONFIG_NO_HZ_FULL",)),
    Case(
        "WS07",
        "neither rcu_nocbs nor nohz_full",
        with_kernel(rcu_nocbs=(1,), nohz_full=()),
        ("offloaded from 1, isolated are",),
        "rcu_nocbs=1-5,7-11,13-17,19-23",
    ),
    Case(
        "WS08",
        "CPU 0",
        with_kernel(isolated=(0, *ISOLATED)),
        ("isolated CPUs are 0-5",),
        "isolcpus=1-5,7-11,13-17,19-23",
    ),
    Case(
        "WS09",
        "sibling 13 stays with the host",
        with_kernel(isolated=tuple(c for c in ISOLATED if c != 13)),
        ("siblings 1,13 one is isolated",),
        "isolcpus=1-5,7-11,13-17,19-23",
    ),
    Case(
        "WS10",
        "Nova gets 13",
        with_nova(dedicated_cpus=(*GUEST_CPUS, 13)),
        ("guests may run on 13",),
        "cpu_dedicated_set = 3-5,8-11,15-17,20-23",
    ),
    Case(
        "WS11",
        "1 and 13",
        with_config(pmd_cpu_mask="0x2086"),
        ("both threads of 1,13 are PMD CPUs",),
        "pmd-cpu-mask=0x86",
    ),
    Case(
        "WS12",
        "node 0 without PMD",
        with_config(pmd_cpu_mask="0x80"),
        ("dpdk0, dpdk1 on NUMA node 0",),
        "pmd-cpu-mask=0x82",
    ),
    Case(
        "WS12",
        "node without CPUs",
        with_facts(
            cpus=tuple(replace(c, node=1) for c in _CPUS),
            nodes=tuple(replace(n, cpus=()) if n.id == 0 else n for n in good_facts().nodes),
        ),
        ("dpdk0, dpdk1 on NUMA node 0",),
    ),
    Case(
        "WS31",
        "powersave on a PMD CPU",
        with_facts(cpus=tuple(replace(c, governor="powersave") if c.id == 2 else c for c in _CPUS)),
        ("powersave on 2",),
        "cpupower --cpu 2 frequency-set",
    ),
    Case(
        "WS32",
        "effective affinity",
        with_facts(irqs=(Irq(60, tuple(range(24)), (4,), "eno1-0"),)),
        ("60 (eno1-0) on 4",),
        "/proc/irq/$i/smp_affinity_list",
    ),
    Case(
        "WS32",
        "kernel that does not tell the effective one",
        with_facts(irqs=(Irq(60, (0, 1), (), "eno1-0"),)),
        ("60 (eno1-0) on 1",),
    ),
    Case(
        "WS47",
        "C6 on a PMD CPU",
        with_facts(
            cpus=tuple(
                replace(c, idle_states=(IdleState("C6", 133, disabled=False),)) if c.id == 7 else c
                for c in _CPUS
            )
        ),
        ("PMD CPUs 7 may enter C6 (133 us to wake)",),
        "cpupower --cpu 7 idle-set --disable-by-latency 10",
    ),
    Case(
        "WS52",
        "60% taken by others",
        with_facts(
            neighbours=Neighbours(
                "wire-7", trials=40, moved=0, taken=0.6, stolen=0.0, takers=("cc1 41.00%",)
            )
        ),
        ("run wire-7: others took 60.00% of the polling CPUs' time (cc1 41.00%)",),
        "wirespeed plan",
    ),
    Case(
        "WS52",
        "a guest whose CPUs are stolen and moved",
        with_facts(neighbours=Neighbours("wire-7", trials=40, moved=9, taken=0.02, stolen=0.04)),
        ("stole 4.00% of it; the hypervisor moved the CPUs in 9 of 40 trials",),
        "virsh vcpupin",
    ),
]

CPU_UNDECIDABLE = [
    Case("WS01", "guests unseen", with_facts(guests=None, missing=_MISSING_GUESTS), ("libvirt",)),
    Case("WS05", "guests unseen", with_facts(guests=None, missing=_MISSING_GUESTS), ("libvirt",)),
    Case("WS10", "guests unseen", with_facts(guests=None, missing=_MISSING_GUESTS), ("libvirt",)),
    Case("WS04", "mask is no mask", with_config(pmd_cpu_mask="0xzz"), ("not a hexadecimal",)),
    Case("WS02", "mask wider than the host", with_config(dpdk_lcore_mask="0x80000000"), ("31",)),
    Case("WS07", "rcu_nocbs wider than the host", with_kernel(rcu_nocbs=(99,)), ("names 99",)),
    Case(
        "WS01",
        "no mask and no daemon answer",
        with_ovs(
            pmds=None,
            other_config={},
        ),
        ("needs the PMD threads' CPUs",),
    ),
    Case(
        "WS31", "unreadable", with_facts(missing=(Missing("governors", "needs root"),)), ("root",)
    ),
    Case(
        "WS47", "unreadable", with_facts(missing=(Missing("idle_states", "needs root"),)), ("root",)
    ),
]
