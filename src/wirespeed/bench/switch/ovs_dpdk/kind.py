# SPDX-License-Identifier: Apache-2.0
"""Open vSwitch with DPDK as a kind of switch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.interface import Part
from wirespeed.bench.switch.interface import KernelPorts, SwitchSetup
from wirespeed.bench.switch.ovs_dpdk import factors
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk
from wirespeed.bench.switch.ovs_dpdk.ports import kernel_ports, peer_plug, program_ports
from wirespeed.bench.topology.plugs import Plug
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.fault import Fault
from wirespeed.model.needs import SwitchNeeds
from wirespeed.model.plan import VswitchPlan
from wirespeed.model.spec import PortMemory, Vswitch, Workload
from wirespeed.model.sut import SutDescription


class OvsDpdkKind:
    name = "ovs-dpdk"
    summary = "Open vSwitch with DPDK"
    description = SutDescription(
        name, "Open vSwitch", "the SUT's first ring (Open vSwitch's PMD thread polls it)",
        more_cpus="sut.vswitch.pmd_cpus, sut.vswitch.rx_queues",
    )  # fmt: skip

    def faults(self, vswitch: Vswitch, workload: Workload) -> Iterator[Fault]:
        yield from factors.faults(vswitch.ovs, workload)

    def needs(self, vswitch: Vswitch) -> SwitchNeeds:
        return SwitchNeeds(
            "Open vSwitch",
            packet_memory=True,
            forwards_on=vswitch.pmd_cpus,
            page_kib=vswitch.ovs.pages.kib,
            port_pools=vswitch.ovs.memory is PortMemory.PER_PORT,
        )

    def plugs(self, wiring: Wiring, plan: VswitchPlan, dirs: Directories) -> Mapping[str, Plug]:
        ports = program_ports(wiring, plan, dirs.run)
        return {port.name: peer_plug(port) for port in ports}

    def part(self, setup: SwitchSetup) -> Part:
        ports = program_ports(setup.wiring, setup.plan, setup.dirs.run, setup.uplinks)
        return OvsDpdk(setup, ports)

    def part_between(self, setup: SwitchSetup, ports: KernelPorts) -> Part:
        machines = program_ports(setup.wiring, setup.plan, setup.dirs.run)
        every = (*machines, *kernel_ports(ports, first=len(machines) + 1))
        return OvsDpdk(setup, every, namespace=ports.namespace, tso=ports.tso)
