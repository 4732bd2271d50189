# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.fake_rig import FACTS
from tests.support.sample import sample_run
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import first_loss, lost_in_what_counts
from wirespeed.model.cpus import CpuPlacement, PlacementKind
from wirespeed.model.result.explanation import EvidenceFigure, Explanation, GainKind
from wirespeed.model.result.hop_counts import Drop, DropCause, WorkerShare
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.report.text.limits import measured
from wirespeed.store.records import PointRecord, RunRecord


def deciding(point: PointRecord) -> tuple[int, Trial] | None:
    return first_loss([stored.trial for stored in point.trials], point.result)


def dropping(trial: Trial, drops: tuple[Drop, ...]) -> Trial:
    return replace(trial, observation=replace(trial.observation, drops=drops))


def with_drops(point: PointRecord, *drops: Drop) -> PointRecord:
    """Return the point with these drops in the trial that decides."""
    decisive = deciding(point)
    assert decisive is not None
    trials = tuple(
        replace(
            stored,
            trial=replace(stored.trial, observation=replace(stored.trial.observation, drops=drops)),
        )
        if stored.trial is decisive[1]
        else stored
        for stored in point.trials
    )
    return replace(point, trials=trials)


def explained(point: PointRecord) -> tuple[Explanation, ...]:
    """As it would be explained now, whatever is stored."""
    found = measured(point, FACTS)
    assert found is not None
    return explain(found)


def sentences(point: PointRecord) -> str:
    return " ".join(found.sentence for found in explained(point))


def with_result(point: PointRecord, **changes: object) -> PointRecord:
    assert point.result is not None
    return replace(point, result=replace(point.result, **changes))  # type: ignore[arg-type]


def only(point: PointRecord, limit: str) -> Explanation:
    (found,) = [found for found in explained(point) if found.limit == limit]
    return found


def test_frames_consumed_by_the_vnf_are_no_loss(run: RunRecord) -> None:
    drops = [Drop("vnf0", DropCause.VNF_HANDLED, 200), Drop("tg", DropCause.MISDIRECTED, 123)]
    first = explained(with_drops(run.points[2], *drops))[0].sentence
    assert (
        "all of them were dropped at tg: they arrived with the tags, key or addresses of another"
        in first
    )


@pytest.mark.parametrize("cause", sorted(set(DropCause) - {DropCause.VNF_HANDLED}))
def test_every_cause_is_explained(run: RunRecord, cause: DropCause) -> None:
    point = with_drops(run.points[2], Drop("ovs:port0", cause, 1000))
    first = explained(point)[0].sentence
    assert "all of them were dropped at ovs:port0: " in first
    assert len(first.partition("ovs:port0: ")[2]) > 20


def test_the_cause_with_the_most_frames_comes_first(run: RunRecord) -> None:
    point = with_drops(
        run.points[4],
        Drop("sut-ingress", DropCause.RX_RING_FULL, 100),
        Drop("switch:vnf0a", DropCause.VHOST_TX_RING_FULL, 900),
    )
    first, second, *_ = explained(point)
    assert (first.limit, second.limit) == ("vhost_tx_ring_full", "rx_ring_full")
    assert "90% were dropped at switch:vnf0a" in first.sentence
    assert "the VNF took frames more slowly" in first.sentence
    assert second.sentence.startswith("Another 10% were dropped at the SUT's first ring")


def test_a_lone_stray_frame_is_not_worth_a_sentence(run: RunRecord) -> None:
    point = with_drops(
        run.points[4],
        Drop("sut-ingress", DropCause.RX_RING_FULL, 990),
        Drop("switch:vnf0a", DropCause.VHOST_TX_RING_FULL, 10),
    )
    assert "vnf0" not in sentences(point)


