# SPDX-License-Identifier: Apache-2.0
"""Register this project's router as a type of switch: a process between the generator's ports."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.interface import Part
from wirespeed.bench.switch.interface import Factors, KernelPorts, SwitchSetup
from wirespeed.bench.switch.veth.cables import namespace_of, program_ends
from wirespeed.bench.switch.veth.polled import VethCables
from wirespeed.bench.switch.veth.rules import veth_faults
from wirespeed.bench.switch.wsdp_router.factors import RouterPorts, WsdpRouter
from wirespeed.bench.switch.wsdp_router.part import SwitchRouter, interfaces, router_part
from wirespeed.bench.topology.plugs import Interface, Plug, VhostUser, VirtioUser
from wirespeed.bench.topology.routes import not_routable
from wirespeed.bench.topology.wiring import SWITCH, Wiring
from wirespeed.model.frame import FlowField
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import SwitchNeeds
from wirespeed.model.plan.plan import VswitchPlan
from wirespeed.model.result.hop_counts import INGRESS, DropCause
from wirespeed.model.study.spec import Frames, KernelDriver, Vswitch, Workload
from wirespeed.model.study.sut import SutCause, SutDescription
from wirespeed.remote.interface import Runner

_MORE_CPUS = "sut.vswitch.pmd_cpus, sut.vswitch.rx_queues"


class WsdpRouterKind:
    name = "wsdp-router"
    summary = "this project's router in a process that polls its ports (p2p only)"
    description = SutDescription(
        name, "the wsdp router", "the SUT's first ring (the router polls it)", more_cpus=_MORE_CPUS,
        causes=(
            SutCause(DropCause.RX_RING_FULL, change="Add a CPU and an Rx queue.",
                     setting=_MORE_CPUS, hop=INGRESS),
            SutCause(DropCause.SOCKET_FULL,
                     "the socket that the router reads the port by was full: it took frames more "
                     "slowly than the kernel delivered them",
                     "Use ports that share memory with the router instead of sockets.",
                     "sut.vswitch.wsdp.ports"),
            SutCause(DropCause.VNF_DISCARD,
                     "the router dropped frames on purpose or handed them to the kernel"),
        ),
    )  # fmt: skip
    factors = Factors("wsdp", WsdpRouter)

    def injected_faults(self, _vswitch: Vswitch) -> Collection[str]:
        return ()

    def faults(self, vswitch: Vswitch, workload: Workload) -> Iterator[Fault]:
        if (frames := workload.frames) is None:
            return
        if frames.topology.kind != "p2p":
            allowed = 'must be "p2p" with sut.vswitch.kind = "wsdp-router": it routes once'
            yield Fault("topology.kind", frames.topology.kind, allowed)
        if frames.traffic.flow_field is FlowField.DST_MAC:
            allowed = "a router's port has one MAC address; choose src_mac"
            yield Fault("traffic.flow_field", "dst_mac", allowed)
        if (memory := vswitch.socket_memory_mib) is not None:
            allowed = "has no meaning here: the plan sizes the router's process"
            yield Fault("sut.vswitch.socket_memory_mib", memory, allowed)
        yield from not_routable(frames, self.name)
        yield from self._port_faults(vswitch, frames)

    def _port_faults(self, vswitch: Vswitch, frames: Frames) -> Iterator[Fault]:
        ports = self._read(vswitch).ports
        if ports is RouterPorts.VETH:
            yield from veth_faults("sut.vswitch.wsdp.ports", str(ports), vswitch, frames)
        elif vswitch.driver is not KernelDriver.AF_PACKET:
            allowed = 'goes with sut.vswitch.wsdp.ports = "veth"'
            yield Fault("sut.vswitch.driver", str(vswitch.driver), allowed)

    def needs(self, frames: Frames) -> SwitchNeeds:
        return SwitchNeeds(
            "wsdp router",
            packet_memory=False,
            forwards_on=frames.sut.vswitch.pmd_cpus,
            guest_ports=None,
            own_process=True,
            tables_bytes=SwitchRouter().demand(frames).tables_bytes,
            routes=True,
        )

    def check(self, runner: Runner) -> None:
        runner.run(["ip", "-V"])

    def cabled(self, _vswitch: Vswitch, wiring: Wiring) -> Wiring:
        return wiring

    def plugs(
        self, vswitch: Vswitch, wiring: Wiring, _plan: VswitchPlan, dirs: Directories
    ) -> Mapping[str, Plug]:
        if self._read(vswitch).ports is RouterPorts.VETH:
            namespace, ends = namespace_of(dirs), program_ends(wiring)
            return {port: Interface(end, namespace) for port, end in ends.items()}
        return {port: VirtioUser(_socket(dirs.run, port)) for port in wiring.ports_of(SWITCH)}

    def parts(self, setup: SwitchSetup) -> tuple[Part, ...]:
        ports = setup.wiring.ports_of(SWITCH)
        if self._read(setup.wanted).ports is RouterPorts.VETH:
            namespace, near = namespace_of(setup.dirs), interfaces(setup.wiring)
            plugs: dict[str, Plug] = {port: Interface(near[port], namespace) for port in ports}
            return VethCables(setup, near), router_part(setup, plugs)
        sockets = {port: VhostUser(_socket(setup.dirs.run, port)) for port in ports}
        return (router_part(setup, {**sockets, **setup.uplinks}),)

    def part_between(self, setup: SwitchSetup, ports: KernelPorts) -> Part:
        raise NotImplementedError("no path of TCP traffic names a router")

    def _read(self, vswitch: Vswitch) -> WsdpRouter:
        read: WsdpRouter = self.factors.read(vswitch)
        return read


def _socket(run_dir: PurePosixPath, port: str) -> str:
    return str(run_dir / f"{port}.sock")
