# SPDX-License-Identifier: Apache-2.0
"""Represent what a search for faster settings found, for a terminal, a page and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.experiment.turns import Answer, Ratio
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.words import counted


@dataclass(frozen=True, slots=True)
class FactorRow:
    """One factor."""

    name: str
    verdict: str
    """One of experiment.tuned.Verdict, or "not tried"."""
    change: str = ""
    """Its other level; empty where it was not tried."""
    cost: str = ""
    gain: float | None = None
    """Relative effect of the other level; None where it was not tried."""
    low: float | None = None
    """Lower bound of the effect's 95% interval."""
    high: float | None = None
    why: str = ""
    """Reason why it was not tried."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement in order."""

    stage: str
    factors: tuple[str, ...]
    """Factors at their other level."""
    value: float | None
    placement: PlacementKind | None


@dataclass(frozen=True, slots=True)
class KeptSetting:
    """A setting of the host that was kept, or that could not be."""

    name: str
    factor: str
    """Factor that it belongs to; empty for the unit that sets it again at boot."""
    state: str
    old: str
    new: str
    note: str
    until_reboot: bool
    """True if the next reboot loses it."""


@dataclass(frozen=True, slots=True)
class TunedReport:
    """Outcome of `wirespeed tune`."""

    run_id: str
    study: str
    point: str
    host: str
    goal: str
    unit: str
    worth: float
    rows: tuple[FactorRow, ...]
    possible: tuple[float, float]
    """Interval of the gain of the most promising factor."""
    interactions: tuple[str, ...]
    """Interactions of two factors that were proven, a sentence each."""
    answer: Answer | None
    """Conclusion of the confirmation; None where nothing was worth confirming."""
    ratio: Ratio | None
    matched: str
    """Sentence on the matched measurements of the confirmation; empty without one."""
    void: str | None
    overrides: Mapping[str, Any]
    """Keys of the study that the claimed factors set."""
    host_files: Mapping[str, str]
    """Files of the host that the claimed factors set."""
    limit: str
    """Limit of the point with the settings that were measured last; empty if unknown."""
    next_change: str
    """Change that would lift this limit; empty if none is known."""
    measurements: tuple[Measurement, ...]
    kept: tuple[KeptSetting, ...] | None = None
    """Settings that --keep applied to the host; None without --keep."""

    @property
    def claimed(self) -> tuple[str, ...]:
        """Names of the factors that are proven to bring more together."""
        return tuple(row.name for row in self.rows if row.verdict == "keep")

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        tried = counted(len(self.measurements), "measurement")
        if self.void is not None:
            return f"The result is void: {self.void}. Measure again on a quieter host."
        if self.claimed and self.ratio is not None:
            return (
                f"{' + '.join(self.claimed)}: {interval_words(self.ratio)} more {self.goal} than "
                f"the start, proven in {counted(self.ratio.pairs, 'fresh pair')} ({tried})."
            )
        low, high = self.possible
        if self.ratio is not None and math.isfinite(self.ratio.high):
            low, high = self.ratio.low, self.ratio.high
        return f"No setting is worth changing here (gain {signed(low)} to {signed(high)}, {tried})."


def signed(share: float | None) -> str:
    """Format a share: +12.3%, -0.4%."""
    if share is None:
        return ""
    return "unbounded" if math.isinf(share) else f"{100 * share:+.1f}%"


def interval_words(ratio: Ratio) -> str:
    """E.g. "+12.3% (+10.1% to +14.6%)"."""
    return f"{signed(ratio.gain)} ({signed(ratio.low)} to {signed(ratio.high)})"
