# SPDX-License-Identifier: Apache-2.0
"""Name what took time or frames by the account that closes, and say so where none does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.explain.test_blame import (
    AT_ENTRANCE,
    FPS,
    MS,
    SUT,
    THREADS,
    explained,
    first,
    observed,
    stop,
)
from wirespeed.explain.explain import explain
from wirespeed.explain.far_apart import doubted
from wirespeed.explain.interface import Measured
from wirespeed.model.result.change import Change
from wirespeed.model.result.evidence import Evidence, Source
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import Competitor, Observation, PollingThread
from wirespeed.model.result.result import Bound, Grade, Interval, SearchResult
from wirespeed.model.result.thread_time import CpuInterrupts, ThreadTime, Throttle
from wirespeed.model.result.trial import Stage, Trial

S = 1000 * MS
QUOTA = Throttle("/ovs", 30_000, 100_000, 9, 600 * MS)


def time(waiting: int = 0, away: int = 0, left: int = 0, **more: object) -> ThreadTime:
    """Of a second, in ms."""
    on_cpu = S - (waiting + away) * MS
    return ThreadTime(S, on_cpu, waiting * MS, away * MS, left, **more)  # type: ignore[arg-type]


def threads(**times: ThreadTime) -> tuple[PollingThread, ...]:
    """Return the threads with these times; those not named ran all the time."""
    names = ("generator", "pmd", "vnf")
    return tuple(
        replace(thread, time=times.get(name, time()))
        for thread, name in zip(THREADS, names, strict=True)
    )


@pytest.mark.parametrize(
    ("seen", "named", "words"),
    [
        (
            observed(AT_ENTRANCE, threads=threads(pmd=time(waiting=600, throttle=QUOTA))),
            ("throttled", "switch"),
            ("/ovs", "30,000 of each 100,000", "9 times"),
        ),
        (
            observed(AT_ENTRANCE, threads=threads(pmd=time(away=500, left=1))),
            ("poller_stopped", "switch"),
            ("500 ms", "50%", "1 piece"),
        ),
        (
            observed(
                AT_ENTRANCE,
                threads=threads(pmd=time(away=500, left=2, tracer="gdb, PID 7")),
            ),
            ("poller_stopped", "switch"),
            ("gdb, PID 7, traced it",),
        ),
        (
            observed(AT_ENTRANCE, threads=threads(pmd=time(away=500, left=90, frozen="/ovs"))),
            ("poller_stopped", "switch"),
            ("its cgroup /ovs was frozen",),
        ),
        (
            observed(AT_ENTRANCE, threads=threads(pmd=time(away=500, left=1, state="T (stopped)"))),
            ("poller_stopped", "switch"),
            ("SIGSTOP",),
        ),
        (
            observed(AT_ENTRANCE, threads=threads(pmd=time(away=500, left=500))),
            ("poller_asleep", "switch"),
            ("slept between polls for 50%",),
        ),
        (
            observed(threads=threads(generator=time(away=500, left=500)), unsent=25_000),
            ("generator_slow", "tg"),
            ("slept between polls for 50%", "offered late or not at all"),
        ),
        (
            observed(AT_ENTRANCE, threads=threads(pmd=time(waiting=500), vnf=time(waiting=400))),
            ("pollers_share_cpu", "switch"),
            ("pmd-c01/id:8 and vnf0/lcore1 polled on CPU 1 in turns",),
        ),
        (
            observed(
                AT_ENTRANCE,
                interrupts=(CpuInterrupts(1, "Local timer interrupts", 20_000, 20_000.0),),
            ),
            ("interrupts", "switch"),
            ("Local timer interrupts interrupted CPU 1", "20,000 times a second"),
        ),
        (
            observed(
                AT_ENTRANCE,
                interrupts=(CpuInterrupts(1, "softirq NET_RX", 900, 900.0, time_share=0.2),),
            ),
            ("interrupts", "switch"),
            ("softirq NET_RX interrupted CPU 1", "softirqs took 20% of its time"),
        ),
    ],
    ids=[
        "quota",
        "stop",
        "tracer",
        "frozen",
        "signal",
        "sleep",
        "generator sleeps",
        "two pollers",
        "interrupts",
        "softirqs",
    ],
)
def test_time_that_a_thread_did_not_run_is_named(
    seen: Observation, named: tuple[str, str], words: tuple[str, ...]
) -> None:
    assert first(seen) == named
    sentence = explained(seen)[0].sentence
    assert [word for word in words if word not in sentence] == []


@pytest.mark.parametrize(
    "seen",
    [
        observed(threads=threads(pmd=time(waiting=500), vnf=time(waiting=400))),
        observed(interrupts=(CpuInterrupts(1, "Local timer interrupts", 20_000, 20_000.0),)),
        observed(
            threads=tuple(
                replace(thread, sleeps=True, time=time(away=500, left=500)) for thread in THREADS
            )
        ),
    ],
    ids=["two pollers as planned", "interrupts", "sleep on purpose"],
)
def test_time_that_cost_no_frame_leads_nothing(seen: Observation) -> None:
    blamed = {"interrupts", "pollers_share_cpu", "poller_asleep", "cause_not_found"}
    assert {e.limit for e in explained(seen)[:1]}.isdisjoint(blamed)


def test_two_pollers_next_to_a_program_are_not_the_cause() -> None:
    shared = threads(pmd=time(waiting=600), vnf=time(waiting=600))
    hog = Competitor("cc1", 1, 0.5, pid=4711, started=1.7e9)
    found = explained(observed(AT_ENTRANCE, threads=shared, competitors=(hog,)))[0]
    assert found.limit == "pmd_core_shared"
    assert "cc1 (PID 4711, started 22:13:20 UTC, not the bench's own)" in found.sentence


def result_of(*trials: Observation) -> SearchResult:
    kept = tuple(Trial(each, Stage.CONSTANT, quiet=False) for each in trials)
    return SearchResult("fixed", False, kept, constant=Bound(FPS, FPS, 0.0))


RULE = Change("Open vSwitch: rule priority=100,in_port=1", "output:2", "drop")
LOST = Drop("switch:east", DropCause.FOREIGN_RULE, FPS)


def test_changed_rule_before_a_loss_is_named_with_from_to_and_when() -> None:
    found = explain(Measured(SUT, result_of(observed(), observed(LOST, changes=(RULE,)))))[0]
    assert (found.limit, found.hop) == ("changed", "switch")
    assert "between trials 1 and 2" in found.sentence
    assert "changed from output:2 to drop" in found.sentence
    assert "100% of the frames were lost, 0% before it" in found.sentence


def test_changed_setting_of_the_host_is_reported_but_not_blamed() -> None:
    pages = Change("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "197", "248")
    trials = result_of(observed(), observed(AT_ENTRANCE, changes=(pages,)))
    found = explain(Measured(SUT, trials))
    assert found[0].limit != "changed"
    [told] = [e for e in found if e.limit == "changed_harmless"]
    assert "nr_hugepages changed from 197 to 248" in told.sentence


def test_changed_rule_without_a_loss_is_not_blamed() -> None:
    found = explain(Measured(SUT, result_of(observed(), observed(changes=(RULE,)))))
    assert "changed" not in {e.limit for e in found}


def test_loss_that_a_weak_suspect_cannot_explain_comes_first() -> None:
    """A program that took 3.6% of the CPU while 40% was lost."""
    weak = Competitor("cc1", 1, 0.036)
    busy = replace(THREADS[1], busy_share=0.5)
    seen = observed(AT_ENTRANCE, competitors=(weak,), threads=(THREADS[0], busy))
    limits = [e.limit for e in explained(seen)]
    assert limits[0] == "cause_not_found"
    assert "pmd_core_shared" in limits[1:]
    sentence = explained(seen)[0].sentence
    assert "20.0 k frames of 50.0 k frames were lost (40%)" in sentence
    assert "pmd_core_shared (1,800 frames)" in sentence


def test_frames_without_trace_are_the_first_sentence() -> None:
    seen = observed(Drop("switch:vnf0a-vnf0:a", DropCause.UNKNOWN, 20_000))
    found = explained(seen)[0]
    assert (found.limit, found.hop) == ("unaccounted", "switch:vnf0a-vnf0:a")
    stray = observed(Drop("switch:vnf0a-vnf0:a", DropCause.UNKNOWN, 20))
    assert "unaccounted" not in {e.limit for e in explained(stray)[:1]}


def test_counter_that_began_anew_is_no_loss() -> None:
    """Open vSwitch counts a port from 0 again after it changed its MTU."""
    at_switch = Drop("switch", DropCause.UNKNOWN, 100_000)
    behind_it = Drop("switch:west-tg:west", DropCause.UNKNOWN, -100_000)
    told = Drop("switch:west", DropCause.MTU, 40_000)
    found = explained(observed(told, at_switch, behind_it))
    assert found[0].limit == "mtu"
    assert "unaccounted" not in {e.limit for e in found}


def test_saturated_stage_needs_no_further_cause() -> None:
    full = replace(THREADS[1], busy_share=0.99)
    seen = observed(AT_ENTRANCE, threads=(THREADS[0], full))
    assert "cause_not_found" not in {e.limit for e in explained(seen)}


@pytest.mark.parametrize(
    ("busy", "mrr_fps", "grade"),
    [(0.5, 3.0 * FPS, Grade.D), (0.99, 3.0 * FPS, Grade.B), (0.5, 1.5 * FPS, Grade.B)],
    ids=["no cause", "a stage without time left", "near"],
)
def test_doubted_ndr_far_from_the_mrr_is_grade_d_without_a_named_cause(
    busy: float, mrr_fps: float, grade: Grade
) -> None:
    seen = observed(AT_ENTRANCE, threads=(THREADS[0], replace(THREADS[1], busy_share=busy)))
    kept = tuple(Trial(seen, stage, quiet=True) for stage in (Stage.MRR, Stage.SEARCH))
    bound = Bound(FPS / 2, FPS / 2, 0.0)
    result = SearchResult(
        "mlr", False, kept, ndr=Interval(bound, None), mrr_fps=mrr_fps / 2, grade=Grade.B
    )
    found = doubted(Measured(SUT, result))
    assert found.grade is grade
    assert any("without a known cause" in why for why in found.because) is (grade is Grade.D)


@pytest.mark.parametrize(
    ("away", "named"),
    [
        (time(waiting=10, away=500, left=1), "poller_stopped"),
        (time(waiting=610, throttle=QUOTA), "throttled"),
    ],
)
def test_program_on_a_cpu_that_a_poller_left_took_nothing_from_it(
    away: ThreadTime, named: str
) -> None:
    beside = Competitor("cc1", 1, 0.4, pid=4711, started=1.7e9)
    found = explained(observed(AT_ENTRANCE, threads=threads(pmd=away), competitors=(beside,)))
    assert found[0].limit == named
    assert "pmd_core_shared" not in {e.limit for e in found}


MOVED = Change("pmd-c01/id:8: CPUs", "1", "0")


def beside_the_generator() -> Observation:
    """Return a trial with a PMD thread on the generator's CPU: late frames, none lost."""
    generator, pmd, vnf = threads(pmd=time(waiting=500), generator=time(waiting=450))
    away = Evidence(disturbances=stop("generator", Source.POLL_GAP, 450))
    return observed(
        unsent=15_000, threads=(generator, replace(pmd, cpu=0), vnf), changes=(MOVED,),
        evidence=away,
    )  # fmt: skip


