# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.sample import sample_run
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.trial import Drop, DropCause, Stage, WorkerShare
from wirespeed.report.explain import explain
from wirespeed.report.loss import first_loss, lost_in_what_counts
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
    first = explain(with_drops(run.points[2], *drops))[0]
    assert "all of them at tg: they arrived, but bore what belongs to somebody else" in first


@pytest.mark.parametrize("cause", sorted(set(DropCause) - {DropCause.VNF_HANDLED}))
def test_every_cause_is_explained(run: RunRecord, cause: DropCause) -> None:
    point = with_drops(run.points[2], Drop("ovs:port0", cause, 1000))
    first = explain(point)[0]
    assert "all of them at ovs:port0: " in first
    assert len(first.partition("ovs:port0: ")[2]) > 20


def test_the_cause_with_the_most_frames_comes_first(run: RunRecord) -> None:
    point = with_drops(
        run.points[4],
        Drop("sut-ingress", DropCause.RX_RING_FULL, 100),
        Drop("ovs:vnf0.a", DropCause.VHOST_TX_RING_FULL, 900),
    )
    first, second, *_ = explain(point)
    assert "90% at ovs:vnf0.a" in first
    assert "the VNF took frames more slowly" in first
    assert second.startswith("Another 10% were lost at the SUT's first ring")


def test_a_lone_stray_frame_is_not_worth_a_sentence(run: RunRecord) -> None:
    point = with_drops(
        run.points[4],
        Drop("sut-ingress", DropCause.RX_RING_FULL, 990),
        Drop("ovs:vnf0.a", DropCause.VHOST_TX_RING_FULL, 10),
    )
    assert "vnf0" not in said(point)


def test_it_looks_at_the_lowest_load_that_lost_frames_in_time_that_counts(run: RunRecord) -> None:
    for point in run.points:
        result = point.result
        assert result is not None
        floor = result.bracket.carried_fps if result.bracket else None
        if result.ndr is not None and result.ndr.lower is not None:
            floor = result.ndr.lower.load_fps
        assert floor is not None
        decisive = first_loss(point)
        assert decisive is not None
        assert lost_in_what_counts(decisive)
        assert decisive.intended_load_fps > floor
        for stored in point.trials:
            trial = stored.trial
            if lost_in_what_counts(trial) and trial.stage is not Stage.WARM_UP:
                load = trial.intended_load_fps
                assert load <= floor or load >= decisive.intended_load_fps


def test_whole_trial_counters_are_called_that_beside_gated_figures(run: RunRecord) -> None:
    assert "lost in undisturbed time" in said(run.points[0])
    assert "Of all that the trial lost, disturbed time included, all at" in said(run.points[0])
    assert "disturbed" not in explain(run.points[2])[0]


def without_counted_loss(point: PointRecord, growth_frames: float) -> PointRecord:
    """Nothing lost in time that counts, and queues that grew by so much a run."""
    trials = []
    for stored in point.trials:
        gated = stored.trial.gated
        assert gated is not None
        runs = tuple(replace(r, lost=0, growth_frames=growth_frames) for r in gated.runs)
        gated = replace(gated, runs=runs, steady_lost=0)
        trials.append(replace(stored, trial=replace(stored.trial, gated=gated)))
    return replace(point, trials=tuple(trials))


def test_loss_in_disturbed_time_explains_nothing(run: RunRecord) -> None:
    point = without_counted_loss(run.points[0], 0.0)
    assert any(stored.trial.lost for stored in point.trials)
    assert first_loss(point) is None
    assert "the limit was not reached" in said(point)


def test_queues_that_grow_tell_of_an_overload_without_loss(run: RunRecord) -> None:
    text = said(without_counted_loss(run.points[0], 1e4))
    assert "queues grew by" in text
    assert "the limit was not reached" not in text


def test_where_nothing_counts_nobody_knows(run: RunRecord) -> None:
    trials = tuple(
        replace(s, trial=replace(s.trial, quiet=False, gated=None, fault="counters contradict"))
        for s in run.points[0].trials
    )
    point = replace(run.points[0], trials=trials)
    assert first_loss(point) is None
    assert "the limit was not reached" not in said(point)


def test_what_bounds_the_rig_is_said(run: RunRecord) -> None:
    assert "share a core" in said(run.points[3])
    assert "share a core" not in said(run.points[0])
    result = run.points[0].result
    assert result is not None
    for reason in ("generator", "max_load"):
        limited = replace(run.points[0], result=replace(result, limited_by=reason))
        assert "may be faster" in said(limited)


def test_the_reference_sut_is_limited_by_nothing_but_itself(tmp_path: Path) -> None:
    (point,) = sample_run(tmp_path, "sut.impair.rate_fps=1e6", study="wire").points
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
    assert "the SUT itself pauses for longer than its rings last" in said(point)
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
        where = CpuPlacement(core_to_core_ns, slowdown)
        point = run.points[3]
        trials = tuple(
            replace(t, trial=replace(t.trial, seen=replace(t.trial.seen, placement=(where, where))))
            for t in point.trials
        )
        return said(replace(point, trials=trials))

    assert "cache line" not in said(run.points[3])
    assert "cache line" not in placed(45, 1.0)
    assert "takes 210 ns from one polling CPU to another" in placed(210, 1.0)
    assert "slow each other" not in placed(210, 1.05)
    assert "slow each other 1.5x: they are threads of one core" in placed(35, 1.5)


def test_a_core_that_something_else_uses_is_told(run: RunRecord) -> None:
    assert "Something else used a forwarding core for 71% of the time" in said(run.points[0])
    assert "forwarding core" not in said(run.points[1])
    assert "forwarding core" not in said(run.points[2])


def test_what_keeps_a_point_from_a_better_grade_is_told(run: RunRecord) -> None:
    assert "Grade C: something else used the SUT's core for 72% of the time." in said(run.points[0])
    assert "Grade" not in said(run.points[2])


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