def test_the_deciding_trial_is_at_the_lowest_load_that_lost_counted_frames(run: RunRecord) -> None:
    for point in run.points:
        result = point.result
        assert result is not None
        floor = result.bracket.carried_fps if result.bracket else None
        if result.ndr is not None and result.ndr.lower is not None:
            floor = result.ndr.lower.load_fps
        assert floor is not None
        found = deciding(point)
        assert found is not None
        number, decisive = found
        assert point.trials[number - 1].trial is decisive
        assert lost_in_what_counts(decisive)
        assert decisive.intended_load_fps > floor
        for stored in point.trials:
            trial = stored.trial
            if lost_in_what_counts(trial) and trial.stage is not Stage.WARM_UP:
                load = trial.intended_load_fps
                assert load <= floor or load >= decisive.intended_load_fps


def test_counters_of_whole_trials_are_marked_next_to_gated_rates(run: RunRecord) -> None:
    assert "lost frames in clean time" in sentences(run.points[0])
    said = sentences(run.points[0])
    assert "Of the frames that the whole trial lost, all were dropped at" in said
    assert "disturbed" not in explained(run.points[2])[0].sentence


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


def test_loss_in_noisy_time_explains_nothing(run: RunRecord) -> None:
    point = without_counted_loss(run.points[0], 0.0)
    assert any(stored.trial.lost for stored in point.trials)
    assert deciding(point) is None
    assert "The limit was not reached" in sentences(point)


def test_queues_that_grow_tell_of_an_overload_without_loss(run: RunRecord) -> None:
    text = sentences(without_counted_loss(run.points[0], 1e4))
    assert "queues grew by" in text
    assert "The limit was not reached" not in text


def test_a_point_without_counted_trials_has_no_deciding_trial(run: RunRecord) -> None:
    trials = tuple(
        replace(s, trial=replace(s.trial, quiet=False, gated=None, fault="counters contradict"))
        for s in run.points[0].trials
    )
    point = replace(run.points[0], trials=trials)
    assert deciding(point) is None
    assert "The limit was not reached" not in sentences(point)


def test_a_limit_of_the_bench_is_named(run: RunRecord) -> None:
    assert "share a core" in sentences(run.points[3])
    assert "share a core" not in sentences(run.points[0])
    result = run.points[0].result
    assert result is not None
    for reason in ("generator", "max_load"):
        limited = replace(run.points[0], result=replace(result, limited_by=reason))
        assert "may be faster" in sentences(limited)


def test_the_reference_sut_is_limited_by_nothing_but_itself(tmp_path: Path) -> None:
    (point,) = sample_run(tmp_path, "sut.impair.rate_fps=1e6", study="wire").points
    assert point.result is not None
    assert point.result.limited_by == "shared_lcore"
    assert "share a core" not in sentences(point)


def test_loss_far_below_saturation_is_distinguished_from_saturation(run: RunRecord) -> None:
    result = run.points[0].result
    assert result is not None
    assert result.ndr is not None
    assert result.ndr.lower is not None
    low = replace(result.ndr, lower=replace(result.ndr.lower, load_fps=4e6))
    point = replace(run.points[0], result=replace(result, ndr=low))
    assert "the SUT itself pauses for longer than its rings last" in sentences(point)
    assert "256 \N{MICRO SIGN}s of traffic" in sentences(point)
    assert "pauses" not in sentences(run.points[0])


def test_a_sut_that_overload_slows_down_is_reported(run: RunRecord) -> None:
    point = run.points[0]
    assert point.result is not None
    assert "overload itself" not in sentences(point)
    slowed = replace(point, result=replace(point.result, mrr_fps=1e6))
    assert "overload itself slows the SUT" in sentences(slowed)
    assert "each frame takes 1000 ns" not in sentences(slowed)


def test_cpus_that_share_no_cache_or_share_a_core_are_reported(run: RunRecord) -> None:
    def placed(core_to_core_ns: float, slowdown: float) -> str:
        where = CpuPlacement(core_to_core_ns, slowdown)
        point = run.points[3]
        trials = tuple(
            replace(
                t,
                trial=replace(
                    t.trial, observation=replace(t.trial.observation, placement=(where, where))
                ),
            )
            for t in point.trials
        )
        return sentences(replace(point, trials=trials))

    assert "cache line" not in sentences(run.points[3])
    assert "cache line" not in placed(45, 1.0)
    assert "takes 210 ns from one to another" in placed(210, 1.0)
    assert "slow each other" not in placed(210, 1.05)
    assert "slow each other 1.5x: they are threads of one core" in placed(35, 1.5)


