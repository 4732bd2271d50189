# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.fake_rig import FACTS
from tests.support.sample import sample_run
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import first_loss
from wirespeed.model.result.counted_time import lost_in_what_counts
from wirespeed.model.result.explanation import EvidenceFigure, Explanation
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.result import SearchResult
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


@pytest.mark.parametrize(("ring_frames", "named"), [(1024, False), (0, True)])
def test_queues_that_grew_by_more_than_rings_hold_without_loss_were_bursts(
    run: RunRecord, ring_frames: int, named: bool
) -> None:
    """Of an external SUT it is not known what its rings hold."""
    point = without_counted_loss(run.points[0], 1e4)
    trials = []
    for stored in point.trials:
        seen = stored.trial.observation
        whole = tuple(replace(each, received=each.offered) for each in seen.directions)
        seen = replace(seen, directions=whole, ring_frames=ring_frames)
        trials.append(replace(stored, trial=replace(stored.trial, observation=seen)))
    assert ("queues grew by" in sentences(replace(point, trials=tuple(trials)))) is named


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
