# SPDX-License-Identifier: Apache-2.0
"""Register the Linux bridge as a type of switch; the papers compare it with OVS-DPDK."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.interface import Part
from wirespeed.bench.switch.interface import KernelPorts, SwitchSetup
from wirespeed.bench.switch.linux.bridge import LinuxBridge
from wirespeed.bench.switch.linux.rules import kernel_faults, kernel_needs
from wirespeed.bench.switch.linux.segments import segments
from wirespeed.bench.switch.veth.cables import namespace_of, program_ends
from wirespeed.bench.topology.plugs import Interface, Plug
from wirespeed.bench.topology.wiring import SWITCH, Wiring
from wirespeed.model.frame import FlowField
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import SwitchNeeds
from wirespeed.model.plan.plan import VswitchPlan
from wirespeed.model.study.spec import Frames, Vswitch, Workload
from wirespeed.model.study.sut import SutDescription
from wirespeed.remote.interface import Runner


class LinuxBridgeKind:
    name = "linux-bridge"
    summary = "Linux bridges with veth ports (tap ports to guests), forwarded by softirqs"
    description = SutDescription(
        name, "the Linux bridge", "the transmit ring of the generator's interface",
        more_cpus="sut.vswitch.pmd_cpus",
    )  # fmt: skip

    factors = None

    def injected_faults(self, _vswitch: Vswitch) -> Collection[str]:
        return ()

    def faults(self, vswitch: Vswitch, workload: Workload) -> Iterator[Fault]:
        if (frames := workload.frames) is None:
            return
        yield from kernel_faults(self.name, vswitch, frames)
        if frames.traffic.flow_field is FlowField.DST_MAC and frames.topology.vnfs > 1:
            allowed = "Linux bridges of several ports know whole addresses only; choose src_mac"
            yield Fault("traffic.flow_field", "dst_mac", allowed)

    def needs(self, frames: Frames) -> SwitchNeeds:
        return kernel_needs("Linux bridge", frames)

    def check(self, runner: Runner) -> None:
        runner.run(["ip", "-V"])

    def cabled(self, _vswitch: Vswitch, wiring: Wiring) -> Wiring:
        return wiring

    def plugs(
        self, _vswitch: Vswitch, wiring: Wiring, _plan: VswitchPlan, dirs: Directories
    ) -> Mapping[str, Plug]:
        namespace, cabled = namespace_of(dirs), program_ends(wiring)
        return {port: Interface(cabled.get(port, port), namespace)
                for port in wiring.ports_of(SWITCH)}  # fmt: skip

    def parts(self, setup: SwitchSetup) -> tuple[Part, ...]:
        wired = segments(setup.wiring.flows)
        return (LinuxBridge(setup, wired, namespace_of(setup.dirs), makes_ports=True),)

    def part_between(self, setup: SwitchSetup, ports: KernelPorts) -> Part:
        wired = segments(setup.wiring.flows)
        return LinuxBridge(setup, wired, ports.namespace, makes_ports=False)
