# SPDX-License-Identifier: Apache-2.0
"""Define the tune document; its JSON Schema is made from these types."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from wirespeed.experiment.tuned import Verdict
from wirespeed.experiment.turns import Answer
from wirespeed.model.cpus import PlacementKind
from wirespeed.report.json.explain_types import ExplainedRun
from wirespeed.report.json.trial_types import Count


class TuneGoal(TypedDict):
    """Quantity that is improved."""

    name: Literal["mrr", "ndr", "p99", "p999"]
    unit: str
    worth: float
    """Smallest relative gain that is worth a change."""


class TunedFactor(TypedDict):
    """One factor and its effect in the screening."""

    name: str
    verdict: Verdict | Literal["not tried"]
    change: str
    """The other level; empty where it was not tried."""
    cost: str
    gain: float | None
    """Relative effect of the other level; null where it was not tried."""
    low: float | None
    """Lower bound of the effect's 95% interval."""
    high: float | None
    why: str
    """Reason why it was not tried."""


class GainInterval(TypedDict):
    """Bounds of a relative gain."""

    low: float
    high: float


class Confirmation(TypedDict):
    """Fresh pairs of the chosen settings and the start."""

    answer: Answer
    gain: float
    low: float
    high: float | None
    """Null if the bound is infinite."""
    pairs: Count


class TuneMeasurement(TypedDict):
    """One measurement, in the order in which they were made."""

    stage: Literal["screening", "foldover", "confirmation"]
    factors: list[str]
    """Factors at their other level."""
    value: float | None
    placement: PlacementKind | None


class TuneKept(TypedDict):
    """A setting of the host that --keep applied; `wirespeed rollback` restores the old value."""

    name: str
    factor: str
    """Factor that it belongs to; empty for the unit that sets it again at boot, and for a setting
    of an earlier search that was changed since."""
    state: str
    """"done", "already so", "with exceptions", or why it was not set."""
    old: str
    new: str
    note: str
    until_reboot: bool
    """True if the next reboot loses it."""


class TuneDocument(TypedDict):
    """Document of `wirespeed tune --json`: the factors, their effects, the confirmation and the
    settings to keep."""

    schema_version: str
    """Major and minor version of this schema."""
    run: ExplainedRun
    point: str
    """Label of the tuned point."""
    goal: TuneGoal
    headline: str
    """The answer in a sentence."""
    factors: list[TunedFactor]
    interactions: list[str]
    """Interactions of two factors that were proven, a sentence each."""
    possible: GainInterval
    """Interval of the gain of the most promising factor."""
    confirmation: Confirmation | None
    """Null if nothing was worth confirming."""
    void: str | None
    """Reason why nothing can be concluded."""
    overrides: dict[str, Any]
    """Keys of the study that the proven factors set."""
    host_files: dict[str, str]
    """Files of the host that the proven factors set."""
    limit: str
    """Limit of the point with the settings that were measured last; empty if unknown."""
    next_change: str
    """Change that would lift this limit; empty if none is known."""
    measurements: list[TuneMeasurement]
    kept: list[TuneKept] | None
    """Settings that --keep applied to the host; null without --keep."""
