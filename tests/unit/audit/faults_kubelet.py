# SPDX-License-Identifier: Apache-2.0
"""List errors of a kubelet's configuration on the good host."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.audit.case import Case
from tests.unit.audit.good_host import (
    GIB_IN_KIB,
    PF,
    good_facts,
    good_kubelet,
    good_subject,
    with_facts,
)
from wirespeed.audit.rule import Subject
from wirespeed.model.host.facts import HugePagePool
from wirespeed.model.plan.kubelet import CpuOption, KubeletSettings, TopologyPolicy


def _with_kubelet(settings: KubeletSettings) -> Subject:
    return replace(good_subject(), kubelet=settings)


def _offline(number: int) -> Subject:
    cpus = tuple(
        replace(c, online=False, siblings=(c.id,))
        if c.id == number
        else replace(c, siblings=tuple(s for s in c.siblings if s != number))
        for c in good_facts().cpus
    )
    return with_facts(cpus=cpus)


def _no_pages_on_node_0() -> Subject:
    first, second = good_facts().nodes
    empty = (HugePagePool(2048, 0, 0), HugePagePool(GIB_IN_KIB, 0, 0))
    return with_facts(nodes=(replace(first, huge_pages=empty), second))


_GOOD = good_kubelet()

KUBELET_FAULTS = [
    Case(
        "WS54",
        "reserves 0-1",
        _with_kubelet(replace(_GOOD, reserved_cpus=(0, 12, 6))),
        ("reservedSystemCPUs 0,6,12 leaves the siblings 18",),
        'reservedSystemCPUs: "0,6,12,18"',
    ),
    Case(
        "WS55",
        "CPU manager off",
        _with_kubelet(replace(_GOOD, static_cpus=False, cpu_options=frozenset())),
        ("aligns no CPUs",),
        "cpuManagerPolicy: static",
    ),
    Case(
        "WS55",
        "Topology manager off",
        _with_kubelet(replace(_GOOD, topology=TopologyPolicy.NONE)),
        ("exclusive CPUs come from any NUMA node",),
        "single-numa-node",
    ),
    Case(
        "WS55",
        "memory manager off",
        _with_kubelet(replace(_GOOD, static_memory=False)),
        ("aligns no huge pages",),
        "memoryManagerPolicy: Static",
    ),
    Case(
        "WS55",
        "options that exclude each other",
        _with_kubelet(
            replace(
                _GOOD,
                cpu_options=frozenset(
                    {CpuOption.FULL_PCPUS_ONLY, CpuOption.DISTRIBUTE_ACROSS_CORES}
                ),
            )
        ),
        ("the kubelet does not start: new static policy error",),
    ),
    Case("WS55", "a sibling offline", _offline(23), ("full-pcpus-only counts 1 of 2",), "online"),
    Case(
        "WS56",
        "reserves an isolated core",
        _with_kubelet(replace(_GOOD, reserved_cpus=(0, 3, 6, 12, 15, 18))),
        ("CPUs 3,15 are reserved for the system and isolated",),
        "isolcpus=",
    ),
    Case(
        "WS57",
        "reserves the NIC's node",
        _with_kubelet(replace(_GOOD, reserved_cpus=(*range(6), *range(12, 18)))),
        (f"{PF}: all CPUs of NUMA node 0 are reserved",),
    ),
    Case(
        "WS57", "no pages there", _no_pages_on_node_0(), (f"{PF}: NUMA node 0 has no huge pages",)
    ),
]
