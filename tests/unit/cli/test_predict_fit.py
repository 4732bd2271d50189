# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.sample import sample_run
from wirespeed.cli.input.predict_input import observations_of
from wirespeed.cli.verbs.predict_elsewhere import graded
from wirespeed.cli.verbs.predict_fit import chosen, fit_each, print_check
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.errors import BadInput
from wirespeed.model.plan.prediction import Attachment, RateKind
from wirespeed.model.result.result import Grade
from wirespeed.predict.observation import Observation, parse_observations, split_by_placement
from wirespeed.store.records import RunRecord

NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES
S2_CSV = Path(__file__).parents[3] / "src" / "wirespeed" / "published" / "data" / "s2.csv"


@pytest.fixture(scope="module")
def sriov() -> tuple[Observation, ...]:
    """Return S2's rates of one interface, which need few parameters."""
    found = parse_observations(S2_CSV.read_text(), "s2.csv")
    return tuple(o for o in found if o.case.attachment is Attachment.SRIOV)


@pytest.fixture
def run(tmp_path: Path) -> RunRecord:
    return sample_run(tmp_path)


def placed(observations: tuple[Observation, ...], kind: PlacementKind, factor: float) -> list[
    Observation
]:  # fmt: skip
    return [replace(o, placement=kind, rate_fps=factor * o.rate_fps) for o in observations]


def test_fit_each_placement_has_parameters_of_its_own(sriov: tuple[Observation, ...]) -> None:
    both = (*placed(sriov, FAR, 0.6), *placed(sriov, NEAR, 1.0))
    near, far = fit_each(split_by_placement(both), "run x", {}, None)
    assert near.parameters.source == "run x, polling CPUs within one cache"
    assert far.parameters.source == "run x, polling CPUs across caches"
    (alone,) = fit_each({None: sriov}, "run x", {}, None)
    assert near.parameters.values == alone.parameters.values
    assert near.parameters.values != far.parameters.values
    pooled = fit_each({None: both}, "run x", {}, None)[0]
    assert pooled.parameters.error > 2 * near.parameters.error


def test_fit_each_too_few_rates_in_one_placement_names_it(
    sriov: tuple[Observation, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    both = (*placed(sriov, NEAR, 1.0), *placed(sriov[:1], FAR, 0.6))
    (found,) = fit_each(split_by_placement(both), "run x", {}, None)
    assert found.parameters.points == len(sriov)
    assert "not fitted: run x, polling CPUs across caches: 1 points" in capsys.readouterr().err
    with pytest.raises(BadInput, match="across caches: 1 points"):
        fit_each(chosen(both, "across caches"), "run x", {}, None)


def test_chosen_placement_that_no_rate_has_is_rejected(sriov: tuple[Observation, ...]) -> None:
    assert list(chosen(sriov, None)) == [None]
    with pytest.raises(BadInput, match="--placement one core: no rate was measured there"):
        chosen(placed(sriov, NEAR, 1.0), "one core")
    with pytest.raises(BadInput, match="--placement near: unknown"):
        chosen(sriov, "near")


def test_check_prints_the_error_of_held_out_curves(sriov: tuple[Observation, ...]) -> None:
    (found,) = fit_each({None: sriov}, "run x", {}, None)
    console = Console(file=io.StringIO(), width=100)
    print_check(found, console)
    assert "Median error of the held-out points: " in console.file.getvalue()  # type: ignore[attr-defined]
    one_curve = [o for o in sriov if o.curve == sriov[0].curve]
    print_check(replace(found, observations=tuple(one_curve)), console)
    assert "Not checked: 1 curves" in console.file.getvalue()  # type: ignore[attr-defined]


def test_observations_of_a_point_are_of_each_placement_that_has_a_grade(run: RunRecord) -> None:
    point = run.points[0]
    assert point.result is not None
    other = replace(point.result, placement=FAR, mrr_fps=1e6)
    bracket = replace(other, grade=Grade.D)
    result = replace(point.result, placement=NEAR, mrr_fps=2e6, by_placement=(other,))
    both = observations_of(graded(replace(point, result=result)), RateKind.MRR)
    assert [(o.placement, o.rate_fps) for o in both] == [(NEAR, 2e6), (FAR, 1e6)]
    result = replace(result, by_placement=(bracket,))
    (one,) = observations_of(graded(replace(point, result=result)), RateKind.MRR)
    assert one.placement is NEAR
    result = replace(result, grade=Grade.D)
    assert observations_of(graded(replace(point, result=result)), RateKind.MRR) == []
