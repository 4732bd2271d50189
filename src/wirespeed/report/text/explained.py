# SPDX-License-Identifier: Apache-2.0
"""Explain what limits a point, by the rules of this version.

Reports show explanations as stored when the point was complete. Here they are derived again from
the run's data, so that newer rules apply to older runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from wirespeed.explain.audited import related
from wirespeed.explain.explain import explain
from wirespeed.explain.gains import advice
from wirespeed.explain.interface import Measured
from wirespeed.explain.resources import resources
from wirespeed.model.errors import BadInput
from wirespeed.model.host.finding import Finding
from wirespeed.model.result.explanation import Explanation, ResourceUse
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.study import flat
from wirespeed.report.text.limits import measured
from wirespeed.report.text.path import PathView, path_view
from wirespeed.store.records import PointRecord, RunRecord

_FRAME = "traffic.frame"


@dataclass(frozen=True, slots=True)
class Explained:
    """Explanation of a point."""

    point: PointRecord
    why_not: str | None = None
    """Sentence on a point that cannot be explained; the other fields are then empty."""
    limits: tuple[Explanation, ...] = ()
    """Results of the explainers, most important first."""
    resources: tuple[ResourceUse, ...] = ()
    """Uses of resources, that which limits first; empty without frames, for emulated points and
    where no trial counts.
    """
    changes: tuple[Explanation, ...] = ()
    """Those of `limits` that propose a change, the largest expected gain first."""
    path: PathView | None = None
    """None where it is unknown."""
    findings: tuple[Finding, ...] = ()
    """Audit findings at the run's start that explain why a resource is short."""


def explained(run: RunRecord, point: PointRecord) -> Explained:
    """Return everything that the run knows of the point."""
    found = seen_in(run, point)
    if found is None:
        return Explained(point, _unfinished(point))
    if (why := _without_figures(found.result)) is not None:
        return Explained(point, why)
    limits = explain(found)
    uses, changes = resources(found, limits), advice(found, limits)
    findings = related(uses, run.audits or ())
    return Explained(point, None, limits, uses, changes, path_view(point), findings)


def seen_in(run: RunRecord, point: PointRecord) -> Measured | None:
    """Return the point as an explainer sees it, with data of the run's other points."""
    found = measured(point, run.host)
    return None if found is None else replace(found, other_sizes=tuple(_sizes(run, point)))


def check_evidence(run: RunRecord) -> None:
    """Raise BadInput for a run of a version that stored nothing to explain it by.

    Since schema 0002 a trial is judged by its windows, and its noise is stored. Before, a trial was
    kept or rejected as a whole.
    """
    done = [point for point in run.points if point.result is not None]
    if done and all(point.explanations is None and not _has_evidence(point) for point in done):
        raise BadInput(
            f"run {run.id} has no evidence to explain it by: wirespeed "
            f"{run.versions.get('wirespeed', 'of an older version')} stored none with its trials",
            f"Measure it again: wirespeed run {run.study}",
        )


def _has_evidence(point: PointRecord) -> bool:
    return not point.offers_frames or any(stored.trial.gated for stored in point.trials)


def _unfinished(point: PointRecord) -> str:
    why = f": {point.error}" if point.error else ""
    return f"it is {str(point.state).replace('_', ' ')}{why}, so that there is nothing to explain"


def _without_figures(result: SearchResult) -> str | None:
    if result.not_measurable is None:
        return None
    return f"it has no rate: {result.not_measurable}"


def _sizes(run: RunRecord, point: PointRecord) -> Iterator[tuple[float, float]]:
    """Yield frame size and best rate of this point and of those that differ only in frame size."""
    if not point.offers_frames:
        return
    own = _without_size(point)
    for other in run.points:
        if other.result is None or not other.offers_frames or other.emulated:
            continue
        if _without_size(other) == own and other.result.mrr_fps:
            yield other.frames.mean_wire_bytes, other.result.mrr_fps


def _without_size(point: PointRecord) -> dict[str, object]:
    return {key: value for key, value in flat(point.parameters).items() if key != _FRAME}
