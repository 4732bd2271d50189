# SPDX-License-Identifier: Apache-2.0
"""Check that a switch, function, placement and topology can be added without touching src/.

All are defined here and registered for the time of the test. A study file names them, and the study
is run through them with real frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.sample import Nobody
from wirespeed.bench.assembly.kinds import topology_of
from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.forwarder import counts_of_lanes, lanes, task_between
from wirespeed.bench.function.interface import FunctionKind, Setup
from wirespeed.bench.function.wsdp_tasks import WsdpFunction, WsdpFunctionKind
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.placement import PLACEMENTS
from wirespeed.bench.placement.interface import Launch, OnHost, Own, Placed, Seat
from wirespeed.bench.program.attachment import PortSettings, attach
from wirespeed.bench.program.config import WsdpConfig, WsdpTask
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.interface import KernelPorts, SwitchSetup
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.plugs import Plug, VhostUser, VirtioUser
from wirespeed.bench.topology.switched import function_names, through_switch
from wirespeed.bench.topology.wiring import SWITCH, Forward, Wiring
from wirespeed.model.errors import BadInput
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import PlacementNeeds, SwitchNeeds
from wirespeed.model.plan.plan import ProcessMemory, VswitchPlan
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, Vswitch, Workload
from wirespeed.model.study.sut import SutDescription
from wirespeed.session.rig import local_rig
from wirespeed.store.read import read_run
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.study.load import load_study
from wirespeed.study.run import run_study

STUDY = """
[topology]
kind = "there-and-through"
[sut.vswitch]
kind = "patch-panel"
[sut.vnf]
kind = "untouched"
placement = "recorded"
[search]
kind = "fixed"
load_fps = 20e3
trial_s = 0.3
latency = false
time_limit_s = 3
"""


class PatchPanel:
    """Forwards frames of one port to the port that its rule names: a wsdp of io tasks."""

    name = "patch-panel"
    summary = "a switch of this test's own"
    description = SutDescription(name, "the patch panel", "its first ring")

    def faults(self, _vswitch: Vswitch, _workload: Workload) -> Iterator[Fault]:
        return iter(())

    def check(self, runner: object) -> None:
        """Pass: it has no program."""

    def needs(self, vswitch: Vswitch) -> SwitchNeeds:
        return SwitchNeeds("patch panel", packet_memory=True, forwards_on=vswitch.pmd_cpus)

    def cabled(self, _vswitch: Vswitch, wiring: Wiring) -> Wiring:
        return wiring

    def plugs(
        self, _vswitch: Vswitch, wiring: Wiring, _plan: VswitchPlan, dirs: Directories
    ) -> Mapping[str, Plug]:
        return {port: VirtioUser(socket(dirs, port)) for port in wiring.ports_of(SWITCH)}

    def parts(self, setup: SwitchSetup) -> tuple[Part, ...]:
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


def socket(dirs: Directories, port: str) -> str:
    return str(dirs.run / f"{port}.sock")


class Untouched(WsdpFunctionKind):
    """Passes frames on unchanged."""

    name = "untouched"
    summary = "a function of this test's own"

    def rewritten(
        self, _frames: Frames, header: Header, _own: str, _target: str, _side: str
    ) -> tuple[Header, str | None]:
        return header, None

    def tasks(self, setup: Setup) -> tuple[WsdpTask, ...]:
        return tuple(task_between(setup, f, queue, "io", {}) for f, queue in lanes(setup))

    def counts(self, setup: Setup) -> TaskCounts:
        return counts_of_lanes(setup, DropCause.VNF_DISCARD)


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    inner: Launch
    started: list[str]

    @property
    def ready_s(self) -> float:
        return self.inner.ready_s

    def part(self, host: Host, dirs: Directories) -> Part:
        part = self.inner.part(host, dirs)
        self.started.append(part.name)
        return part


class Recorded:
    """A separate process that records which functions were launched in it."""

    name = "recorded"
    summary = "a placement of this test's own"
    chosen_by_plan = False
    needs = PlacementNeeds(name, shares_generator=False)

    def __init__(self) -> None:
        self.started: list[str] = []

    def faults(
        self, _function: FunctionKind, _topology: TopologyKind, _frames: Frames
    ) -> Iterator[Fault]:
        return iter(())

    def seat(self, on_host: OnHost) -> Seat:
        return PLACEMENTS["process"].seat(on_host)

    def place(self, function: FunctionKind, setup: Setup, own: Own | None) -> Placed:
        launch = PLACEMENTS["process"].place(function, setup, own).launch
        assert launch is not None
        return Placed(launch=RecordedLaunch(launch, self.started))


def wiring(frames: Frames, function: Rewriting) -> Wiring:
    return through_switch(frames, function, visits=[(0, 1)])


THROUGH = TopologyKind(
    "there-and-through", "through two functions", wiring,
    functions=lambda _frames: function_names(2), has_switch=True,
)  # fmt: skip


@pytest.mark.root
@pytest.mark.alone
@pytest.mark.usefixtures("needs_root")
def test_a_study_runs_through_kinds_of_this_file(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(STUDY)
    with (
        SWITCHES.including(PatchPanel()),
        FUNCTIONS.including(Untouched()),
        PLACEMENTS.including(placement := Recorded()),
        TOPOLOGIES.including(THROUGH),
        Store(str(tmp_path / "runs.sqlite")) as store,
    ):
        rig, study = local_rig(), load_study(str(file))
        writer = RunWriter.start(store, study, Origin(["test"], {}, rig.facts))
        run_study(study, writer, rig, Nobody())
        record = read_run(store, writer.run_id)
    [point] = record.points
    assert point.plan is not None
    assert set(point.bench) >= {"patch-panel", "generator"}
    assert placement.started == ["vnf0", "vnf1"]
    for stored in point.trials:
        seen = stored.trial.observation
        assert seen.total("received") > 0
        unknown = [drop for drop in seen.drops if drop.cause is DropCause.UNKNOWN]
        assert not unknown


def test_a_kind_that_nobody_registered_is_told_with_those_that_are() -> None:
    frames = Frames()
    with pytest.raises(BadInput, match=r'must be one of .*pvp.*did you mean "p2p"'):
        topology_of(replace(frames, topology=replace(frames.topology, kind="p2q")))


def test_a_name_is_given_once() -> None:
    with (
        pytest.raises(ValueError, match="registered already"),
        TOPOLOGIES.including(replace(THROUGH, name="p2p")),
    ):
        pass
