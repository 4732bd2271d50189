# SPDX-License-Identifier: Apache-2.0
"""Collect the limits of a point, and the other remarks on its result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.explain.changes import with_values
from wirespeed.explain.expected import expected
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured, tsc_hz
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.result.explanation import ExpectedGain, Explanation
from wirespeed.model.result.result import SearchResult
from wirespeed.model.words import gbps, mpps
from wirespeed.report.text.grades import because
from wirespeed.report.views.workloads import view_of
from wirespeed.store.records import PointRecord


def measured(point: PointRecord, host: HostFacts | None = None) -> Measured | None:
    """Return the point as an explainer sees it; None before it is complete. host: the run's."""
    if point.result is None or point.sut is None:
        return None
    trials = tuple(stored.trial for stored in point.trials)
    return Measured(
        point.sut, replace(point.result, trials=trials), point.predicted, point.workload,
        point.plan, host, tsc_hz(point.bench),
    )  # fmt: skip


def explanations(point: PointRecord) -> tuple[Explanation, ...]:
    """Return explanations as stored; those of an older version's run are derived now.

    The comparison with the prediction is always derived now: predictions are not stored.
    """
    found = measured(point)
    if point.explanations is not None:
        now = () if found is None else (with_values(found, each) for each in expected(found))
        return (*point.explanations, *now)
    return () if found is None else explain(found)


def remarks(point: PointRecord) -> tuple[str, ...]:
    """Return remarks that are no limits: missing rates, reasons of the grade, search notes."""
    result = point.result
    if result is None:
        return ()
    if not result.searched:
        return tuple(view_of(result).remarks(result, point.sut))
    return tuple(_of_frames(result))


def _of_frames(result: SearchResult) -> Iterator[str]:
    if result.not_measurable is not None:
        yield f"Not measurable: {result.not_measurable}."
    yield from because(result)
    yield from (f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in result.notes)


def gain_words(gain: ExpectedGain) -> str:
    """Format a gain: "at most 1.240 Mpps (the PDR minus the NDR)"."""
    return f"{gain.kind} {gain_value(gain)} ({gain.estimated})"


def gain_value(gain: ExpectedGain) -> str:
    """Format a gain's value: "1.240 Mpps"."""
    values = {
        "frames/s": f"{mpps(gain.value)} Mpps",
        "bits/s": f"{gbps(gain.value)} Gbps",
        "x": f"{gain.value:.1f}x",
    }
    return values.get(gain.unit, f"{gain.value:g} {gain.unit}")


def figure_words(value: float) -> str:
    """Format a value of the evidence: whole numbers in full, others to four digits."""
    return f"{value:,.0f}" if value == round(value) or value >= 1e4 else f"{value:.4g}"
