# SPDX-License-Identifier: Apache-2.0
"""Which CPUs do the programs of a TCP test run on?

Open vSwitch's main thread forwards what comes from kernel interfaces and waits for nothing while
there is traffic: it gets a CPU to itself before server and clients get one each. So do PMD threads,
where these poll the ports.
"""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.model.cpuset import format_list
from wirespeed.model.errors import BadInput
from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import Decision, GuestPlan, HostPlan, VswitchPlan
from wirespeed.model.spec import PointSpec, Vswitch
from wirespeed.model.tcp import Tcp, TcpPath
from wirespeed.plan.bench_memory import huge_pages, socket_memory

_PAGE_KIB = 2048
# Kernel ports take no packet buffers from DPDK's pools; this is what it allocates at start.
_SOCKET_MIB = 64


def plan_tcp(facts: HostFacts, spec: PointSpec, tcp: Tcp) -> HostPlan:
    """The plan of one point with TCP traffic. Raises BadInput where a named CPU does not exist."""
    cpus = tuple(c.id for c in facts.cpus if c.online and c.allowed)
    vswitch, need = None, {}
    if tcp.path.has_vswitch:
        vswitch = _main_thread(facts, spec.sut.vswitch, tcp, cpus[-1])
        if tcp.path is TcpPath.OVS_PMD:
            vswitch = _pmd_threads(facts, spec, tcp, cpus)
        polling = vswitch.pmd_cpus.value
        cpus = tuple(cpu for cpu in cpus if cpu not in polling) or cpus
        mib = vswitch.socket_memory_mib.value
        need = {node.id: each for node, each in zip(facts.nodes, mib, strict=True)}
    return HostPlan(
        facts.host,
        Decision(huge_pages(need, _PAGE_KIB), "Open vSwitch alone, if there is one"),
        vswitch,
        _hosts(cpus),
    )


def _hosts(cpus: Sequence[int]) -> tuple[GuestPlan, ...]:
    """Half of the CPUs for the server, the rest for all clients; they share what is one only."""
    half = max(1, len(cpus) // 2)
    server, clients = tuple(cpus[:half]), tuple(cpus[half:] or cpus)
    why = "half of what the vSwitch leaves" if len(cpus) > 1 else "server and clients share a CPU"
    return (
        GuestPlan("server", Decision(server, why)),
        GuestPlan("clients", Decision(clients, why)),
    )


def _main_thread(facts: HostFacts, wanted: Vswitch, tcp: Tcp, cpu: int) -> VswitchPlan:
    asked = wanted.socket_memory_mib
    memory = Decision(
        tuple(asked or _SOCKET_MIB for _ in facts.nodes),
        "chosen in sut.vswitch.socket_memory_mib" if asked else "kernel ports need no packet pools",
    )
    return VswitchPlan(
        main_cpus=Decision((cpu,), "its main thread is what forwards: a CPU of its own"),
        pmd_cpus=Decision((cpu,), "no port here is polled by a PMD thread"),
        socket_memory_mib=memory,
        rx_queues=Decision(1, "Open vSwitch reads a kernel port as one queue"),
        descriptors=Decision(wanted.descriptors, "kernel ports have none"),
        mtu=Decision(tcp.mtu, "tcp.mtu"),
    )


def _pmd_threads(facts: HostFacts, spec: PointSpec, tcp: Tcp, cpus: tuple[int, ...]) -> VswitchPlan:
    wanted = spec.sut.vswitch
    pmds: Decision[tuple[int, ...]] = Decision((cpus[-1],), "one PMD thread on a CPU of its own")
    if wanted.pmd_cpus is not None:
        pmds = Decision(tuple(sorted(wanted.pmd_cpus)), "chosen in sut.vswitch.pmd_cpus")
    if missing := sorted(set(pmds.value) - set(cpus)):
        raise BadInput(
            f"sut.vswitch.pmd_cpus names CPUs {missing}, which this host does not have or may not "
            "use",
            f"Choose from {format_list(cpus)}.",
        )
    return VswitchPlan(
        main_cpus=Decision((cpus[0],), "what is left to its main thread is little"),
        pmd_cpus=pmds,
        socket_memory_mib=socket_memory(spec, tcp.mtu, [node.id for node in facts.nodes]),
        rx_queues=Decision(tcp.queues, "tcp.queues"),
        descriptors=Decision(wanted.descriptors, "AF_PACKET's rings have a size of their own"),
        mtu=Decision(tcp.mtu, "tcp.mtu"),
    )