def test_explain_point_of_two_placements_looks_at_the_one_of_its_rates(run: RunRecord) -> None:
    point = run.points[0]
    lossy = deciding(point)
    assert point.result is not None
    assert lossy is not None
    near, far = CpuPlacement(45, 1.0), CpuPlacement(210, 1.0)
    lower = replace(
        lossy[1],
        observation=replace(
            lossy[1].observation,
            intended_load_fps=0.999 * lossy[1].intended_load_fps,
            placement=(far, far),
        ),
    )
    trials = tuple(
        replace(
            s,
            trial=replace(s.trial, observation=replace(s.trial.observation, placement=(near,) * 2)),
        )
        for s in point.trials
    )
    elsewhere = replace(
        point,
        trials=(*trials, replace(trials[0], trial=lower)),
        result=replace(point.result, placement=PlacementKind.ONE_CACHE),
    )
    found = deciding(elsewhere)
    assert found is not None
    assert found[0] == lossy[0], "the lower load lost frames in another placement"
    assert "cache line" not in sentences(elsewhere), "the last trial ran across caches"


def found_at(kind: PlacementKind, mrr_fps: float, **found: object) -> SearchResult:
    rate = {"mrr_half_interval": 0.05, "grade": Grade.B, **found}
    return SearchResult("quick", False, (), mrr_fps=mrr_fps, placement=kind, **rate)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("near_fps", "found", "told"),
    [
        (8e6, {}, True),
        (6.2e6, {}, False),
        (8e6, {"grade": Grade.D}, False),
        (8e6, {"mrr_half_interval": None}, False),
    ],
    ids=["plain", "within the intervals", "a bracket", "without an interval"],
)
def test_gain_of_one_cache_is_measured_or_not_reported(
    run: RunRecord, near_fps: float, found: dict[str, object], told: bool
) -> None:
    """Across caches 6 Mpps were received, give or take 5%."""
    far = CpuPlacement(210, 1.0)
    point = run.points[2]
    trials = tuple(
        replace(
            t,
            trial=replace(t.trial, observation=replace(t.trial.observation, placement=(far, far))),
        )
        for t in point.trials
    )
    assert point.result is not None
    near = found_at(PlacementKind.ONE_CACHE, near_fps, **found)
    result = replace(
        point.result, placement=PlacementKind.ACROSS_CACHES, mrr_fps=6e6, mrr_half_interval=0.05,
        grade=Grade.C, by_placement=(near,),
    )  # fmt: skip
    gain = only(replace(point, trials=trials, result=result), "core_to_core_latency").gain
    assert (gain is not None) is told
    if gain is not None:
        assert gain.kind is GainKind.MEASURED
        assert gain.value == pytest.approx(2e6)
        assert "95% interval 1.500 to 2.500" in gain.estimated


def test_a_core_that_something_else_uses_is_reported(run: RunRecord) -> None:
    assert "Something else used a forwarding core for 71% of the time" in sentences(run.points[0])
    assert "forwarding core" not in sentences(run.points[1])
    assert "forwarding core" not in sentences(run.points[2])


def test_workers_are_reported_as_even_or_uneven(run: RunRecord) -> None:
    """Over all trials, both directions: here the loads are 60, 40 and 50 of a mean of 50."""
    point = run.points[0]
    assert "workers" not in sentences(point)
    loads = ((45, 35, 40), (15, 5, 10))
    trials = tuple(
        replace(
            stored,
            trial=replace(
                stored.trial,
                observation=replace(
                    stored.trial.observation,
                    workers=tuple(WorkerShare("vnf0", n, load) for n, load in enumerate(frames)),
                ),
            ),
        )
        for stored, frames in zip(point.trials, loads, strict=False)
    )
    text = sentences(replace(point, trials=trials))
    assert "3 workers shared the frames: the busiest took 20.0% more than the mean, " in text
    assert "the idlest 20.0% less" in text


