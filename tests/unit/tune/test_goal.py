# SPDX-License-Identifier: Apache-2.0
"""Values of the goals of a search."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from wirespeed.model.result.result import AsIs
from wirespeed.tune.goal import Goal, value_of


@pytest.mark.parametrize(("goal", "value"), [(Goal.P99, 1e9 / 20_000), (Goal.P999, 1e9 / 80_000)])
def test_goal_of_latency_is_the_inverse_of_its_percentile(goal: Goal, value: float) -> None:
    latency = SimpleNamespace(p99_ns=20_000.0, p999_ns=80_000.0)
    result: Any = SimpleNamespace(half_load_latency=latency)
    assert value_of(goal, result) == value
    assert "percentile" in goal.unit


def test_goal_of_latency_without_latency_has_no_value() -> None:
    result: Any = SimpleNamespace(half_load_latency=None)
    assert value_of(Goal.P999, result) is None


@pytest.mark.parametrize(
    ("as_is", "value"), [(AsIs(mrr_fps=3e3), 3e3), (AsIs(), None), (None, None)]
)
def test_goal_over_all_time_is_the_rate_of_whole_trials(
    as_is: AsIs | None, value: float | None
) -> None:
    result: Any = SimpleNamespace(as_is=as_is, mrr_fps=None)
    assert value_of(Goal.MRR_ALL_TIME, result) == value
    assert value_of(Goal.MRR, result) is None
    assert "noise included" in Goal.MRR_ALL_TIME.unit


def test_goal_of_a_rate_has_frames_as_its_unit() -> None:
    assert Goal.MRR.unit == Goal.NDR.unit == "frames/s"
