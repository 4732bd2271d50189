# SPDX-License-Identifier: Apache-2.0
"""Test the comparison of a point with its prediction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.explain.test_explain import explained, with_result
from wirespeed.model.plan.prediction import Load, Prediction, Resource
from wirespeed.report.compare.predicted import beside_predictions
from wirespeed.store.records import PointRecord, RunRecord

EXPECTED = Prediction(
    5.1e6, 4.7e6, 5.5e6, (Load(Resource.PMDS, 196.0, 1.0),), 0.5, 0.82, 20.0, "this host"
)


def point(run: RunRecord, mrr_fps: float) -> PointRecord:
    first = next(p for p in run.points if p.result is not None and p.result.mrr_fps)
    return replace(with_result(first, mrr_fps=mrr_fps), predicted=EXPECTED)


@pytest.mark.parametrize(
    ("mrr_fps", "limit", "said"),
    [
        (3.2e6, "below_prediction", "Expected 5.100 Mpps (4.700 to 5.500), measured 3.200"),
        (5.2e6, "as_predicted", "limited by the PMD cores"),
        (9.0e6, "above_prediction", "of a slower machine"),
    ],
)
def test_a_rate_is_shown_next_to_its_prediction(
    run: RunRecord, mrr_fps: float, limit: str, said: str
) -> None:
    found = {e.limit: e for e in explained(point(run, mrr_fps))}
    assert said in found[limit].sentence
    assert ("Look for PMD threads" in str(found[limit].proposal)) is (limit == "below_prediction")


def test_the_report_has_both(run: RunRecord) -> None:
    (row,) = beside_predictions([point(run, 3.2e6), *run.points])
    assert row.mrr_fps == 3.2e6
    assert row.miss == pytest.approx(5.1 / 3.2 - 1)
