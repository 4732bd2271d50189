# SPDX-License-Identifier: Apache-2.0
"""Define the explanation document; its JSON Schema is made from these types."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field
from typing_extensions import TypedDict

from wirespeed.explain.tried import Verdict
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.explanation import Explanation, KeyChange, Resource, ResourceUse
from wirespeed.report.json.trial_types import Count, Share
from wirespeed.report.text.path import PathView


class ExplainedRun(TypedDict):
    """The run that is explained."""

    id: str
    study: str
    host: str


class AuditFinding(TypedDict):
    """A finding of the audit as the run began."""

    rule: Annotated[str, Field(pattern="^WS[0-9]+$")]
    title: str
    subject: str
    found: str


class ExplainedPoint(TypedDict):
    """A point with its limits, resources and changes."""

    id: str
    label: str
    why_not: str | None
    """Reason why the point cannot be explained; then all lists are empty."""
    limiting: Resource | None
    """Resource that limits the point; null if none is known to."""
    resources: list[ResourceUse]
    """Uses of all resources, that which limits first; empty for TCP, for emulated points and where
    no trial counts."""
    limits: list[Explanation]
    """Results of the rules, most important first."""
    changes: list[Explanation]
    """Those of the limits that propose a change, each proposal once: the largest expected gain
    first, then those of unknown gain, then those without a gain."""
    findings: list[AuditFinding]
    """Findings of the audit that say why a resource limits or disturbs."""
    path: PathView | None
    """Path with the largest loss in the trial that decides; null if unknown."""


class TriedPair(TypedDict):
    """The rate of one pair, in frames/s; of TCP in bits/s."""

    before: float
    after: float
    placement: PlacementKind | None
    """Placement of the polling CPUs; null if unknown."""
    in_turn: bool
    """One was measured directly after the other."""


class TriedGain(TypedDict):
    """Medians of the rate, and the median of after / before - 1 with its interval by ranks."""

    before: float
    after: float
    gain: float
    low: float
    high: float
    confidence: Share
    """Confidence that the true median lies from low to high; below 0.95 with fewer than six
    pairs."""
    pairs: Annotated[int, Ge(1)]
    verdict: Verdict


class TriedChange(TypedDict):
    """Measurements of a change by --try."""

    run: str
    """Id of the run that holds the measurements."""
    keys: list[KeyChange]
    figure: str | None
    """Name of the strictest rate that most pairs have; null if no pair has one."""
    pairs_measured: Annotated[int, Ge(1)]
    measurements: Count
    """Number of measurements, with and without the change."""
    matched: Count
    """Number of them that are in a pair."""
    waiting: Count
    """Number of them with a rate, but without a partner of the same CPU placement."""
    pairs: list[TriedPair]
    """Pairs in which both measurements have the rate."""
    gain: TriedGain | None
    """Null if no pair has the rate twice."""


class ExplanationDocument(TypedDict):
    """Document of `wirespeed explain --json`: the limits of a run's points, and what to change."""

    schema_version: str
    """Major and minor version of this schema."""
    run: ExplainedRun
    points: Annotated[list[ExplainedPoint], Field(min_length=1)]
    tried: TriedChange | None
    """Measurements of --try; null without it."""