def test_poller_on_the_generators_cpu_explains_frames_that_were_not_sent() -> None:
    found = explained(beside_the_generator())[0]
    assert (found.limit, found.hop) == ("pollers_share_cpu", "switch")
    assert "pmd-c01/id:8 and generator/lcore1 polled on CPU 0 in turns" in found.sentence


def test_change_that_puts_a_poller_on_the_generators_cpu_is_blamed_for_unsent_frames() -> None:
    found = explain(Measured(SUT, result_of(observed(threads=threads()), beside_the_generator())))
    [changed] = [e for e in found if e.limit == "changed"]
    assert changed.hop == "switch"
    assert "30% of the frames were not sent, 0% before it" in changed.sentence


def test_program_on_a_forwarding_cpu_explains_bursts_that_overflow_the_analysers_ring() -> None:
    """Frames that the SUT hands over after a pause come all at once."""
    bursts = Drop("switch:west", DropCause.TG_RX_RING_FULL, 2_500)
    held_up = Evidence(disturbances=stop("generator", Source.POLL_GAP, 40))
    shells = Competitor("sh", 1, 0.45, pid=4711)
    seen = observed(bursts, unsent=1_000, evidence=held_up, competitors=(shells,))
    assert first(seen) == ("pmd_core_shared", "switch")
    without = observed(bursts, unsent=1_000, evidence=held_up)
    assert first(without) == ("generator_interrupted", "tg")


def test_burst_of_a_paused_switch_does_not_make_the_generator_slow() -> None:
    """It overflowed the analyser's ring, but sent nearly all that it should."""
    bursts = Drop("switch:west", DropCause.TG_RX_RING_FULL, 1_200)
    named = [e.limit for e in explained(observed(bursts, unsent=20))]
    assert "generator_slow" not in named
    assert "generator_slow" in [e.limit for e in explained(observed(bursts, unsent=1_000))]
