# SPDX-License-Identifier: Apache-2.0
"""What is known of a point's limit, all of it, by the rules of this version?

Reports show explanations as they were stored when the point was complete. Here they are made anew
from what the run stores, so that an older run has the benefit of newer rules.
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
from wirespeed.model.explanation import Explanation, ResourceUse
from wirespeed.model.finding import Finding
from wirespeed.model.result import SearchResult
from wirespeed.model.study import flat
from wirespeed.report.limits import measured
from wirespeed.report.path import PathView, path_view
from wirespeed.store.records import PointRecord, RunRecord

_FRAME = "traffic.frame"


@dataclass(frozen=True, slots=True)
class Explained:
    """why_not: why a point cannot be explained, a sentence; then there is nothing else.

    limits: what the explainers found, most important first. resources: that which limits first;
    empty for TCP, for emulated points and where no trial counts. changes: of `limits`, those that
    propose one, the largest expected gain first. path: None where it is not known.
    findings: of the audit as the run began, those that tell why a resource lacks.
    """

    point: PointRecord
    why_not: str | None = None
    limits: tuple[Explanation, ...] = ()
    resources: tuple[ResourceUse, ...] = ()
    changes: tuple[Explanation, ...] = ()
    path: PathView | None = None
    findings: tuple[Finding, ...] = ()


def explained(run: RunRecord, point: PointRecord) -> Explained:
    """Everything that the run tells of the point."""
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
    """The point as an explainer sees it, with what the run's other points tell of it."""
    found = measured(point, run.host)
    return None if found is None else replace(found, other_sizes=tuple(_sizes(run, point)))


def check_evidence(run: RunRecord) -> None:
    """Raises BadInput for a run of a version that stored nothing to explain it by.

    Since schema 0002 a trial is judged by its windows, and what disturbed it is stored; before, a
    trial was kept or thrown away as a whole.
    """
    done = [point for point in run.points if point.result is not None]
    if done and all(point.explanations is None and not _has_evidence(point) for point in done):
        raise BadInput(
            f"run {run.id} has no evidence to explain it by: wirespeed "
            f"{run.versions.get('wirespeed', 'of an older version')} stored none with its trials",
            f"Measure it again: wirespeed run {run.study}",
        )


def _has_evidence(point: PointRecord) -> bool:
    return point.tcp is not None or any(stored.trial.gated for stored in point.trials)


def _unfinished(point: PointRecord) -> str:
    why = f": {point.error}" if point.error else ""
    return f"it is {str(point.state).replace('_', ' ')}{why}, so that there is nothing to explain"


def _without_figures(result: SearchResult) -> str | None:
    if result.not_measurable is None:
        return None
    return f"it has no figure: {result.not_measurable}"


def _sizes(run: RunRecord, point: PointRecord) -> Iterator[tuple[float, float]]:
    """This point and those that differ from it in the size of frames alone, at their best."""
    if point.tcp is not None:
        return
    own = _without_size(point)
    for other in run.points:
        if other.result is None or other.tcp is not None or other.emulated:
            continue
        if _without_size(other) == own and other.result.mrr_fps:
            yield other.frames.mean_wire_bytes, other.result.mrr_fps


def _without_size(point: PointRecord) -> dict[str, object]:
    return {key: value for key, value in flat(point.parameters).items() if key != _FRAME}
