# SPDX-License-Identifier: Apache-2.0
"""Plan the vCPUs, memory and ports of a TCP test's virtual machines."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.needs import TcpGuestNeeds, TcpNeeds
from wirespeed.model.plan.plan import Decision, GuestNode, GuestPlan, PortPlan
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.model.study.spec import Guest, TcpStreams
from wirespeed.model.study.tcp import TcpPinning
from wirespeed.plan.testbed.guest import (
    NETWORK,
    SYSTEM_MIB,
    check_memory,
    emulator_cpus,
    memory_pages,
)

# Upper bound on TCP's socket buffers in a guest that runs little else.
_BUFFERS_MIB = 128


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Properties that all guests of a point share."""

    vcpus: Decision[int]
    memory_mib: Decision[int]
    page_kib: Decision[int]
    kind: Decision[InterfaceKind]
    queues: Decision[int]
    wanted: Guest
    apart: tuple[int, ...]
    """CPUs of threads that seldom run."""


def tcp_guests(
    facts: HostFacts,
    streams: TcpStreams,
    needs: TcpNeeds,
    free: tuple[int, ...],
    polling: tuple[int, ...],
) -> tuple[GuestPlan, ...]:
    """Return the guests in the order of the needs.

    free: CPUs that the vSwitch leaves. polling: CPUs of its PMD threads. Raises BadInput if a NUMA
    node has too little memory.
    """
    if not needs.guests:
        return ()
    sizes = _sizes(streams, needs, free)
    cpus, why = free, "CPUs that the vSwitch leaves, in turn"
    if len(needs.guests) == 1 and len(free) > 1:
        cpus, why = free[: len(free) // 2], "half of what the vSwitch leaves; clients have the rest"
    if streams.tcp.pinning is TcpPinning.ON_PMD:
        cpus, why = polling, 'the CPUs of the PMD threads: tcp.pinning = "on-pmd"'
    found = []
    for number, needed in enumerate(needs.guests):
        first = number * sizes.vcpus.value
        own = tuple(cpus[(first + vcpu) % len(cpus)] for vcpu in range(sizes.vcpus.value))
        found.append(_guest(needed, sizes, Decision(own, why), facts.node_of(own[0]) or 0))
    _check(facts, found)
    return tuple(found)


def _sizes(streams: TcpStreams, needs: TcpNeeds, free: tuple[int, ...]) -> _Sizes:
    wanted = streams.guest or Guest()
    return _Sizes(
        _vcpus(wanted, streams.tcp.queues),
        _memory(wanted),
        memory_pages(wanted),
        Decision(needs.guest_ports, f'what tcp.path = "{streams.tcp.path}" has for guests'),
        Decision(streams.tcp.queues, "tcp.queues"),
        wanted,
        free[:1],
    )


def _vcpus(wanted: Guest, queues: int) -> Decision[int]:
    if wanted.vcpus is not None:
        return Decision(wanted.vcpus, "guest.vcpus")
    if queues > 2:
        return Decision(queues, f"one for each of the {queues} queues of its port")
    return Decision(2, "as S0's server had")


def _memory(wanted: Guest) -> Decision[int]:
    needed = SYSTEM_MIB + _BUFFERS_MIB
    because = f"{SYSTEM_MIB} MiB for its system, {_BUFFERS_MIB} MiB for socket buffers"
    if wanted.memory_mib is None:
        return Decision(needed, because)
    if wanted.memory_mib < needed:
        raise BadInput(
            f"guest.memory_mib = {wanted.memory_mib}: the guest needs {needed} MiB: {because}",
            "Leave it out, or ask for more.",
        )
    return Decision(wanted.memory_mib, "guest.memory_mib")


def _guest(
    needed: TcpGuestNeeds, sizes: _Sizes, pinned: Decision[tuple[int, ...]], node: int
) -> GuestPlan:
    memory, pages, pins = sizes.memory_mib, sizes.page_kib, tuple(enumerate(pinned.value))
    cpus = tuple(sorted(set(pinned.value)))
    return GuestPlan(
        needed.name,
        Decision(cpus, pinned.because),
        vcpus=sizes.vcpus.value,
        memory_mib=memory.value,
        nodes=(GuestNode(node, pins, (), memory.value, pages.value),),
        emulator_cpus=emulator_cpus(sizes.wanted, sizes.apart, cpus),
        ports=tuple(
            PortPlan(port.name, NETWORK.name, sizes.kind, sizes.queues, port.mac)
            for port in needed.ports
        ),
        sizes=(
            Decision(f"{sizes.vcpus.value} vCPUs", sizes.vcpus.because),
            Decision(f"{memory.value} MiB", memory.because),
            Decision(f"pages of {pages.value} KiB", pages.because),
        ),
    )


def _check(facts: HostFacts, guests: list[GuestPlan]) -> None:
    """Raise BadInput if the guests of a NUMA node need more memory than it has."""
    taken: dict[int, int] = {}
    for guest in guests:
        for node in guest.nodes:
            taken[node.node] = taken.get(node.node, 0) + node.memory_mib
            check_memory(facts, guest.name, node.node, taken[node.node])