def test_evidence_is_data_with_unit_and_source(run: RunRecord) -> None:
    decisive = deciding(run.points[4])
    assert decisive is not None
    number, trial = decisive
    (drop,) = trial.observation.drops
    found = explained(run.points[4])[0]
    source = f"trial {number}, counters of switch:vnf0a, whole trial"
    dropped = EvidenceFigure("dropped for vhost_tx_ring_full", drop.frames, "frames", source)
    assert dropped in found.evidence
    load = EvidenceFigure("load", trial.intended_load_fps, "frames/s", f"trial {number}")
    assert load in found.evidence


def test_busy_shares_of_sut_threads_are_evidence(run: RunRecord) -> None:
    point = run.points[0]
    decisive = deciding(point)
    assert decisive is not None
    number, trial = decisive
    generator, pmd = trial.observation.threads
    threads = (replace(generator, busy_share=0.2), replace(pmd, busy_share=0.97))
    busy = replace(trial, observation=replace(trial.observation, threads=threads))
    trials = tuple(
        replace(stored, trial=busy) if stored.trial is trial else stored for stored in point.trials
    )
    found = explained(replace(point, trials=trials))[0]
    figures = [figure for figure in found.evidence if "busy" in figure.name]
    assert figures == [EvidenceFigure("busy share of pmd2", 0.97, "ratio", f"trial {number}")]


def test_a_full_first_ring_proposes_what_gives_that_sut_more_cpus(run: RunRecord) -> None:
    point = run.points[0]
    assert point.sut is not None
    found = explained(point)[0]
    assert found.proposal is not None
    assert found.proposal.setting == "sut.vswitch.pmd_cpus, sut.vswitch.rx_queues"
    own = replace(
        point.sut, name="my own", entrance="its only port", more_cpus="sut.my.cpus", causes=()
    )
    found = explained(replace(point, sut=own))[0]
    assert (
        "all were dropped at its only port: the core that polls this receive ring" in found.sentence
    )
    assert found.proposal is not None
    assert (found.proposal.setting, found.proposal.keys) == ("sut.my.cpus", ())
    reference = replace(point.sut, reference=True)
    assert explained(replace(point, sut=reference))[0].proposal is None


def test_a_gain_is_known_only_where_figures_tell_it(run: RunRecord) -> None:
    loud, point = run.points[0], run.points[0]
    gain = only(loud, "core_contention").gain
    result = loud.result
    assert result is not None
    assert gain is not None
    assert result.mrr_fps is not None
    assert result.as_is is not None
    assert gain.value == result.mrr_fps - (result.as_is.mrr_fps or 0.0)
    unknown = with_result(point, as_is=None)
    assert only(unknown, "core_contention").gain is None
    assert all(found.gain is None for found in explained(run.points[2]))


def test_losses_in_pauses_would_gain_the_distance_to_the_pdr(run: RunRecord) -> None:
    ndr = run.points[0].result and run.points[0].result.ndr
    pdr = run.points[0].result and run.points[0].result.pdr
    assert ndr is not None
    assert ndr.lower is not None
    assert pdr is not None
    assert pdr.lower is not None
    low = replace(ndr, lower=replace(ndr.lower, load_fps=4e6))
    gain = only(with_result(run.points[0], ndr=low), "pauses").gain
    assert gain is not None
    assert (gain.value, gain.unit) == (pdr.lower.load_fps - 4e6, "frames/s")


def test_a_stored_point_is_explained_as_it_was_when_it_was_complete(run: RunRecord) -> None:
    for point in run.points:
        assert point.explanations
        assert explained(point) == point.explanations


def test_a_result_without_rates_has_no_explanation(run: RunRecord) -> None:
    sut = run.points[0].sut
    assert sut is not None
    assert explain(Measured(sut, SearchResult("quick", False, ()))) == ()
