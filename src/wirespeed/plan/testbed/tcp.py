# SPDX-License-Identifier: Apache-2.0
"""Assign CPUs to the programs of a TCP test.

Open vSwitch's main thread forwards the frames of kernel interfaces and never waits under traffic.
It gets a CPU of its own before server and clients get one each. PMD threads that poll the ports do
so, too. bench_tcp_guests.py plans hosts that are virtual machines.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from wirespeed.model.cpuset import format_list
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.needs import Forwarding, TcpNeeds
from wirespeed.model.plan.plan import Decision, GuestPlan, HostPlan, Plan, VswitchPlan
from wirespeed.model.study.spec import TcpStreams, Vswitch
from wirespeed.model.study.tcp import Tcp
from wirespeed.plan.testbed.guest import NETWORK, PAGE_KIB, guest_pages
from wirespeed.plan.testbed.memory import huge_pages, socket_memory
from wirespeed.plan.testbed.tcp_guests import tcp_guests

# Memory that DPDK allocates at start. Kernel ports take no buffers from DPDK's pools.
_SOCKET_MIB = 64


def plan_tcp(facts: HostFacts, streams: TcpStreams, needs: TcpNeeds) -> Plan:
    """Return the plan of one point with TCP traffic. Raises BadInput for a CPU that is missing."""
    cpus = tuple(c.id for c in facts.cpus if c.online and c.allowed)
    vswitch, need = None, dict.fromkeys((node.id for node in facts.nodes), 0)
    polling: tuple[int, ...] = ()
    if needs.switch is not None:
        vswitch = _vswitch(facts, streams, needs, cpus)
        polling = vswitch.pmd_cpus.value
        cpus = tuple(cpu for cpu in cpus if cpu not in polling) or cpus
        for node, mib in zip(facts.nodes, vswitch.socket_memory_mib.value, strict=True):
            need[node.id] += mib
    guests = tcp_guests(facts, streams, needs, cpus, polling)
    for guest in guests:
        for number, mib in guest_pages(guest).items():
            need[number] += mib
    pages = Decision(huge_pages(need, PAGE_KIB), "the vSwitch and the guests, if there are any")
    hosts = (*guests, *_hosts(cpus, {guest.name for guest in guests}, streams.tcp))
    networks = (NETWORK,) if guests else ()
    return Plan((HostPlan(facts.host, pages, vswitch, hosts),), networks=networks)


def _vswitch(
    facts: HostFacts, streams: TcpStreams, needs: TcpNeeds, cpus: tuple[int, ...]
) -> VswitchPlan:
    match needs.forwarding:
        case Forwarding.PMD_THREADS:
            return _pmd_threads(facts, streams, cpus)
        case Forwarding.MAIN_THREAD:
            return _main_thread(facts, streams.vswitch, streams.tcp, cpus[-1])
        case Forwarding.KERNEL:
            return _kernel(facts, streams.tcp)


def _kernel(facts: HostFacts, tcp: Tcp) -> VswitchPlan:
    return VswitchPlan(
        main_cpus=Decision((), "the kernel forwards"),
        pmd_cpus=Decision((), "softirqs run on the CPU that sends"),
        socket_memory_mib=Decision(tuple(0 for _ in facts.nodes), "the kernel has its own memory"),
        rx_queues=Decision(tcp.queues, "tcp.queues"),
        descriptors=Decision(0, "kernel ports have none"),
        mtu=Decision(tcp.mtu, "tcp.mtu"),
    )


def _hosts(cpus: Sequence[int], guests: Collection[str], tcp: Tcp) -> tuple[GuestPlan, ...]:
    """Return the hosts that are not virtual machines.

    The server gets half of the CPUs, all clients together the rest. A single CPU is shared.
    """
    half = max(1, len(cpus) // 2)
    server, clients = tuple(cpus[:half]), tuple(cpus[half:] or cpus)
    why = "half of what the vSwitch leaves" if len(cpus) > 1 else "server and clients share a CPU"
    found = []
    if "server" not in guests:
        found.append(GuestPlan("server", Decision(server, why)))
    if len(guests) < 1 + tcp.clients:
        found.append(GuestPlan("clients", Decision(clients, why)))
    return tuple(found)


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


def _pmd_threads(facts: HostFacts, streams: TcpStreams, cpus: tuple[int, ...]) -> VswitchPlan:
    wanted, tcp = streams.vswitch, streams.tcp
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
        socket_memory_mib=socket_memory(wanted, tcp.mtu, [node.id for node in facts.nodes]),
        rx_queues=Decision(tcp.queues, "tcp.queues"),
        descriptors=Decision(wanted.descriptors, "AF_PACKET's rings have a size of their own"),
        mtu=Decision(tcp.mtu, "tcp.mtu"),
    )
