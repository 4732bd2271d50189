# SPDX-License-Identifier: Apache-2.0
"""Check explanations of shared, distant and unevenly used CPUs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.sample import observing
from tests.unit.explain.test_explain import deciding, explained, only, sentences
from wirespeed.model.cpus import CpuPlacement, PlacementKind
from wirespeed.model.result.explanation import EvidenceFigure, GainKind
from wirespeed.model.result.hop_counts import WorkerShare
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.store.records import RunRecord


def test_cpus_that_share_no_cache_or_share_a_core_are_reported(run: RunRecord) -> None:
    def placed(core_to_core_ns: float, slowdown: float) -> str:
        where = CpuPlacement(core_to_core_ns, slowdown)
        point = run.points[3]
        return sentences(observing(point, placement=(where, where)))

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
    trials = observing(point, placement=(near, near)).trials
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
    assert point.result is not None
    near = found_at(PlacementKind.ONE_CACHE, near_fps, **found)
    result = replace(
        point.result, placement=PlacementKind.ACROSS_CACHES, mrr_fps=6e6, mrr_half_interval=0.05,
        grade=Grade.C, by_placement=(near,),
    )  # fmt: skip
    gain = only(
        replace(observing(point, placement=(far, far)), result=result), "core_to_core_latency"
    ).gain
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
