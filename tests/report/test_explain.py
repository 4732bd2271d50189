# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.sample import sample_run
from wirespeed.model.cpus import CpuPulse, Proximity
from wirespeed.model.trial import Drop, DropCause, WorkerShare
from wirespeed.report.explain import explain, first_loss
from wirespeed.store.records import PointRecord, RunRecord


def with_drops(point: PointRecord, *drops: Drop) -> PointRecord:
    """The point with these drops in the trial that decides."""
    decisive = first_loss(point)
    trials = tuple(
        replace(stored, trial=replace(stored.trial, seen=replace(stored.trial.seen, drops=drops)))
        if stored.trial is decisive
        else stored
        for stored in point.trials
    )
    return replace(point, trials=trials)


def said(point: PointRecord) -> str:
    return " ".join(explain(point))


def test_what_the_vnf_consumed_on_purpose_is_no_loss(run: RunRecord) -> None:
    drops = [Drop("vnf0", DropCause.VNF_HANDLED, 200), Drop("tg", DropCause.MISDIRECTED, 123)]
    first = explain(with_drops(run.points[0], *drops))[0]
    assert "all of them at tg: they arrived, but bore what belongs to somebody else" in first


@pytest.mark.parametrize("cause", sorted(set(DropCause) - {DropCause.VNF_HANDLED}))
def test_every_cause_is_explained(run: RunRecord, cause: DropCause) -> None:
    point = with_drops(run.points[0], Drop("ovs:port0", cause, 1000))
    first = explain(point)[0]
    assert "all of them at ovs:port0: " in first
    assert len(first.partition("ovs:port0: ")[2]) > 20


def test_the_cause_with_the_most_frames_comes_first(run: RunRecord) -> None:
    point = with_drops(
        run.points[3],
        Drop("sut-ingress", DropCause.RX_RING_FULL, 100),
        Drop("ovs:vnf0.a", DropCause.VHOST_TX_RING_FULL, 900),
    )
    first, second, *_ = explain(point)
    assert "90% of them at ovs:vnf0.a" in first
    assert "the VNF took frames more slowly" in first
    assert second.startswith("Another 10% were lost at the SUT's first ring")


def test_a_lone_stray_frame_is_not_worth_a_sentence(run: RunRecord) -> None:
    point = with_drops(
        run.points[3],
        Drop("sut-ingress", DropCause.RX_RING_FULL, 990),
        Drop("ovs:vnf0.a", DropCause.VHOST_TX_RING_FULL, 10),
    )
    assert "vnf0" not in said(point)


def test_it_looks_at_the_lowest_load_that_lost_frames(run: RunRecord) -> None:
    for point in run.points:
        decisive = first_loss(point)
        assert decisive is not None
        assert point.result is not None
        assert point.result.ndr is not None
        assert point.result.ndr.lower is not None
        assert decisive.valid
        assert decisive.intended_load_fps > point.result.ndr.lower.load_fps
        for stored in point.trials:
            trial = stored.trial
            if trial.valid and trial.lost and trial.intended_load_fps < decisive.intended_load_fps:
                assert trial.intended_load_fps <= point.result.ndr.lower.load_fps


def test_an_invalid_trial_explains_nothing(run: RunRecord) -> None:
    decisive = first_loss(run.points[0])
    assert decisive is not None
    trials = tuple(
        replace(s, trial=replace(s.trial, valid=False, invalid_reason="paused"))
        for s in run.points[0].trials
    )
    point = replace(run.points[0], trials=trials)
    assert first_loss(point) is None
    assert "lost" not in said(point)
    assert "the limit was not reached" not in said(point), "nobody knows without a valid trial"


def test_a_limit_that_was_not_reached_is_said(run: RunRecord) -> None:
    lossless = tuple(s for s in run.points[0].trials if s.trial.valid and not s.trial.lost)
    assert "the limit was not reached" in said(replace(run.points[0], trials=lossless))


def test_what_bounds_the_rig_is_said(run: RunRecord) -> None:
    assert "share a core" in said(run.points[3])
    assert "share a core" not in said(run.points[0])
    result = run.points[0].result
    assert result is not None
    for reason in ("generator", "max_load"):
        limited = replace(run.points[0], result=replace(result, limited_by=reason))
        assert "may be faster" in said(limited)


