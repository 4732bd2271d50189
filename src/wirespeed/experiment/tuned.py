# SPDX-License-Identifier: Apache-2.0
"""Represent what a search for faster settings found. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.screening import ERROR, START, Term
from wirespeed.experiment.turns import Answer, Compared
from wirespeed.model.result.quantile import student


class Verdict(StrEnum):
    """Conclusion about one factor."""

    KEEP = "keep"
    HARMS = "harms"
    NO_EFFECT = "no effect shown"
    ELSEWHERE = "gains only with other levels"
    """Its gain over all combinations is proven, and with the chosen levels it brings nothing."""
    OTHER_LEVEL = "another level gains more"
    """Its gain is proven, and another level of the same factor was chosen."""
    UNCONFIRMED = "not confirmed"
    """The screening proved an effect, and fresh measurements did not prove the gain."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """Outcome."""

    mains: tuple[Term, ...]
    """Effect of each factor, in order."""
    interactions: tuple[Term, ...]
    """Interactions of two factors that the measurements suspect."""
    scatter: float
    """Standard deviation of the logarithm that no effect explains."""
    chosen: Combination
    """Combination that was confirmed or refuted; START where no change was worth trying."""
    confirmation: Compared | None
    """None where there was nothing to confirm."""
    void: str | None = None
    """Reason why nothing can be concluded, as a clause."""
    folded: int | None = None
    """Factor of the foldover."""
    groups: tuple[Combination, ...] = ()
    """Levels that belong to one factor; empty where each factor has one other level."""

    @property
    def claimed(self) -> Combination:
        """Factors whose other level is proven to bring more, together."""
        sure = self.confirmation is not None and self.confirmation.answer is Answer.MORE
        return self.chosen if sure and self.void is None else START

    def verdict(self, factor: int) -> Verdict:
        """Return the conclusion about a factor."""
        if factor in self.chosen:
            return Verdict.KEEP if factor in self.claimed else Verdict.UNCONFIRMED
        main = self.mains[factor]
        if not main.proven:
            return Verdict.NO_EFFECT
        if main.log < 0:
            return Verdict.HARMS
        same = next((group for group in self.groups if factor in group), START)
        return Verdict.OTHER_LEVEL if same & self.chosen else Verdict.ELSEWHERE

    @property
    def possible(self) -> tuple[float, float]:
        """Interval of the gain of the most promising factor.

        It holds for all factors together.
        """
        share = 1 - ERROR / len(self.mains) / 2
        halves = [student(share, term.freedom) * term.error for term in self.mains]
        best = max(range(len(halves)), key=lambda at: self.mains[at].log)
        term = self.mains[best]
        return (
            replace(term, log=term.log - halves[best]).gain,
            replace(term, log=term.log + halves[best]).gain,
        )
