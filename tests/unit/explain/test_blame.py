# SPDX-License-Identifier: Apache-2.0
"""Test that each fault is identified from its evidence alone.

Every trial here offers 50,000 frames/s for a second; a healthy one loses none.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.explain.sum_trials import seen
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Evidence, Source
from wirespeed.model.result.explanation import Explanation
from wirespeed.model.result.hop_counts import Counted, Drop, DropCause, HopEvents, QueueShare
from wirespeed.model.result.observation import (
    Competitor,
    DirectionCount,
    Observation,
    PollingThread,
)
from wirespeed.model.result.result import Bound, SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.sut import SutDescription

FPS, MS = 50_000, 1_000_000
SUT = SutDescription("ovs-dpdk", "Open vSwitch", "the SUT's first ring")
THREADS = (
    PollingThread("generator/lcore1", "generator", 0, 0, 0),
    PollingThread("pmd-c01/id:8", "sut", 1, 0, 0),
    PollingThread("vnf0/lcore1", "sut", 1, 0, 0),
)
TO_VNF = Drop("switch:vnf0a", DropCause.VHOST_TX_RING_FULL, 20_000)
AT_ENTRANCE = Drop("sut-ingress", DropCause.RX_RING_FULL, 20_000)


def stop(role: str, source: Source, *lengths_ms: int) -> tuple[Disturbance, ...]:
    return tuple(
        Disturbance(1 if role == "sut" else 0, 0, ms * MS, DisturbanceKind.STOPPED, source, role)
        for ms in lengths_ms
    )


def observed(*drops: Drop, unsent: int = 0, **seen: object) -> Observation:
    lost = sum(drop.frames for drop in drops)
    offered = FPS - unsent
    count = DirectionCount("east-west", FPS, offered, offered, unsent, offered - lost, 0, 0, 0)
    seen = {"threads": THREADS, "ring_frames": 1024, "path_frames": 4096, **seen}
    return Observation(
        float(FPS),
        1.0,
        (count,),
        drops,
        steal_ns=0,
        overhead_s=0.1,
        **seen,  # type: ignore[arg-type]
    )


def explained(observation: Observation, **result: object) -> tuple[Explanation, ...]:
    trial = Trial(observation, Stage.CONSTANT, quiet=False)
    found = {"constant": Bound(FPS, FPS, 0.0), **result}
    search = SearchResult("fixed", False, (trial,), **found)  # type: ignore[arg-type]
    return explain(Measured(SUT, search))


def first(observation: Observation) -> tuple[str, str | None]:
    found = explained(observation)[0]
    return found.limit, found.hop


def test_a_program_next_to_the_bench_is_a_candidate_and_accused_of_nothing() -> None:
    found = explained(observed(competitors=(Competitor("copies", 7, 0.9),)))
    [candidate] = [e for e in found if e.hop is not None]
    assert (candidate.limit, candidate.hop) == ("memory_contention", "memory")
    assert "copies used CPU 7" in candidate.sentence
    assert "a candidate" in candidate.sentence
    # On a CPU that forwards it is what it always was.
    assert first(observed(AT_ENTRANCE, competitors=(Competitor("copies", 1, 0.9),)))[0] == (
        "pmd_core_shared"
    )


def test_frames_by_a_link_that_is_down_are_reported_first() -> None:
    down = Drop("switch:east", DropCause.LINK_DOWN, 5_000)
    assert first(observed(down)) == ("link_down", "switch:east")
    # A generator that the host held up at the same time does not come before it.
    held_up = Evidence(disturbances=stop("generator", Source.POLL_GAP, 400))
    assert first(observed(down, unsent=15_000, evidence=held_up)) == ("link_down", "switch:east")
    stray = Drop("switch:east", DropCause.LINK_DOWN, 5)
    assert [e for e in explained(observed(stray)) if e.limit == "link_down"] == []


def test_a_healthy_point_accuses_nobody() -> None:
    assert [e for e in explained(observed()) if e.hop is not None] == []


def event(hop: str, what: Counted, count: int) -> tuple[HopEvents, ...]:
    return (HopEvents(hop, what, count),)


@pytest.mark.parametrize(
    ("seen", "named"),
    [
        (observed(TO_VNF), ("slow_vnf", "vnf0")),
        (observed(TO_VNF, events=event("vnf0", Counted.RESTARTS, 1)), ("vnf_restarted", "vnf0")),
        (observed(TO_VNF, events=event("vnf0", Counted.NO_BUFFERS, 9)), ("vnf_buffers", "vnf0")),
        (
            observed(TO_VNF, evidence=Evidence(stop("sut", Source.FROZEN, 400))),
            ("vnf_stopped", "vnf0"),
        ),
        (
            observed(AT_ENTRANCE, events=event("switch", Counted.UPCALLS, 30_000)),
            ("upcalls", "switch"),
        ),
        (
            observed(
                events=(*event("switch", Counted.UPCALLS, 40),
                        *event("switch", Counted.FLOWS_DELETED, 20)),
            ),
            ("flows_deleted", "switch"),
        ),
        (
            observed(
                AT_ENTRANCE,
                events=(*event("switch", Counted.UPCALLS, 30_000),
                        *event("switch", Counted.FLOWS_DELETED, 29_000)),
            ),
            ("upcalls", "switch"),
        ),
        (
            observed(queues=(QueueShare("east", 0, FPS), QueueShare("east", 1, 0))),
            ("queue_imbalance", "switch:east"),
        ),
        (observed(AT_ENTRANCE, ring_frames=64), ("small_ring", "sut-ingress")),
        (
            observed(AT_ENTRANCE, competitors=(Competitor("cc1", 1, 0.4),)),
            ("pmd_core_shared", "switch"),
        ),
        (
            observed(unsent=500, evidence=Evidence(stop("generator", Source.POLL_GAP, 100)),
                     competitors=(Competitor("cc1", 1, 0.4),)),
            ("pmd_core_shared", "switch"),
        ),
        (observed(unsent=5000), ("generator_slow", "tg")),
        (
            observed(unsent=5000, competitors=(Competitor("cc1", 0, 0.05),)),
            ("generator_slow", "tg"),
        ),
        (
            observed(unsent=5000, competitors=(Competitor("cc1", 0, 0.4),)),
            ("generator_core_shared", "tg"),
        ),
        (
            observed(unsent=5000, evidence=Evidence(stop("generator", Source.POLL_GAP, 100))),
            ("generator_interrupted", "tg"),
        ),
        (
            observed(AT_ENTRANCE, evidence=Evidence(stop("sut", Source.CONTEXT_SWITCH, 500))),
            ("sut_interrupted", "switch"),
        ),
        (
            observed(Drop("switch:east", DropCause.NO_FLOW, FPS)),
            ("no_flow", "switch:east"),
        ),
        (
            observed(Drop("switch:patch", DropCause.WRONG_VLAN, FPS)),
            ("wrong_vlan", "switch:patch"),
        ),
        (
            observed(threads=(replace(THREADS[0], node=0), replace(THREADS[1], node=1))),
            ("pmd_off_node", "switch"),
        ),
    ],
)  # fmt: skip
def test_evidence_names_hop_and_cause(seen: Observation, named: tuple[str, str]) -> None:
    assert first(seen) == named


def test_a_vnf_that_could_not_run_was_not_stopped() -> None:
    seen = observed(TO_VNF, evidence=Evidence(stop("sut", Source.POLL_GAP, 400)))
    assert "vnf_stopped" not in {e.limit for e in explained(seen)}
    assert first(seen) == ("sut_interrupted", "switch")


def test_a_search_that_drives_a_vnf_to_its_limit_finds_no_slow_one() -> None:
    found = {e.limit for e in explained(observed(TO_VNF), constant=None, mrr_fps=1e6)}
    assert "slow_vnf" not in found


def test_the_limit_that_explains_most_frames_comes_first() -> None:
    """A policer that drops half, and one stop of the PMD thread."""
    policed = Drop("switch:east", DropCause.POLICER, 25_000)
    stray = replace(AT_ENTRANCE, frames=600)
    seen = observed(policed, stray, competitors=(Competitor("cc1", 1, 0.1),))
    named = [e.limit for e in explained(seen)]
    assert named.index("policer") < named.index("pmd_core_shared")


def test_frames_and_evidence_of_warm_up_accuse_nobody() -> None:
    seen = observed(TO_VNF)
    trials = (
        Trial(seen, Stage.WARM_UP, quiet=False),
        Trial(observed(), Stage.CONSTANT, quiet=False),
    )
    search = SearchResult("fixed", False, trials, constant=Bound(FPS, FPS, 0.0))
    assert [e for e in explain(Measured(SUT, search)) if e.hop == "vnf0"] == []


def test_open_vswitch_may_tell_of_deleted_flows_in_another_trial() -> None:
    told = observed(events=event("switch", Counted.FLOWS_DELETED, 20))
    seen = observed(events=event("switch", Counted.UPCALLS, 40))
    trials = (Trial(told, Stage.WARM_UP, quiet=False), Trial(seen, Stage.CONSTANT, quiet=False))
    search = SearchResult("fixed", False, trials, constant=Bound(FPS, FPS, 0.0))
    assert explain(Measured(SUT, search))[0].limit == "flows_deleted"


def test_seen_sums_events_of_a_kind_and_the_drops_of_the_trials_that_had_any() -> None:
    late = Disturbance(1, 0, MS, DisturbanceKind.LATE, Source.SCHEDULE, "sut", 3)
    disturbed = observed(TO_VNF, unsent=7, evidence=Evidence((late, late)))
    trials = (
        Trial(disturbed, Stage.CONSTANT, quiet=False),
        Trial(observed(AT_ENTRANCE), Stage.CONSTANT, quiet=True),
    )
    found = seen(SearchResult("fixed", False, trials, constant=Bound(FPS, FPS, 0.0)))
    [(kind, of_kind)] = found.disturbed.items()
    assert kind is DisturbanceKind.LATE
    assert of_kind.events == {1: 6}
    assert of_kind.drops == {TO_VNF.cause: TO_VNF.frames}
    assert of_kind.unsent == 7


def hot(cpu: int, role: str, count: int = 3) -> Evidence:
    kind, source = DisturbanceKind.THROTTLED, Source.THROTTLE_COUNTS
    return Evidence((Disturbance(cpu, 0, 1000 * MS, kind, source, role, count),))


def test_heat_explains_what_a_throttled_trial_lost() -> None:
    found = explained(observed(AT_ENTRANCE, evidence=hot(1, "sut")))[0]
    assert (found.limit, found.hop) == ("thermal_throttling", "switch")
    assert "CPU 1 3 times" in found.sentence
    assert {figure.name: figure.value for figure in found.evidence} == {
        "throttled, CPU 1": 3, "lost at full rings in these trials": AT_ENTRANCE.frames,
    }  # fmt: skip


def test_heat_of_the_generator_explains_what_it_did_not_send() -> None:
    found = explained(observed(unsent=9_000, evidence=hot(0, "generator")))
    named = [each for each in found if each.limit == "thermal_throttling"]
    assert [each.hop for each in named] == ["tg"]


def test_heat_without_loss_is_harmless() -> None:
    limits = [each.limit for each in explained(observed(evidence=hot(1, "sut")))]
    assert "thermal_throttling_harmless" in limits
