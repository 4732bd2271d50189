# SPDX-License-Identifier: Apache-2.0
"""Test that the limiting resource of a point is named, with evidence for all resources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.fake_rig import FACTS
from wirespeed.explain.decisive import decisive
from wirespeed.explain.explain import explain
from wirespeed.explain.gains import advice, relative_gain
from wirespeed.explain.interface import Measured
from wirespeed.explain.resources import resources
from wirespeed.model.plan.plan import Decision, GeneratorPlan, GuestPlan, ProcessMemory
from wirespeed.model.result.explanation import (
    ExpectedGain,
    Explanation,
    KeyChange,
    Proposal,
    Resource,
    ResourceUse,
)
from wirespeed.model.result.explanation import ResourceState as State
from wirespeed.model.result.hop_counts import Drop, DropCause, QueueShare
from wirespeed.model.result.observation import PollingThread
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.spec import MAX_DESCRIPTORS
from wirespeed.report.text.limits import measured
from wirespeed.store.records import PointRecord, RunRecord

PMD = PollingThread("pmd-c01/id:8", "sut", 1, 0, 0, 0.99)
VNF = PollingThread("vnf0/lcore1", "sut", 2, 0, 0, 0.6)
GENERATOR = PollingThread("generator/lcore1", "generator", 0, 0, 0, 0.5)


def seen(point: PointRecord, **changes: object) -> Measured:
    """Return the point with these observations added to its trials."""
    found = measured(point, FACTS)
    assert found is not None
    assert found.plan is not None
    trials = tuple(
        replace(trial, observation=replace(trial.observation, **changes))  # type: ignore[arg-type]
        for trial in found.result.trials
    )
    guest = GuestPlan("vnf0", Decision((2,), "a test says so"))
    host = replace(found.plan.hosts[0], guests=(guest,))
    result = replace(found.result, trials=trials)
    return replace(found, result=result, plan=replace(found.plan, hosts=(host,)))


def threads(*found: PollingThread) -> dict[str, object]:
    return {"threads": found}


def uses(point: Measured) -> dict[Resource, ResourceUse]:
    found = resources(point, explain(point))
    assert len(found) == len(Resource)
    return {use.resource: use for use in found}


def limiting(point: Measured) -> list[Resource]:
    return [use.resource for use in uses(point).values() if use.state is State.LIMITS]


def trial(point: Measured) -> Trial:
    decided = decisive(point)
    assert decided is not None
    return decided[1]


def test_every_resource_is_reported_and_the_limiting_one_is_first(run: RunRecord) -> None:
    for point in run.points:
        found = measured(point, FACTS)
        assert found is not None
        told = resources(found, explain(found))
        assert sorted(use.resource for use in told) == sorted(Resource)
        assert [use.state for use in told].count(State.LIMITS) == 1
        assert told[0].state is State.LIMITS


@pytest.mark.parametrize(
    ("index", "busy", "limits"),
    [
        (0, (PMD, VNF), Resource.SWITCH),
        (4, (PMD, replace(VNF, busy_share=0.98)), Resource.FUNCTION),
        # Rings overflowed though their poller had time left: they are too short for pauses.
        (0, (replace(PMD, busy_share=0.5), VNF), Resource.QUEUES),
        (0, (replace(PMD, busy_share=None), VNF), Resource.SWITCH),
    ],
)
def test_a_full_ring_is_blamed_on_the_stage_behind_it(
    run: RunRecord, index: int, busy: Sequence[PollingThread], limits: Resource
) -> None:
    assert limiting(seen(run.points[index], **threads(*busy, GENERATOR))) == [limits]


def test_a_ring_that_overflows_while_its_poller_has_time_is_too_short(run: RunRecord) -> None:
    idle = threads(replace(PMD, busy_share=0.77), VNF, GENERATOR)
    first, second = explain(seen(run.points[0], **idle))[:2]
    assert first.limit == "cause_not_found"
    assert "full, though pmd-c01/id:8 had frames to handle for only 77% of the time" in (
        second.sentence
    )
    for descriptors, keys in (
        (1024, (KeyChange("sut.vswitch.descriptors", 2048),)),
        (MAX_DESCRIPTORS, ()),
    ):
        point = seen(run.points[0], **idle)
        assert point.frames is not None
        vswitch = replace(point.frames.sut.vswitch, descriptors=descriptors)
        changed = replace(point.frames, sut=replace(point.frames.sut, vswitch=vswitch))
        proposal = explain(replace(point, workload=changed))[1].proposal
        assert proposal is not None
        assert proposal.keys == keys


def test_a_full_socket_is_the_switchs_and_no_cpu_helps(run: RunRecord) -> None:
    point = with_cause(seen(run.points[0], **threads(PMD, VNF, GENERATOR)), DropCause.SOCKET_FULL)
    assert limiting(point) == [Resource.SWITCH]
    first = explain(point)[0]
    assert "the socket that the vSwitch reads the port by was full" in first.sentence
    assert first.gain is None
    assert first.proposal is not None
    assert first.proposal.setting == "sut.vswitch.ovs.ports"


def with_cause(point: Measured, cause: DropCause) -> Measured:
    """All that it dropped, for that cause at a port of the switch."""
    trials = tuple(
        replace(each, observation=replace(each.observation, drops=tuple(
            Drop("switch:east", cause, drop.frames) for drop in each.observation.drops)))
        for each in point.result.trials
    )  # fmt: skip
    return replace(point, result=replace(point.result, trials=trials))


def test_without_a_switch_the_first_ring_is_the_functions(run: RunRecord) -> None:
    point = seen(run.points[0], **threads(VNF, GENERATOR))
    assert point.plan is not None
    host = replace(point.plan.hosts[0], vswitch=None)
    point = replace(point, plan=replace(point.plan, hosts=(host,)))
    assert limiting(replace(point, result=point.result)) == [Resource.QUEUES]  # It is busy 60%.


def test_a_frame_costs_what_its_thread_was_busy_for(run: RunRecord) -> None:
    point = replace(seen(run.points[0], **threads(PMD, GENERATOR)), tsc_hz=2.5e9)
    decided = trial(point)
    assert decided.gated is not None
    assert decided.gated.receive_fps is not None
    figures = {f.name: f for f in uses(point)[Resource.SWITCH].evidence}
    cost_ns = 1e9 * 0.99 / decided.gated.receive_fps
    assert figures["time of a frame, pmd-c01/id:8"].value == pytest.approx(cost_ns)
    assert figures["cycles of a frame, pmd-c01/id:8"].value == pytest.approx(2.5 * cost_ns)


def test_an_octet_costs_what_the_other_frame_sizes_tell(run: RunRecord) -> None:
    base_ns, octet_ns = 100.0, 0.35
    sizes = tuple((size, 1e9 / (base_ns + octet_ns * size)) for size in (64.0, 512.0, 1518.0))
    found = uses(replace(seen(run.points[0]), other_sizes=sizes))[Resource.COPIES]
    octet, part = found.evidence
    assert octet.value == pytest.approx(octet_ns)
    assert part.value == pytest.approx(64 * octet_ns / (base_ns + 64 * octet_ns))
    alone = uses(replace(seen(run.points[0]), other_sizes=sizes[:1]))[Resource.COPIES]
    assert alone.state is State.NOT_MEASURED


def test_uneven_threads_are_reported(run: RunRecord) -> None:
    other = replace(PMD, name="pmd-c02/id:9", busy_share=0.33)
    found = uses(seen(run.points[0], **threads(PMD, other, GENERATOR)))[Resource.BALANCE]
    assert found.state is State.MEASURED
    assert "pmd-c01/id:8 does 50% more than the mean, pmd-c02/id:9 50% less" in found.sentence
    even = uses(seen(run.points[0], **threads(PMD, replace(PMD, name="b"), GENERATOR)))
    assert even[Resource.BALANCE].state is State.HAS_ROOM


def test_a_thread_that_watches_is_no_switch(run: RunRecord) -> None:
    watcher = replace(PMD, name="watcher/lcore1", role="watcher", busy_share=1.0)
    found = uses(seen(run.points[0], **threads(PMD, watcher, GENERATOR)))
    assert found[Resource.SWITCH].sentence.count("busy") == 1
    assert found[Resource.BALANCE].state is State.ABSENT


def test_the_balance_of_queues_follows_from_their_frames(run: RunRecord) -> None:
    shares = (QueueShare("east", 0, 9000), QueueShare("east", 1, 1000))
    found = uses(seen(run.points[0], threads=(PMD, GENERATOR), queues=shares))[Resource.BALANCE]
    assert found.state is State.MEASURED
    assert found.sentence == (
        "One thread has all the frames. Frames by queue, from queue 0: east 9,000 and 1,000."
    )
    assert [(each.name, each.value) for each in found.evidence] == [
        ("frames in queue 0 of east", 9000), ("frames in queue 1 of east", 1000),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shared", "says"),
    [
        (("vnf0",), "vnf0 takes turns with the generator, so its time"),
        (("vnf0", "vnf1"), "vnf0, vnf1 take turns with the generator, so their time"),
    ],
)
def test_functions_next_to_the_generator_are_listed_grammatically(
    run: RunRecord, shared: tuple[str, ...], says: str
) -> None:
    point = seen(run.points[0], threads=(PMD, GENERATOR))
    assert point.plan is not None
    nothing = Decision((), "a test says so")
    memory = Decision(ProcessMemory(1, 1, 1), "a test says so")
    generator = GeneratorPlan(nothing, Decision(0, "a test says so"), memory, shared)
    host = replace(point.plan.hosts[0], generator=generator)
    found = uses(replace(point, plan=replace(point.plan, hosts=(host,))))[Resource.FUNCTION]
    assert found.sentence.startswith(says)


def test_stolen_time_is_reported(run: RunRecord) -> None:
    point = run.points[2]
    assert uses(seen(point))[Resource.STEAL].state is State.HAS_ROOM
    stolen = uses(seen(point, steal_ns=400_000_000))[Resource.STEAL]
    assert stolen.state is State.DISTURBS
    assert stolen.evidence[0].value == pytest.approx(0.1)  # Of two CPUs for two seconds.


def test_emulated_points_and_such_without_trials_have_none(run: RunRecord) -> None:
    found = seen(run.points[0])
    for result in (
        replace(found.result, emulated="no KVM"), replace(found.result, trials=()),
    ):  # fmt: skip
        point = replace(found, result=result)
        assert resources(point, explain(point)) == ()


def first_gain(point: Measured) -> ExpectedGain | None:
    return next(found.gain for found in explain(point) if found.proposal is not None)


def test_the_next_full_stage_bounds_what_a_cpu_brings(run: RunRecord) -> None:
    """A second PMD doubles its stage; a function that is busy 60% is full before."""
    point = seen(run.points[0], **threads(PMD, VNF, GENERATOR))
    rate_fps = trial(point).gated.receive_fps or 0.0  # type: ignore[union-attr]
    gain = first_gain(point)
    assert gain is not None
    assert gain.value == pytest.approx(rate_fps / 0.6 - rate_fps)
    assert "vnf0/lcore1, busy 60% now, is full then" in gain.estimated
    alone = first_gain(seen(run.points[0], **threads(PMD, GENERATOR)))
    assert alone is not None
    highest_fps = max(each.offered_fps for each in point.result.trials)
    assert alone.value == pytest.approx(min(rate_fps, highest_fps - rate_fps))


@pytest.mark.parametrize("busy", [None, 0.5])
def test_a_thread_of_unknown_or_low_load_has_no_known_gain(
    run: RunRecord, busy: float | None
) -> None:
    point = seen(run.points[0], **threads(replace(PMD, busy_share=busy), VNF, GENERATOR))
    assert first_gain(point) is None


def test_changes_come_by_expected_gain_then_unknown_then_useless(run: RunRecord) -> None:
    point = seen(run.points[0])

    def change(name: str, gain: ExpectedGain | None) -> Explanation:
        return Explanation(name, f"{name}.", proposal=Proposal(name), gain=gain)

    found = [
        change("unknown", None),
        change("useless", ExpectedGain(0.0, "frames/s", "measured")),
        change("little", ExpectedGain(1e5, "frames/s", "measured")),
        Explanation("no change", "It is so."),
        change("much", ExpectedGain(1.5, "x", "measured")),
        change("unknown", ExpectedGain(9e9, "frames/s", "the same change, told twice")),
    ]
    assert [each.limit for each in advice(point, found)] == ["much", "little", "unknown", "useless"]
    assert relative_gain(point, found[4]) == 0.5
    assert relative_gain(point, found[0]) is None
