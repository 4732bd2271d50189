# SPDX-License-Identifier: Apache-2.0
"""A type of switch from outside the tree: it measures, and hosts are deployed with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Ge, Le

from wirespeed.apply.finding import Found, absent, differs, same
from wirespeed.apply.setting import Setting
from wirespeed.apply.step import Step
from wirespeed.apply.steps.text_file import TextFile
from wirespeed.apply.switches import APPLIED
from wirespeed.bench.function.forwarder import counts_of_lanes, lanes, task_between
from wirespeed.bench.function.interface import Setup
from wirespeed.bench.function.wsdp_tasks import WsdpFunction
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.interface import Part
from wirespeed.bench.program.attachment import PortSettings, attach
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.bench.switch.interface import Factors, KernelPorts, SwitchSetup
from wirespeed.bench.topology.plugs import Plug, VhostUser, VirtioUser
from wirespeed.bench.topology.wiring import SWITCH, Forward, Wiring
from wirespeed.host.reader import Reader
from wirespeed.host.switches import READ
from wirespeed.model.cpuset import format_list, parse_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.switch_facts import SwitchFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import SwitchNeeds
from wirespeed.model.plan.plan import Decision, HostPlan, Plan, ProcessMemory, VswitchPlan
from wirespeed.model.plan.policy import NicUse
from wirespeed.model.plan.workload import Workload as Workloads
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, Vswitch, Workload
from wirespeed.model.study.sut import SutCause, SutDescription
from wirespeed.plan.host.cores import CoreSplit
from wirespeed.plan.host.nics import HostNic
from wirespeed.plan.host.own_keys import OwnTable
from wirespeed.plan.host.switches import PLANNED
from wirespeed.plan.render.switches import RENDERED

PANEL_FILE = "/etc/panel.conf"


@dataclass(frozen=True, slots=True)
class PanelFile(TextFile):
    """The file that paneld reads: a setting of its own, which the journal on a host names."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Keys that only the patch panel has: [sut.vswitch.panel] of a study, [vswitch.panel] else."""

    burst: Annotated[int, Ge(1), Le(64)] = 32
    labelled: bool = False


