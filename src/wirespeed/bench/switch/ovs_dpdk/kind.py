# SPDX-License-Identifier: Apache-2.0
"""Register Open vSwitch with DPDK as a type of switch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.interface import Part
from wirespeed.bench.switch.interface import Factors, KernelPorts, SwitchSetup
from wirespeed.bench.switch.ovs_dpdk import factors, namespace, routes
from wirespeed.bench.switch.ovs_dpdk.bonds import Bond
from wirespeed.bench.switch.ovs_dpdk.bridges import bridges, rules
from wirespeed.bench.switch.ovs_dpdk.instance import Instance
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk
from wirespeed.bench.switch.ovs_dpdk.ports import (
    SwitchPort,
    inner_patch,
    kernel_ports,
    partner_ports,
    peer_plug,
    program_ports,
    veth_interfaces,
)
from wirespeed.bench.switch.ovs_dpdk.programs import find_daemon
from wirespeed.bench.switch.veth.cables import namespace_of, program_ends
from wirespeed.bench.switch.veth.polled import VethCables
from wirespeed.bench.topology.bonded import with_partner
from wirespeed.bench.topology.plugs import Interface, Plug
from wirespeed.bench.topology.wiring import PARTNER, Wiring
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import Forwarding, SwitchNeeds
from wirespeed.model.plan.plan import VswitchPlan
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.model.result.hop_counts import INGRESS, DropCause
from wirespeed.model.study.ovs import BondMode, Ovs, PortMemory
from wirespeed.model.study.spec import Frames, Vswitch, Workload
from wirespeed.model.study.sut import SutCause, SutDescription
from wirespeed.remote.interface import Runner

# The partner shares a CPU with the SUT, so it sleeps when it has no frames. Two threads that both
# poll get the CPU for milliseconds each, and rings overflow. A thread that has slept gets it at
# once.
_PARTNER_SLEEPS_US = 50


_MORE_CPUS = "sut.vswitch.pmd_cpus, sut.vswitch.rx_queues"
_FAULTS = (
    "missing-flow", "bond-link-down", "small-mtu", "wrong-vlan", "ingress-policer",
    "egress-policer", "small-ring", "one-queue", "upcall-storm", "revalidator-churn",
)  # fmt: skip


class OvsDpdkKind:
    name = "ovs-dpdk"
    summary = "Open vSwitch with DPDK"
    description = SutDescription(
        name, "Open vSwitch", "the SUT's first ring (Open vSwitch's PMD thread polls it)",
        more_cpus=_MORE_CPUS,
        causes=(SutCause(DropCause.RX_RING_FULL, change="Add a PMD core and an Rx queue.",
                         setting=_MORE_CPUS, hop=INGRESS),),
    )  # fmt: skip
    factors = Factors("ovs", Ovs)

    def injected_faults(self, vswitch: Vswitch) -> Collection[str]:
        """Return no fault for kernel ports: there the kernel polices, counts and drops frames."""
        return () if vswitch.ovs.ports.on_veth else _FAULTS

    def faults(self, vswitch: Vswitch, workload: Workload) -> Iterator[Fault]:
        yield from factors.faults(vswitch, workload)

    def needs(self, frames: Frames) -> SwitchNeeds:
        vswitch = frames.sut.vswitch
        ports = vswitch.ovs.ports
        return SwitchNeeds(
            "Open vSwitch",
            packet_memory=True,
            forwards_on=vswitch.pmd_cpus,
            forwarding=Forwarding.PMD_THREADS if ports.polled else Forwarding.MAIN_THREAD,
            guest_ports=None if ports.on_veth else InterfaceKind.VHOST,
            page_kib=vswitch.ovs.pages.kib,
            port_pools=vswitch.ovs.memory is PortMemory.PER_PORT,
            bonded=vswitch.ovs.bond is not BondMode.NONE,
        )

    def check(self, runner: Runner) -> None:
        find_daemon(runner)
        runner.run(["ovs-vsctl", "--version"])
        namespace.check(runner)

    def cabled(self, vswitch: Vswitch, wiring: Wiring) -> Wiring:
        return wiring if vswitch.ovs.bond is BondMode.NONE else with_partner(wiring)

    def plugs(
        self, vswitch: Vswitch, wiring: Wiring, plan: VswitchPlan, dirs: Directories
    ) -> Mapping[str, Plug]:
        if vswitch.ovs.ports.on_veth:
            namespace, ends = namespace_of(dirs), program_ends(wiring)
            return {port: Interface(end, namespace) for port, end in ends.items()}
        ports = program_ports(wiring, plan, dirs.run)
        outer = partner_ports(wiring, plan, dirs.run)
        return {port.name: peer_plug(port) for port in (*ports, *outer) if not port.members}

    def parts(self, setup: SwitchSetup) -> tuple[Part, ...]:
        wanted = setup.wanted.ovs.ports
        ports = program_ports(setup.wiring, setup.plan, setup.dirs.run, setup.uplinks, wanted)
        instance = _instance(setup, ports)
        if wanted.on_veth:
            on_veth = replace(instance, namespace=namespace_of(setup.dirs))
            return VethCables(setup, veth_interfaces(ports)), OvsDpdk(setup, on_veth)
        switch = OvsDpdk(setup, instance)
        if setup.partner is None:
            return (switch,)
        # The partner's links connect to those of the switch.
        return switch, OvsDpdk(setup, _partner(setup, setup.partner))

    def part_between(self, setup: SwitchSetup, ports: KernelPorts) -> Part:
        machines = program_ports(setup.wiring, setup.plan, setup.dirs.run)
        every = (*machines, *kernel_ports(ports, first=len(machines) + 1))
        instance = _instance(setup, every)
        return OvsDpdk(setup, replace(instance, namespace=ports.namespace, tso=ports.tso))


def _instance(setup: SwitchSetup, ports: tuple[SwitchPort, ...]) -> Instance:
    ovs, name = setup.wanted.ovs, f"ws{setup.dirs.tag}"
    made = bridges(name, ports, ovs.bridges)
    bonds = tuple(
        Bond(f"{name}b{port.number}", port, inner_patch(port), ovs.bond)
        for port in ports
        if port.members
    )
    told = rules(setup.wiring.flows, made, ovs, setup.vlan_id)
    if ovs.routes:
        told = (routes.rules(setup.wiring, ports),)
    return Instance(setup.plan, ports, made, told, bonds)


def _partner(setup: SwitchSetup, plan: VswitchPlan) -> Instance:
    ports = partner_ports(setup.wiring, plan, setup.dirs.run)
    bonds = tuple(
        Bond(f"ws{setup.dirs.tag}b{outer.number}", bond, outer, setup.wanted.ovs.bond)
        for outer, bond in zip(ports[::2], ports[1::2], strict=True)
    )
    shares = set(plan.pmd_cpus.value) & set(setup.plan.pmd_cpus.value)
    return Instance(
        plan, ports, bonds=bonds, name="bond partner", hop=PARTNER, role="generator",
        settings=factors.sleeps(_PARTNER_SLEEPS_US) if shares else {},
    )  # fmt: skip
