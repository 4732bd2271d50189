# SPDX-License-Identifier: Apache-2.0
"""Scale the examples' workloads down to an emulated server of 8 to 16 CPUs.

The structure stays as in the papers (ports, policies, networks, chains); counts, memory and rates
shrink, and the ports are the server's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.host_rules import HugePagePolicy
from wirespeed.model.plan.policy import NicUse, PciNumaPolicy
from wirespeed.model.plan.workload import Nic, Vnf, Workload
from wirespeed.plan.workload.file import parse_workload

EXAMPLES = ("s0-speedtest", "s1-bng", "s2-chains", "s3-jumbo")
_FOLDER = Path(__file__).parents[2] / "examples"
_RATE_FPS = 10_000.0
SMALL_PAGE_KIB, LARGE_PAGE_KIB = 2048, 1 << 20


def scaled(name: str, facts: HostFacts, page_kib: int = SMALL_PAGE_KIB) -> Workload:
    """Return the example for this host. page_kib: of all its huge pages."""
    path = _FOLDER / name / "workload.toml"
    workload = parse_workload(path.read_text(encoding="utf-8"), str(path))
    ports = [nic.address for nic in facts.nics if nic.sriov_total and not nic.physical_function]
    return replace(
        workload,
        nics=_nics(workload.nics, ports, facts),
        vnfs=tuple(_vnf(vnf, page_kib) for vnf in workload.vnfs),
        aliases=(),
        cores=replace(workload.cores, pmd_cores=None, pmd_core_order=(), idle_cpus=()),
        vswitch=replace(workload.vswitch, socket_memory_mib=(1024,) * len(facts.nodes)),
        memory=replace(
            workload.memory,
            page_size_kib=page_kib,
            count=None,
            huge_pages=HugePagePolicy.DEMAND,
            host_reserve_mib=1024 * len(facts.nodes),
        ),
    )


def _nics(nics: Sequence[Nic], ports: Sequence[str], facts: HostFacts) -> tuple[Nic, ...]:
    """Give each [[nic]] one of the host's ports; a bond of one port is that port."""
    most = {nic.address: nic.sriov_total for nic in facts.nics}
    return tuple(
        replace(
            nic,
            ports=(port,),
            vfs=min(nic.vfs or 4, most[port]) if nic.use is NicUse.SRIOV else None,
        )
        for nic, port in zip(nics, ports, strict=False)
    )


def _vnf(vnf: Vnf, page_kib: int) -> Vnf:
    ports = tuple(replace(port, rate_fps=_RATE_FPS, queues=None) for port in vnf.ports)
    return replace(
        vnf,
        count=1,
        vcpus=2,
        memory_mib=256 if page_kib == SMALL_PAGE_KIB else 1024,
        page_size=str(page_kib),
        numa_nodes=None,
        numa_cpus=(),
        numa_memory_mib=(),
        cpu_features=(),
        devices=(),
        pci_numa_policy=PciNumaPolicy.PREFERRED,
        ports=ports,
    )
