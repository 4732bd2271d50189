# SPDX-License-Identifier: Apache-2.0
"""Check the times and interrupts of polling threads that the kernel's own means slow down.

No rate and no time is asserted: other programs may use the CPUs meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from benchmarks.faults.causing import Live
from benchmarks.faults.on_threads import limited, traced
from benchmarks.faults.outside_acts import paged_out, probed

from tests.real.alone.changed_switch import LOAD_FPS, TRIAL_S, changed, kind, pmd
from tests.support.own_state import opened_for_several
from tests.support.real_bench import point
from wirespeed.bench.session import RealBench
from wirespeed.explain.suspect import MUCH

ATTEMPTS = 5

pytestmark = pytest.mark.usefixtures("needs_root")


@pytest.fixture(scope="module")
def p2p(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealBench]:
    """Provide a bench for all tests here: opening one takes longer than a trial."""
    with opened_for_several(point("p2p"), tmp_path_factory.mktemp("p2p")) as bench:
        yield bench


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


def test_interrupts_of_a_timer_on_the_pmd_cpu_are_counted(p2p: RealBench) -> None:
    cpu = Live.of(p2p).cpu("switch")

    def per_s() -> dict[str, float]:
        found = p2p.measure(LOAD_FPS, TRIAL_S).interrupts
        return {each.source: each.per_s for each in found if each.cpu == cpu}

    with kind("timer-interrupts").act(Live.of(p2p)):
        found = per_s()
    most = max(found, key=found.__getitem__)
    assert "timer" in most, found
    # Other programs' timers only add to it, so one trial without the cause is enough.
    assert any(per_s().get(most, 0.0) < found[most] / 2 for _ in range(ATTEMPTS))


def test_thread_times_of_a_probed_pmd_are_in_the_kernel(p2p: RealBench) -> None:
    def in_kernel() -> float:
        time = pmd(p2p.measure(LOAD_FPS, TRIAL_S)).time
        assert time is not None
        return time.kernel_ns / time.elapsed_ns

    with probed(Live.of(p2p).tid("switch")):
        found = in_kernel()
    assert found > MUCH
    # Interrupts only add to it, so one trial without them is enough.
    assert any(in_kernel() < found / 2 for _ in range(ATTEMPTS))


def test_thread_times_of_a_paged_out_pmd_count_its_faults(p2p: RealBench) -> None:
    with paged_out(Live.of(p2p).tid("switch"), 0.005):
        found = pmd(p2p.measure(LOAD_FPS, TRIAL_S)).time
    assert found is not None
    assert found.minor_faults + found.major_faults > 0