def test_the_reference_sut_is_limited_by_nothing_but_itself(tmp_path: Path) -> None:
    (point,) = sample_run(tmp_path, study="wire").points
    assert point.result is not None
    assert point.result.limited_by == "shared_lcore"
    assert "share a core" not in said(point)


def test_loss_far_below_saturation_is_told_from_saturation(run: RunRecord) -> None:
    result = run.points[0].result
    assert result is not None
    assert result.ndr is not None
    assert result.ndr.lower is not None
    low = replace(result.ndr, lower=replace(result.ndr.lower, load_fps=4e6))
    point = replace(run.points[0], result=replace(result, ndr=low))
    assert "pauses for longer than its rings last" in said(point)
    assert "256 us of traffic" in said(point)
    assert "pauses" not in said(run.points[0])


def test_a_sut_that_overload_slows_down_is_told(run: RunRecord) -> None:
    point = run.points[0]
    assert point.result is not None
    assert "overload itself" not in said(point)
    slowed = replace(point, result=replace(point.result, mrr_fps=1e6))
    assert "overload itself slows the SUT" in said(slowed)
    assert "each frame takes 1000 ns" not in said(slowed)


def test_cpus_that_share_no_cache_or_share_a_core_are_told(run: RunRecord) -> None:
    def placed(core_to_core_ns: float, slowdown: float) -> str:
        where = Proximity(core_to_core_ns, slowdown)
        point = run.points[3]
        trials = tuple(
            replace(t, trial=replace(t.trial, seen=replace(t.trial.seen, proximity=(where, where))))
            for t in point.trials
        )
        return said(replace(point, trials=trials))

    assert "cache line" not in said(run.points[3])
    assert "cache line" not in placed(45, 1.0)
    assert "takes 210 ns from one polling CPU to another" in placed(210, 1.0)
    assert "slow each other" not in placed(210, 1.05)
    assert "slow each other 1.5x: they are threads of one core" in placed(35, 1.5)


def test_a_core_that_something_else_uses_is_told(run: RunRecord) -> None:
    def shared(slow_beats: int) -> str:
        point = run.points[0]
        trials = []
        for stored in point.trials:
            seen = stored.trial.seen
            threads = tuple(replace(thread, cpu=3) for thread in seen.threads)
            pulses = (CpuPulse(3, 100, slow_beats, 700, 0),)
            seen = replace(seen, threads=threads, pulses=pulses)
            trials.append(replace(stored, trial=replace(stored.trial, seen=seen)))
        return said(replace(point, trials=tuple(trials)))

    assert "forwarding core" not in said(run.points[0])
    assert "forwarding core" not in shared(10)
    assert "something else used a forwarding core, for up to 40% of the time" in shared(40)


def test_not_measurable_comes_first(run: RunRecord) -> None:
    result = run.points[0].result
    assert result is not None
    failed = replace(result, ndr=None, pdr=None, not_measurable="21 trials in a row were invalid")
    first = explain(replace(run.points[0], result=failed))[0]
    assert first == "Not measurable: 21 trials in a row were invalid."


def test_a_point_without_result_has_nothing_to_explain(run: RunRecord) -> None:
    assert explain(replace(run.points[0], result=None)) == ()


def test_workers_are_said_to_be_even_or_not(run: RunRecord) -> None:
    """Over all trials, both directions: here the loads are 60, 40 and 50 of a mean of 50."""
    point = run.points[0]
    assert "workers" not in said(point)
    loads = ((45, 35, 40), (15, 5, 10))
    trials = tuple(
        replace(
            stored,
            trial=replace(
                stored.trial,
                seen=replace(
                    stored.trial.seen,
                    workers=tuple(WorkerShare("vnf0", n, load) for n, load in enumerate(frames)),
                ),
            ),
        )
        for stored, frames in zip(point.trials, loads, strict=False)
    )
    text = said(replace(point, trials=trials))
    assert "3 workers shared the frames: the busiest took 20.0% more than the mean, " in text
    assert "the idlest 20.0% less" in text