class PatchPanel:
    """Forwards frames of one port to the port that its rule names: a wsdp of io tasks.

    One object is all that is registered of it: SwitchKind of a bench, ReadSwitch of a host,
    PlannedSwitch, RenderedSwitch and AppliedSwitch of a deployment.
    """

    name = "patch-panel"
    summary = "a switch of this test's own"
    description = SutDescription(
        name, "the patch panel", "its first ring", more_cpus="sut.vswitch.pmd_cpus",
        causes=(
            SutCause("rx_ring_full", "a cord of the panel was too thin",
                     "Take a thicker cord.", "sut.vswitch.panel.burst"),
        ),
    )  # fmt: skip
    factors = Factors("panel", Panel)

    def injected_faults(self, _vswitch: Vswitch) -> Collection[str]:
        return ("small-ring",)

    def faults(self, _vswitch: Vswitch, _workload: Workload) -> Iterator[Fault]:
        return iter(())

    def check(self, runner: object) -> None:
        """Pass: it has no program."""

    def needs(self, frames: Frames) -> SwitchNeeds:
        return SwitchNeeds(
            "patch panel", packet_memory=True, forwards_on=frames.sut.vswitch.pmd_cpus
        )

    def cabled(self, _vswitch: Vswitch, wiring: Wiring) -> Wiring:
        return wiring

    def plugs(
        self, _vswitch: Vswitch, wiring: Wiring, _plan: VswitchPlan, dirs: Directories
    ) -> Mapping[str, Plug]:
        return {port: VirtioUser(socket(dirs, port)) for port in wiring.ports_of(SWITCH)}

    def parts(self, setup: SwitchSetup) -> tuple[Part, ...]:
        assert isinstance(self.factors.read(setup.wanted), Panel)
        settings = PortSettings(1, setup.plan.descriptors.value, setup.plan.mtu.value)
        ports = {
            port: attach(VhostUser(socket(setup.dirs, port)), port, number, "", settings)
            for number, port in enumerate(setup.wiring.ports_of(SWITCH))
        }
        forwards = tuple(Forward(SWITCH, f.in_port, f.out_port) for f in setup.wiring.flows)
        [cpu] = setup.plan.pmd_cpus.value
        config = WsdpConfig(
            f"pp{setup.dirs.tag}",
            setup.plan.main_cpus.value[0],
            (cpu,),
            ProcessMemory(16383, 2176, 128),
            tuple(each.port for each in ports.values() if each.port is not None),
            (),
        )
        inner = Setup(
            SWITCH, Frames(), forwards, ports, setup.wiring.entries, (1,),
            DropCause.VHOST_TX_RING_FULL, setup.dirs.run,
        )  # fmt: skip
        tasks = tuple(task_between(inner, f, q, "io", {}) for f, q in lanes(inner))
        program = Wsdp("patch-panel", setup.host, setup.dirs, replace(config, tasks=tasks))
        return (WsdpFunction(program, [counts_of_lanes(inner, DropCause.NO_FLOW)]),)

    def part_between(self, setup: SwitchSetup, ports: KernelPorts) -> Part:
        raise NotImplementedError

    # A deployment: each host with it has a file that lists its ports.
    control = "paneld"
    target = "panel"
    others = ("kernel", "tuned", "libvirt")
    agent = ""
    own_table = OwnTable("panel", Panel)
    settings: tuple[type[Setting], ...] = (PanelFile,)

    def plan(
        self, facts: HostFacts, workload: Workloads, nics: Sequence[HostNic], cores: CoreSplit
    ) -> VswitchPlan:
        given = workload.vswitch.descriptors
        return VswitchPlan(
            cores.vswitchd, cores.pmds,
            Decision(tuple(256 for _ in facts.nodes), "a panel's packets on each node"),
            Decision(1, "a cord has one queue"),
            Decision(given or 512, "vswitch.descriptors" if given else "length of a cord"),
            Decision(max((nic.mtu for nic in nics), default=1500), "the thickest cord"),
            kind=self.name,
        )  # fmt: skip

    def render(self, plan: Plan) -> Mapping[str, str]:
        hosts = (h for h in plan.hosts if h.vswitch and h.vswitch.deployed_kind == self.name)
        return {f"panel/{host.host}.conf": panel_file(host) for host in hosts}

    def steps(self, _plan: Plan, host: HostPlan) -> Sequence[Step]:
        return [Step(PanelFile(PANEL_FILE), panel_file(host), "vswitch", "what paneld reads")]

    def read(self, reader: Reader) -> SwitchFacts | None:
        text = reader.text(PANEL_FILE, "patch panel")
        if text is None:
            return None
        words = [line.split(maxsplit=1) for line in text.splitlines()]
        keys = dict(pair for pair in words if len(pair) == 2 and pair[0] != "cord")
        cords = tuple(pair[1] for pair in words if pair[0] == "cord")
        cpus = tuple(parse_list(keys.pop("cpus", "")))
        return SwitchFacts(self.name, None, cpus, cords, keys)

    def compare(self, facts: HostFacts, what: str, value: object) -> Found:
        panel = facts.switch(self.name)
        if panel is None:
            return differs("", "no patch panel is set up here")
        if what != "pmd_cpus":
            return absent("panel.conf has it, which is a setting of its own")
        found = format_list(panel.polling_cpus)
        return same(found) if panel.polling_cpus == value else differs(found)


def socket(dirs: Directories, port: str) -> str:
    return str(dirs.run / f"{port}.sock")


def panel_file(host: HostPlan) -> str:
    """Return what paneld reads: its CPUs, its keys and a cord for each polled port."""
    assert host.vswitch is not None
    cords = [f"cord {nic.address}" for nic in host.nics if nic.use is NicUse.DPDK]
    keys = [f"{name} {decision.value}" for name, decision in host.vswitch.own.items()]
    return "\n".join([f"cpus {format_list(host.vswitch.pmd_cpus.value)}", *keys, *cords, ""])


@contextmanager
def deployable(switch: PatchPanel) -> Iterator[None]:
    """Register the switch with everything that a deployment asks."""
    registered = (each.including(switch) for each in (READ, PLANNED, RENDERED, APPLIED))
    with ExitStack() as stack:
        for each in registered:
            stack.enter_context(each)
        yield
