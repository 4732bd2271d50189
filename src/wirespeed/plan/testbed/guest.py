# SPDX-License-Identifier: Apache-2.0
"""Plan the vCPUs, memory and ports of a virtual machine of a bench.

The plan has the same fields as a guest of a deployment, so one template renders both.
"""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.needs import FunctionNeeds, Needs, PortNeeds
from wirespeed.model.plan.plan import Decision, GuestNode, GuestPlan, PortPlan
from wirespeed.model.plan.workload import ProviderNetwork
from wirespeed.model.study.spec import EmulatorThreads, Frames, Guest, GuestPages
from wirespeed.plan.sizing.eal_memory import process_memory
from wirespeed.plan.testbed.vfs import vf_port

PAGE_KIB = 2048
_SMALL_PAGE_KIB = 4
# All ports of a bench's guests are on it; the switch's rules decide where a frame goes.
NETWORK = ProviderNetwork("bench", "bench")
# Kernel, root file system of the image, sshd and the agent; 210 MiB measured on an idle guest.
SYSTEM_MIB = 384
_MEMORY_STEP_MIB = 64


def data_plane_vcpus(frames: Frames) -> int:
    """Return the number of a guest's vCPUs that poll."""
    return max(1, _vcpus(frames).value - 1)


def _vcpus(frames: Frames) -> Decision[int]:
    wanted = _wanted(frames).vcpus
    if wanted is not None:
        return Decision(wanted, "guest.vcpus")
    queues = frames.sut.vswitch.rx_queues
    if queues > 2:
        return Decision(queues, f"one for each of the {queues} queues of a port, as Nova has it")
    return Decision(2, "one for the guest's kernel and its control, one that polls")


def _wanted(frames: Frames) -> Guest:
    return frames.guest or Guest()


def guest_plan(
    facts: HostFacts,
    frames: Frames,
    needs: Needs,
    function: FunctionNeeds,
    *,
    polling: tuple[tuple[int, ...], str],
    housekeeping: int,
) -> GuestPlan:
    """Return the plan of the guest of one function.

    polling: CPUs of its polling vCPUs, and the reason. housekeeping: CPU of its other threads.
    Raises BadInput if the NUMA node has less memory.
    """
    cpus, why = polling
    vcpus = _vcpus(frames)
    packets = process_memory(frames, needs, ports=2, nodes={0}, lcores=len(cpus))
    memory = _memory(frames, packets.value.memory_mib)
    node = facts.node_of(cpus[0]) or 0
    check_memory(facts, function.name, node, memory.value)
    pages = memory_pages(_wanted(frames))
    # With one vCPU, kernel and data plane share the CPU of the data plane.
    places = (housekeeping, *cpus) if vcpus.value > 1 else cpus
    return GuestPlan(
        function.name,
        Decision(cpus, why),
        vcpus=vcpus.value,
        memory_mib=memory.value,
        nodes=(GuestNode(node, tuple(enumerate(places)), (), memory.value, pages.value),),
        emulator_cpus=emulator_cpus(_wanted(frames), (housekeeping,), cpus),
        ports=_ports(frames, needs, function),
        process=packets,
        placement=function.placement(shares_generator=False).name,
        sizes=(
            Decision(f"{vcpus.value} vCPUs", vcpus.because),
            Decision(f"{memory.value} MiB", memory.because),
            Decision(f"pages of {pages.value} KiB", pages.because),
        ),
    )


def _memory(frames: Frames, packets_mib: int) -> Decision[int]:
    wanted = _wanted(frames).memory_mib
    needed = SYSTEM_MIB + packets_mib
    because = f"{SYSTEM_MIB} MiB for its system, {packets_mib} MiB for packets"
    if wanted is None:
        return Decision(-(-needed // _MEMORY_STEP_MIB) * _MEMORY_STEP_MIB, because)
    if wanted < needed:
        raise BadInput(
            f"guest.memory_mib = {wanted}: the guest needs {needed} MiB: {because}",
            "Leave it out, or ask for more.",
        )
    return Decision(wanted, "guest.memory_mib")


def check_memory(facts: HostFacts, name: str, node: int, mib: int) -> None:
    """Raise BadInput if the NUMA node has less memory."""
    has = next((each.memory_kib // 1024 for each in facts.nodes if each.id == node), None)
    if has is not None and has < mib:
        raise BadInput(
            f"guest {name} needs {mib} MiB, and NUMA node {node} of host {facts.host} has {has}",
            "Use a host with more memory, or frames and queues that need less.",
        )


def emulator_cpus(
    wanted: Guest, apart: tuple[int, ...], vcpus: tuple[int, ...]
) -> Decision[tuple[int, ...]]:
    """Return the CPUs of QEMU's own threads. vcpus: CPUs of the guest's vCPUs."""
    if wanted.emulator is EmulatorThreads.ON_VCPUS:
        return Decision(vcpus, 'guest.emulator = "on-vcpus"')
    return Decision(apart, "emulator threads sleep most of the time")


def guest_pages(guest: GuestPlan) -> Mapping[int, int]:
    """Return the MiB of a virtual machine in the host's huge pages, by NUMA node."""
    return {node.node: node.memory_mib for node in guest.nodes if node.page_kib == PAGE_KIB}


def memory_pages(wanted: Guest) -> Decision[int]:
    """Return the page size of a guest's memory, in KiB."""
    if wanted.pages is GuestPages.MEMFD:
        return Decision(_SMALL_PAGE_KIB, 'guest.pages = "memfd"')
    because = "a vSwitch reads the guest's memory; huge pages cost it fewer TLB misses"
    return Decision(PAGE_KIB, because)


def _ports(frames: Frames, needs: Needs, function: FunctionNeeds) -> tuple[PortPlan, ...]:
    queues = Decision(frames.sut.vswitch.rx_queues, "sut.vswitch.rx_queues")
    return tuple(_port(port, needs, function, queues) for port in function.ports)


def _port(
    port: PortNeeds, needs: Needs, function: FunctionNeeds, queues: Decision[int]
) -> PortPlan:
    if port.vf is not None:
        return vf_port(port, port.vf, queues)
    if needs.switch is None or needs.switch.guest_ports is None:
        raise ValueError(f"guest {function.name} needs a switch that it can be plugged into")
    kind = Decision(needs.switch.guest_ports, f"what {needs.switch.name} has for guests")
    return PortPlan(port.name, NETWORK.name, kind, queues, port.mac)
