# SPDX-License-Identifier: Apache-2.0
"""Cause faults on a real bench by the kernel's and Open vSwitch's own means, and find them named.

No rate and no time is asserted: other programs may use the CPUs meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from benchmarks.fault_causes import CAUSES
from benchmarks.fault_causing import Causing, Live
from benchmarks.fault_on_threads import limited, traced
from benchmarks.fault_outside_acts import paged_out, probed

from tests.support.real_bench import drops, frames_are_conserved, in_traffic, opened, point
from wirespeed.bench.noise.settings import Configured
from wirespeed.bench.session import RealBench
from wirespeed.explain.blame_change import hop_of
from wirespeed.explain.sum_trials import seen
from wirespeed.explain.suspect import MUCH
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation, PollingThread
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Vnf

pytestmark = pytest.mark.usefixtures("needs_root")

LOAD_FPS, TRIAL_S = 40_000.0, 0.5


@pytest.fixture
def p2p(tmp_path: Path, own_state: None) -> Iterator[RealBench]:  # noqa: ARG001
    with opened(point("p2p"), tmp_path) as bench:
        yield bench


def kind(name: str) -> Causing:
    return next(causing for causing in CAUSES if causing.kind == name)


def caused(bench: RealBench, name: str) -> Observation:
    """Return a trial in which that fault begins; it lasts until the bench closes."""
    with ExitStack() as stack:
        live = Live.of(bench)
        with in_traffic(lambda: stack.enter_context(kind(name).act(live))):
            found = bench.measure(LOAD_FPS, TRIAL_S)
        stack.pop_all()
    return found


def pmd(found: Observation) -> PollingThread:
    return next(thread for thread in found.threads if thread.name.startswith("pmd-"))


def changed(found: Observation) -> set[str]:
    """Return the names of changed settings, without the host's, which others may change."""
    return {change.what for change in found.changes if not change.what.startswith("/")}


def test_thread_times_of_a_healthy_trial_add_up_and_no_setting_changed(p2p: RealBench) -> None:
    found = p2p.measure(LOAD_FPS, TRIAL_S)
    for thread in found.threads:
        assert thread.time is not None
        parts = thread.time.on_cpu_ns + thread.time.waiting_ns + thread.time.away_ns
        # A wait and a run are updated at different moments, by one tick each.
        assert parts >= thread.time.elapsed_ns
        assert thread.time.on_cpu_ns > 0
        assert thread.time.throttle is None
    assert changed(found) == set()


def test_thread_times_of_a_throttled_pmd_name_its_cgroup(p2p: RealBench) -> None:
    tid = Live.of(p2p).tid("switch")
    with limited(tid, 0.1):
        p2p.measure(LOAD_FPS, TRIAL_S)
        found = p2p.measure(LOAD_FPS, TRIAL_S)
    time = pmd(found).time
    assert time is not None
    assert time.throttle is not None
    assert time.throttle.cgroup == f"/limited-{tid}"
    assert (time.throttle.times > 0, time.throttle.cpus) == (True, 0.1)


def test_thread_times_of_a_traced_pmd_name_its_tracer(p2p: RealBench) -> None:
    with traced(Live.of(p2p).tid("switch"), 0.05):
        found = p2p.measure(LOAD_FPS, TRIAL_S)
    time = pmd(found).time
    assert time is not None
    assert time.stopped_ns > MUCH * time.elapsed_ns
    assert "PID" in time.tracer


def test_thread_times_of_a_pmd_that_sleeps_are_no_busy_time(p2p: RealBench) -> None:
    caused(p2p, "pmd-sleeps")
    found = p2p.measure(LOAD_FPS, TRIAL_S)
    thread = pmd(found)
    assert thread.time is not None
    assert thread.time.asleep_ns > MUCH * thread.time.elapsed_ns
    assert not thread.sleeps
    assert thread.busy_share is not None
    assert thread.busy_share <= 1 - thread.time.asleep_ns / thread.time.elapsed_ns


