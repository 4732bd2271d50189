# SPDX-License-Identifier: Apache-2.0
"""Name what following a rule brought where it was measured; else that it is vendors' advice.

`data/measured.csv` has the effects that `python -m benchmarks audit_pairs` prints: pairs of
measurements matched by CPU placement, with the 95% interval of their mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

ADVICE = "vendor advice, not measured here"


@dataclass(frozen=True, slots=True)
class MeasuredEffect:
    """Effect of following one rule on the rate of one point. Effects are in percent."""

    rule: str
    change: str
    """Value that the rule rejects, and the one that it wants."""
    point: str
    effect_percent: float
    low_percent: float
    high_percent: float
    pairs: int
    date: str
    """Day of the measurement, as 2026-11-30."""
    source: str
    """Machine and program."""

    @property
    def words(self) -> str:
        """One clause with the effect and its interval."""
        return (
            f"measured here: {self.effect_percent:+.1f}% (95%: {self.low_percent:+.1f} to "
            f"{self.high_percent:+.1f}%) at {self.point} by {self.change}, {self.pairs} pairs, "
            f"{self.date}, {self.source}"
        )


def effects_in(table: str) -> Mapping[str, MeasuredEffect]:
    """Return the effects in the text of a CSV table, by rule.

    Raises ValueError or KeyError for a table of another form, which is a programming error.
    """
    return {
        row["rule"]: MeasuredEffect(
            row["rule"], row["change"], row["point"], float(row["effect_percent"]),
            float(row["low_percent"]), float(row["high_percent"]), int(row["pairs"]), row["date"],
            row["source"],
        )
        for row in csv.DictReader(io.StringIO(table))
    }  # fmt: skip


@cache
def measured_effects() -> Mapping[str, MeasuredEffect]:
    """Return the effects that were measured, by rule."""
    table = files("wirespeed.audit").joinpath("data/measured.csv")
    return effects_in(table.read_text(encoding="utf-8"))


def evidence(rule: str) -> str:
    """Return the evidence for a rule that vendors advise, as a clause."""
    effect = measured_effects().get(rule)
    return ADVICE if effect is None else effect.words
