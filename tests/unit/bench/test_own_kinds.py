# SPDX-License-Identifier: Apache-2.0
"""Check that a switch, function, placement and topology can be added without touching src/.

All are defined here, the switch in `tests/support/patch_panel.py`, and registered for the time of
the test. A study file names them, and the study is run through them with real frames. That the
switch can also be deployed is checked in `tests/unit/apply/test_own_switch.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.patch_panel import Panel, PatchPanel
from tests.support.sample import Nobody
from tests.unit.plan.test_bench import host
from wirespeed.bench.assembly.kinds import needs_of, sut_of, topology_of
from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.forwarder import counts_of_lanes, lanes, task_between
from wirespeed.bench.function.interface import FunctionKind, Setup
from wirespeed.bench.function.wsdp_tasks import WsdpFunctionKind
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.placement import PLACEMENTS
from wirespeed.bench.placement.interface import Launch, OnHost, Own, Placed, Seat
from wirespeed.bench.program.config import WsdpTask
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.switched import function_names, through_switch
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.model.errors import BadInput
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import PlacementNeeds
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import DirectionCount, Observation
from wirespeed.model.result.result import Bound, SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Frames
from wirespeed.plan.testbed.bench import plan_bench
from wirespeed.session.rig import local_rig
from wirespeed.store.codec import decode, encode
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
[sut.vswitch.panel]
burst = 16
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


@pytest.fixture
def study_file(tmp_path: Path) -> Iterator[Path]:
    """Return the study, with all four kinds registered."""
    file = tmp_path / "own.toml"
    file.write_text(STUDY)
    with (
        SWITCHES.including(PatchPanel()),
        FUNCTIONS.including(Untouched()),
        PLACEMENTS.including(Recorded()),
        TOPOLOGIES.including(THROUGH),
    ):
        yield file


def frames_of(study_file: Path, *settings: str) -> Frames:
    [point] = load_study(str(study_file), settings).points
    assert isinstance(point.workload, Frames)
    return point.workload


def test_switch_from_elsewhere_with_own_keys_is_read_and_varied(study_file: Path) -> None:
    study = load_study(str(study_file), ["vary.sut.vswitch.panel.burst=[8, 16]"])
    tables = [point.parameters["sut"]["vswitch"]["panel"] for point in study.points]
    assert tables == [{"burst": 8, "labelled": False}, {"burst": 16, "labelled": False}]
    assert len({point.id for point in study.points}) == len(tables)
    workload = study.points[0].workload
    assert isinstance(workload, Frames)
    assert PatchPanel.factors.read(workload.sut.vswitch) == Panel(burst=8)
    assert decode(Frames, encode(workload)) == workload


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ("sut.vswitch.panel.burst=0", "must be greater than or equal to 1"),
        (
            "sut.vswitch.panel.bursts=8",
            "Did you mean 'burst'? [sut.vswitch.panel] has: burst, labelled",
        ),
        ("sut.vswitch.kind=linux-bridge", 'goes with sut.vswitch.kind = "patch-panel"'),
        ("sut.vswitch.ovs.emc=false", 'goes with sut.vswitch.kind = "ovs-dpdk"'),
        ("sut.vswitch.own=[]", "unknown key"),
    ],
)
def test_switch_from_elsewhere_with_wrong_keys_is_rejected(
    study_file: Path, setting: str, error: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(error)):
        load_study(str(study_file), [setting])


def test_switch_from_elsewhere_is_planned_by_its_needs(study_file: Path) -> None:
    frames = frames_of(study_file, "sut.vswitch.pmd_cpus=[2]")
    plan = plan_bench(host(cores=8), frames, needs_of(frames)).sut_host
    assert plan.vswitch is not None
    assert plan.vswitch.pmd_cpus.value == (2,)
    assert plan.vswitch.pmd_cpus.because == "chosen in sut.vswitch.pmd_cpus"


def test_switch_from_elsewhere_has_the_faults_that_it_names(study_file: Path) -> None:
    small_ring = frames_of(study_file, "fault.kind=small-ring")
    assert small_ring.fault is not None
    with pytest.raises(BadInput, match=r'"patch-panel", sut\.vswitch\.panel\.burst = 16'):
        load_study(str(study_file), ["fault.kind=upcall-storm"])


def test_switch_from_elsewhere_explains_drops_in_its_own_words(study_file: Path) -> None:
    frames = frames_of(study_file)
    drop = Drop("sut-ingress", DropCause.RX_RING_FULL, 20_000)
    count = DirectionCount("east-west", 50_000, 50_000, 50_000, 0, 30_000, 0, 0, 0)
    seen = Observation(5e4, 1.0, (count,), (drop,), (), 0, 0.1, 1024, 4096)
    trial = Trial(seen, Stage.CONSTANT, quiet=True)
    result = SearchResult("fixed", False, (trial,), constant=Bound(5e4, 3e4, 0.4))
    found = explain(Measured(sut_of(frames), result, workload=frames))
    [told] = [each for each in found if each.limit == "rx_ring_full"]
    assert "at its first ring: a cord of the panel was too thin." in told.sentence
    assert told.proposal is not None
    assert told.proposal.change == "Take a thicker cord."
    assert told.proposal.setting == "sut.vswitch.panel.burst"


def test_a_kind_that_nobody_registered_is_reported_with_those_that_are() -> None:
    frames = Frames()
    with pytest.raises(BadInput, match=r'must be one of .*pvp.*did you mean "p2p"'):
        topology_of(replace(frames, topology=replace(frames.topology, kind="p2q")))


def test_a_name_is_given_once() -> None:
    with (
        pytest.raises(ValueError, match="registered already"),
        TOPOLOGIES.including(replace(THROUGH, name="p2p")),
    ):
        pass
