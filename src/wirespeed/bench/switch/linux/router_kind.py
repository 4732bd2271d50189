# SPDX-License-Identifier: Apache-2.0
"""Register the kernel's IP forwarding as a type of switch: L3, where a bridge is L2."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.interface import Part
from wirespeed.bench.routing.learned import routes_part
from wirespeed.bench.routing.part import RoutesSetup
from wirespeed.bench.routing.table import table_of
from wirespeed.bench.switch.interface import KernelPorts, SwitchSetup
from wirespeed.bench.switch.linux.router import LinuxRouter
from wirespeed.bench.switch.linux.rules import kernel_faults, kernel_needs
from wirespeed.bench.switch.veth.cables import namespace_of, program_ends
from wirespeed.bench.topology.plugs import Interface, Plug
from wirespeed.bench.topology.routes import not_routable
from wirespeed.bench.topology.wiring import SWITCH, Wiring
from wirespeed.model.frame import FlowField
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import SwitchNeeds
from wirespeed.model.plan.plan import VswitchPlan
from wirespeed.model.study.spec import Frames, Vswitch, Workload
from wirespeed.model.study.sut import SutDescription
from wirespeed.remote.interface import Runner


class LinuxRouterKind:
    name = "linux-router"
    summary = "the kernel's IP forwarding between two veth ports, by softirqs (p2p only)"
    description = SutDescription(
        name, "the Linux router", "the transmit ring of the generator's interface",
        more_cpus="sut.vswitch.pmd_cpus",
    )  # fmt: skip

    factors = None

    def injected_faults(self, _vswitch: Vswitch) -> Collection[str]:
        return ()

    def faults(self, vswitch: Vswitch, workload: Workload) -> Iterator[Fault]:
        if (frames := workload.frames) is None:
            return
        yield from kernel_faults(self.name, vswitch, frames)
        yield from not_routable(frames, self.name)
        if frames.topology.kind != "p2p":
            allowed = 'must be "p2p" with sut.vswitch.kind = "linux-router": it routes once'
            yield Fault("topology.kind", frames.topology.kind, allowed)
        if frames.traffic.flow_field is FlowField.DST_MAC:
            allowed = "a router's port has one MAC address; choose src_mac"
            yield Fault("traffic.flow_field", "dst_mac", allowed)

    def needs(self, frames: Frames) -> SwitchNeeds:
        return replace(kernel_needs("Linux router", frames), routes=True)

    def check(self, runner: Runner) -> None:
        runner.run(["ip", "-V"])

    def cabled(self, _vswitch: Vswitch, wiring: Wiring) -> Wiring:
        return wiring

    def plugs(
        self, _vswitch: Vswitch, wiring: Wiring, _plan: VswitchPlan, dirs: Directories
    ) -> Mapping[str, Plug]:
        namespace, cabled = namespace_of(dirs), program_ends(wiring)
        return {port: Interface(cabled[port], namespace) for port in wiring.ports_of(SWITCH)}

    def parts(self, setup: SwitchSetup) -> tuple[Part, ...]:
        namespace = namespace_of(setup.dirs)
        router = LinuxRouter(setup, namespace)
        if setup.routing is None:
            return (router,)
        table = table_of(setup.routing, setup.wiring)
        routes = RoutesSetup(setup.host, setup.dirs, namespace, table, setup.control_cpus)
        return (router, routes_part(routes))

    def part_between(self, setup: SwitchSetup, ports: KernelPorts) -> Part:
        raise NotImplementedError("no path of TCP traffic names a router")
