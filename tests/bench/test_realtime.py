# SPDX-License-Identifier: Apache-2.0
"""Do short trials really keep their CPUs, and does everything go back to normal after them?"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.fake_host import FakeHost
from tests.bench.real import opened, point
from wirespeed.bench import trial
from wirespeed.bench.realtime import LONGEST_S, alone, before_all_pollers, fits, may_run_alone
from wirespeed.bench.trial import Rig
from wirespeed.model.spec import TopologyKind

GUARD = "/proc/sys/kernel/sched_rt_runtime_us"


@pytest.fixture
def sleeper() -> Iterator[int]:
    """The thread id of a program that does nothing, on CPU 0."""
    process = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL)
    os.sched_setaffinity(process.pid, {0})
    yield process.pid
    process.kill()
    process.wait()


@pytest.mark.root
def test_pollers_go_back_to_their_class_whatever_happens(sleeper: int) -> None:
    own = os.sched_getscheduler(0)

    def interrupted() -> None:
        with before_all_pollers(), alone([sleeper]):
            assert os.sched_getscheduler(sleeper) & os.SCHED_FIFO
            assert os.sched_getparam(0).sched_priority > os.sched_getparam(sleeper).sched_priority
            raise InterruptedError

    with pytest.raises(InterruptedError):
        interrupted()
    assert os.sched_getscheduler(sleeper) == os.SCHED_OTHER
    assert os.sched_getscheduler(0) == own


@pytest.mark.root
def test_a_poller_that_has_just_ended_is_no_error() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    with before_all_pollers(), alone([process.pid]):
        pass


def test_the_kernel_steps_in_where_a_trial_is_too_long() -> None:
    assert fits([0, 1], LONGEST_S)
    assert not fits([0, 1], LONGEST_S + 0.1)


def test_pollers_that_share_a_cpu_would_starve_each_other() -> None:
    assert not fits([0, 1, 0], 0.1)


@pytest.mark.root
@pytest.mark.parametrize(("runtime_us", "allowed"), [("950000", True), ("-1", False), ("0", False)])
def test_without_the_kernel_s_guard_nothing_is_done(runtime_us: str, allowed: bool) -> None:
    hindrance = may_run_alone(FakeHost({GUARD: runtime_us}))
    assert (hindrance is None) is allowed


@pytest.mark.usefixtures("needs_root")
@pytest.mark.root
def test_a_real_trial_runs_alone_and_a_long_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[int]] = []
    let_run = trial._let_run

    def watched(rig: Rig, duration_s: float) -> None:
        tids = [
            thread.tid
            for part in rig.parts
            if part.name != "generator"
            for thread in part.threads()
        ]
        seen.append({os.sched_getscheduler(tid) & ~os.SCHED_RESET_ON_FORK for tid in tids})
        let_run(rig, duration_s)

    with opened(point(TopologyKind.P2P), tmp_path) as bench:
        monkeypatch.setattr(trial, "_let_run", watched)
        bench.measure(1000.0, 0.1)
        bench.measure(1000.0, LONGEST_S + 0.1)
    assert seen == [{os.SCHED_FIFO}, {os.SCHED_OTHER}]