def test_interrupts_of_a_timer_on_the_pmd_cpu_are_counted(p2p: RealBench) -> None:
    cpu = Live.of(p2p).cpu("switch")
    quiet = p2p.measure(LOAD_FPS, TRIAL_S)
    caused_by = kind("timer-interrupts")
    with caused_by.act(Live.of(p2p)):
        found = p2p.measure(LOAD_FPS, TRIAL_S)
    rates = [
        max(each.per_s for each in seen_.interrupts if each.cpu == cpu) for seen_ in (quiet, found)
    ]
    assert rates[1] > 2 * rates[0]


def test_thread_times_of_a_probed_pmd_are_in_the_kernel(p2p: RealBench) -> None:
    healthy = pmd(p2p.measure(LOAD_FPS, TRIAL_S)).time
    with probed(Live.of(p2p).tid("switch")):
        found = pmd(p2p.measure(LOAD_FPS, TRIAL_S)).time
    assert healthy is not None
    assert found is not None
    assert found.kernel_ns > MUCH * found.elapsed_ns
    assert found.kernel_ns > 2 * healthy.kernel_ns


def test_thread_times_of_a_paged_out_pmd_count_its_faults(p2p: RealBench) -> None:
    with paged_out(Live.of(p2p).tid("switch"), 0.005):
        found = pmd(p2p.measure(LOAD_FPS, TRIAL_S)).time
    assert found is not None
    assert found.minor_faults + found.major_faults > 0


@pytest.mark.parametrize(
    ("name", "hop", "cause", "setting"),
    [
        ("rule-drops-all", "switch:east", DropCause.FOREIGN_RULE, "Open vSwitch: rule"),
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


def test_drops_of_the_direction_that_goes_back_to_its_sender_name_it(
    tmp_path: Path,
    own_state: None,  # noqa: ARG001
) -> None:
    """The switch's sum closes: what came in by the east port left by it."""
    with opened(point("p2p", bidirectional=True), tmp_path) as bench:
        before = bench.measure(LOAD_FPS, TRIAL_S)
        found = caused(bench, "rule-back-to-sender")
    assert frames_are_conserved(before), before.drops
    first, second = (direction.name for direction in before.directions)
    unknown = {(d.hop, d.direction): d.frames for d in found.drops if d.cause is DropCause.UNKNOWN}
    assert unknown["switch", first] > 0, found.drops
    assert unknown["switch", second] == -unknown["switch", first], found.drops


def test_settings_of_a_reference_sut_that_a_client_changed_are_reported(
    tmp_path: Path,
    own_state: None,  # noqa: ARG001
) -> None:
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


def test_settings_of_a_healthy_vnf_are_read_and_stay(
    tmp_path: Path,
    own_state: None,  # noqa: ARG001
) -> None:
    with opened(point("pvp", vnf=Vnf(placement="process")), tmp_path) as bench:
        first, second = (bench.measure(LOAD_FPS, TRIAL_S) for _ in range(2))
        [vnf] = (part for part in bench.rig.parts if part.name == "vnf0")
        assert isinstance(vnf, Configured)
        assert [name for name in vnf.settings() if name.startswith("vnf0/port")]
    assert changed(first) | changed(second) == set()


def result_of(*trials: Observation) -> SearchResult:
    kept = tuple(Trial(each, Stage.CONSTANT, quiet=False) for each in trials)
    return SearchResult("fixed", False, kept)


def test_settings_of_a_poller_moved_to_another_cpu_are_reported(
    tmp_path: Path,
    own_state: None,  # noqa: ARG001
) -> None:
    with opened(point("pvp", vnf=Vnf(placement="process")), tmp_path) as bench:
        live = Live.of(bench)
        os.sched_setaffinity(live.tid("vnf0"), {live.cpu("generator")})
        found = bench.measure(LOAD_FPS, TRIAL_S)
    assert "vnf0/lcore1: CPUs" in changed(found)
    [vnf] = [thread for thread in found.threads if thread.name.startswith("vnf0/")]
    [generator] = [thread for thread in found.threads if thread.role == "generator"]
    assert vnf.cpu == generator.cpu
