# SPDX-License-Identifier: Apache-2.0
"""Define the goals of a search, and read the value of a result. Higher values are better."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.errors import BadInput
from wirespeed.model.result.result import SearchResult, lower_fps
from wirespeed.model.study.spec import SearchKind
from wirespeed.model.study.study import Point


class Goal(StrEnum):
    """Quantity to improve."""

    MRR = "mrr"
    MRR_ALL_TIME = "mrr-all-time"
    """MRR of whole trials, noise included: for hosts without clean time."""
    NDR = "ndr"
    P99 = "p99"
    P999 = "p999"

    @property
    def unit(self) -> str:
        if self is Goal.MRR_ALL_TIME:
            return "frames/s, noise included"
        if self not in _OF_LATENCY:
            return "frames/s"
        return f"1/s, of the {'99th' if self is Goal.P99 else '99.9th'} percentile"


_OF_LATENCY = (Goal.P99, Goal.P999)


# Goals that users ask for, and why no study measures them.
_NOT_MEASURED = {
    "cpu-per-frame": "a polling thread uses its whole CPU at any rate, so frames/s of the same "
    "CPUs (mrr) is the same question",
}
# A bench takes longer to come up than its trials: many short points beat few long ones.
_TRIAL_S = 0.3
_WITH_NDR = (SearchKind.QUICK, SearchKind.MLR, SearchKind.RFC2544, SearchKind.TST009)


def goal_named(text: str) -> Goal:
    """Return the goal. Raises BadInput."""
    if text in _NOT_MEASURED:
        raise BadInput(f"--goal {text}: {_NOT_MEASURED[text]}", "Use --goal mrr.")
    if text not in set(Goal):
        raise BadInput(f"--goal {text}: unknown goal", f"Goals: {', '.join(Goal)}.")
    return Goal(text)


def search_for(goal: Goal, point: Point) -> Mapping[str, Any]:
    """Return the keys of [search] that measure the goal at the point. Raises BadInput."""
    if (frames := point.workload.frames) is None:
        raise BadInput(
            f"{point.label}: --goal {goal} is of frames; the point has {point.workload.subject}",
            "Name a study of frames.",
        )
    if goal in (Goal.MRR, Goal.MRR_ALL_TIME):
        trial_s = frames.search.trial_s or _TRIAL_S
        return {
            "search.kind": str(SearchKind.MRR), "search.latency": False, "search.trial_s": trial_s,
        }  # fmt: skip
    if frames.search.kind not in _WITH_NDR:
        raise BadInput(
            f"{point.label}: search.kind = {frames.search.kind} measures no {goal}",
            "Add --set search.kind=quick.",
        )
    return {"search.latency": goal in _OF_LATENCY}


def value_of(goal: Goal, result: SearchResult) -> float | None:
    """Return the value of a result; None where it has none."""
    if goal is Goal.MRR:
        return result.mrr_fps
    if goal is Goal.MRR_ALL_TIME:
        return None if result.as_is is None else result.as_is.mrr_fps
    if goal is Goal.NDR:
        return lower_fps(result.ndr)
    if (latency := result.half_load_latency) is None:
        return None
    found_ns = latency.p99_ns if goal is Goal.P99 else latency.p999_ns
    return 1e9 / found_ns if found_ns else None


def values_of(goal: Goal, result: SearchResult) -> dict[PlacementKind | None, float]:
    """Return the values of a result by CPU placement, the headline first."""
    found = {one.placement: value_of(goal, one) for one in reversed(result.answers)}
    return {kind: value for kind, value in reversed(found.items()) if value}
