# SPDX-License-Identifier: Apache-2.0
"""Find the few of many differences between two settings that make their rates differ. Pure.

Groups of differences are added to what is blamed so far, halves first (Zeller and Hildebrandt,
Simplifying and Isolating Failure-Inducing Input, 2002). Each probe compares the settings without
and with a group in turns (experiment/turns.py). The effects of two halves, the second on top of the
first, make up the whole effect, so that an interaction of both cannot hide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.turns import ERROR, Answer, Compared, Rates, Stop, compare_in_turns

MOST_PROBES = 24
# A difference matters if it makes at least this share of the whole.
_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Probe:
    """A comparison of settings without and with a group of differences."""

    on: Combination
    """Differences that both sides have."""
    added: Combination
    """Group that the second side has in addition."""
    compared: Compared


@dataclass(frozen=True, slots=True)
class Bisected:
    """Outcome."""

    whole: Probe
    """All differences at once."""
    blamed: Combination
    """Differences that were each shown to matter."""
    probes: tuple[Probe, ...]
    proof: Probe | None = None
    """The blamed differences alone, measured once more; None where nothing is blamed."""
    rest: Probe | None = None
    """All others on top of the blamed ones; None where there are none."""
    given_up: Combination = frozenset()
    """Differences that the allowed probes did not suffice for."""

    @property
    def proven(self) -> bool:
        """Return whether the blamed differences make the difference, and the others none."""
        decided = (Answer.MORE, Answer.LESS)
        makes = self.proof is not None and self.proof.compared.answer in decided
        complete = self.rest is None or self.rest.compared.answer not in decided
        return makes and complete and not self.given_up


@dataclass(slots=True)
class _Search:
    measure: Callable[[Combination], Rates]
    stop: Stop
    most: int
    probes: list[Probe] = field(default_factory=list)
    blamed: list[int] = field(default_factory=list)
    given_up: set[int] = field(default_factory=set)

    def probe(self, on: Combination, added: Combination, stop: Stop) -> Probe:
        compared = compare_in_turns(lambda b: self.measure(on | added if b else on), stop)
        self.probes.append(Probe(on, added, compared))
        return self.probes[-1]

    def matters(self, on: Combination, group: Sequence[int]) -> bool | None:
        """Return whether a group changes the rate; None where no probe is left."""
        if len(self.probes) >= self.most:
            self.given_up.update(group)
            return None
        found = self.probe(on, frozenset(group), self.stop).compared
        if found.answer is not Answer.UNDECIDED:
            return found.answer is not Answer.SAME
        # A group is looked into where in doubt; a single difference is blamed on proof alone.
        return len(group) > 1 and abs(found.ratio.gain) > self.stop.worth / 2

    def split(self, on: Combination, group: Sequence[int]) -> None:
        """Blame differences of a group that is known to matter on top of `on`."""
        if len(group) == 1:
            self.blamed += group
            return
        first, second = group[: len(group) // 2], group[len(group) // 2 :]
        has_first = self.matters(on, first)
        if has_first:
            self.split(on, first)
        on = on | frozenset(first)
        # What the first half does not make, the second does; one alone is proven all the same.
        known = has_first is False and len(second) > 1
        if known or (has_first is not None and self.matters(on, second)):
            self.split(on, second)
        elif has_first is None:
            self.given_up.update(second)


def bisect(
    differences: int, measure: Callable[[Combination], Rates], worth: float, pairs: int,
    most: int = MOST_PROBES,
) -> Bisected:  # fmt: skip
    """Name the differences that matter, within `most` probes.

    measure: measures settings with these differences; none: the first settings. worth: relative
    difference of rates that matters at least.
    """
    everything: Combination = frozenset(range(differences))
    # Error rate of all probes together: ERROR.
    stop = Stop(worth, pairs, error=ERROR / most)
    search = _Search(measure, stop, most - 2)
    whole = search.probe(frozenset(), everything, stop)
    if whole.compared.answer not in (Answer.MORE, Answer.LESS):
        return Bisected(whole, frozenset(), tuple(search.probes))
    search.stop = Stop(max(worth, _SHARE * abs(whole.compared.ratio.gain)), pairs, error=stop.error)
    search.split(frozenset(), range(differences))
    blamed = frozenset(search.blamed)
    others = everything - blamed
    proof = search.probe(frozenset(), blamed, stop) if blamed else None
    rest = search.probe(blamed, others, search.stop) if blamed and others else None
    return Bisected(
        whole, blamed, tuple(search.probes), proof, rest, frozenset(search.given_up) - blamed
    )
