# SPDX-License-Identifier: Apache-2.0
"""Change settings of a running bench's switch and programs, and find them reported.

No rate and no time is asserted: other programs may use the CPUs meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.faults.causing import Live

from tests.real.alone.changed_switch import LOAD_FPS, TRIAL_S, caused, changed, pmd
from tests.support.effort import EXHAUSTIVE
from tests.support.real_bench import drops, frames_are_conserved, opened, point
from wirespeed.bench.noise.settings import Configured
from wirespeed.bench.session import RealBench
from wirespeed.explain.blame_change import hop_of
from wirespeed.explain.sum_trials import seen
from wirespeed.explain.suspect import MUCH
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Vnf

pytestmark = pytest.mark.usefixtures("needs_root")


@pytest.fixture
def p2p(tmp_path: Path, own_state: None) -> Iterator[RealBench]:  # noqa: ARG001
    """Provide a bench whose switch stays changed: counts of a deleted rule are lost."""
    with opened(point("p2p"), tmp_path) as bench:
        yield bench


def test_thread_times_of_a_pmd_that_sleeps_are_no_busy_time(p2p: RealBench) -> None:
    caused(p2p, "pmd-sleeps")
    found = p2p.measure(LOAD_FPS, TRIAL_S)
    thread = pmd(found)
    assert thread.time is not None
    assert thread.time.asleep_ns > MUCH * thread.time.elapsed_ns
    assert not thread.sleeps
    assert thread.busy_share is not None
    assert thread.busy_share <= 1 - thread.time.asleep_ns / thread.time.elapsed_ns


@pytest.mark.parametrize(
    ("name", "hop", "cause", "setting"),
    [
        # A new rule that drops counts like one that drops since it was changed.
        *(
            [("rule-drops-all", "switch:east", DropCause.FOREIGN_RULE, "Open vSwitch: rule")]
            if EXHAUSTIVE
            else []
        ),
        ("rule-changed-to-drop", "switch:east", DropCause.FOREIGN_RULE, "Open vSwitch: rule"),
        ("meter", "switch", DropCause.METER, "Open vSwitch: meters"),
        (
            "endless-resubmit", "switch:drop_action_recursion_too_deep", DropCause.DATAPATH,
            "Open vSwitch: rule",
        ),
        ("port-down", "switch:west", DropCause.PORT_DOWN, "Open vSwitch: port west"),
    ],
)  # fmt: skip
def test_drops_by_a_changed_switch_are_counted_to_the_frame(
    p2p: RealBench, name: str, hop: str, cause: DropCause, setting: str
) -> None:
    trials = [p2p.measure(LOAD_FPS, TRIAL_S), caused(p2p, name)]
    if not trials[1].drops:  # on a busy host it begins too late, or less is sent than a meter lets
        trials.append(p2p.measure(LOAD_FPS, TRIAL_S))
    found = trials[-1]
    assert frames_are_conserved(found), found.drops
    assert drops(found)[hop, cause] > 0, found.drops
    assert [what for what in changed(trials[1]) if what.startswith(setting)]
    of_setting = [
        each.number
        for each in seen(result_of(*trials)).changed
        if any(change.what.startswith(setting) for change in each.changes)
    ]
    assert of_setting == [2]
    assert changed(p2p.measure(LOAD_FPS, TRIAL_S)) == set()


def result_of(*trials: Observation) -> SearchResult:
    kept = tuple(Trial(each, Stage.CONSTANT, quiet=False) for each in trials)
    return SearchResult("fixed", False, kept)


def test_drops_of_the_direction_that_goes_back_to_its_sender_name_it(tmp_path: Path) -> None:
    """The switch's sum closes: what came in by the east port left by it."""
    with opened(point("p2p", bidirectional=True), tmp_path) as bench:
        before = bench.measure(LOAD_FPS, TRIAL_S)
        found = caused(bench, "rule-back-to-sender")
    assert frames_are_conserved(before), before.drops
    first, second = (direction.name for direction in before.directions)
    unknown = {(d.hop, d.direction): d.frames for d in found.drops if d.cause is DropCause.UNKNOWN}
    assert unknown["switch", first] > 0, found.drops
    assert unknown["switch", second] == -unknown["switch", first], found.drops


def test_settings_of_a_reference_sut_that_a_client_changed_are_reported(tmp_path: Path) -> None:
    with opened(point("wire"), tmp_path) as bench:
        bench.measure(LOAD_FPS, TRIAL_S)
        program = bench.rig.generator.program
        [task] = (name for name, seen in program.ask("info")["tasks"].items()
                  if seen["type"] == "impair")  # fmt: skip
        program.ask(f"set,{task},loss_every=100")
        found = bench.measure(LOAD_FPS, TRIAL_S)
    [change] = [each for each in found.changes if each.what.endswith("loss_every")]
    assert (change.before, change.after) == ("0", "100")
    assert hop_of(change) == "impair"


def test_settings_of_a_healthy_vnf_are_read_and_stay(tmp_path: Path) -> None:
    with opened(point("pvp", vnf=Vnf(placement="process")), tmp_path) as bench:
        first, second = (bench.measure(LOAD_FPS, TRIAL_S) for _ in range(2))
        [vnf] = (part for part in bench.rig.parts if part.name == "vnf0")
        assert isinstance(vnf, Configured)
        assert [name for name in vnf.settings() if name.startswith("vnf0/port")]
    assert changed(first) | changed(second) == set()


def test_settings_of_a_poller_moved_to_another_cpu_are_reported(tmp_path: Path) -> None:
    with opened(point("pvp", vnf=Vnf(placement="process")), tmp_path) as bench:
        live = Live.of(bench)
        os.sched_setaffinity(live.tid("vnf0"), {live.cpu("generator")})
        found = bench.measure(LOAD_FPS, TRIAL_S)
    assert "vnf0/lcore1: CPUs" in changed(found)
    [vnf] = [thread for thread in found.threads if thread.name.startswith("vnf0/")]
    [generator] = [thread for thread in found.threads if thread.role == "generator"]
    assert vnf.cpu == generator.cpu
