# SPDX-License-Identifier: Apache-2.0
"""Find the few of many differences between two settings that make their rates differ. Pure.

Groups of differences are added to what is blamed so far, halves first (Zeller and Hildebrandt,
Simplifying and Isolating Failure-Inducing Input, 2002). Each probe compares the settings without
and with a group in turns (experiment/turns.py). The effects of two halves, the second on top of the
first, make up the whole effect, so that an interaction of both cannot hide.

The other half of a group is looked into only where the rest still changes the rate on top of what
is blamed. So one difference of N is found by a comparison of all, one for each halving and one of
the rest: log2 N + 2. One more proves it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.turns import ERROR, Answer, Compared, Rates, Stop, compare_in_turns

MOST_PROBES = 24
# A difference matters if it makes at least this share of the whole.
_SHARE = 0.25
_DECIDED = (Answer.MORE, Answer.LESS)


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
        makes = self.proof is not None and self.proof.compared.answer in _DECIDED
        complete = self.rest is None or self.rest.compared.answer not in _DECIDED
        return makes and complete and not self.given_up


class _Effect(Enum):
    """Effect of a group of differences."""

    NONE = auto()
    POSSIBLE = auto()
    """Not decided, and large enough to look into."""
    SURE = auto()
    UNKNOWN = auto()
    """No probe is left for it."""


@dataclass(slots=True)
class _Search:
    measure: Callable[[Combination], Rates]
    stop: Stop
    most: int
    probes: list[Probe] = field(default_factory=list)
    blamed: list[int] = field(default_factory=list)
    eliminated: list[tuple[Combination, int]] = field(default_factory=list)
    """Differences that are blamed because the others of their group change nothing."""
    later: list[tuple[Combination, Sequence[int]]] = field(default_factory=list)
    """Groups whose other half makes an effect; they may make one, too."""
    given_up: set[int] = field(default_factory=set)

    def probe(self, on: Combination, added: Combination, stop: Stop) -> Probe:
        compared = compare_in_turns(lambda b: self.measure(on | added if b else on), stop)
        self.probes.append(Probe(on, added, compared))
        return self.probes[-1]

    def effect(self, on: Combination, group: Sequence[int]) -> _Effect:
        """Return whether a group changes the rate on top of `on`."""
        if len(self.probes) >= self.most:
            self.given_up.update(group)
            return _Effect.UNKNOWN
        found = self.probe(on, frozenset(group), self.stop).compared
        # A decided effect may still be too small to matter; its estimate is rough.
        if abs(found.ratio.gain) <= self.stop.worth / 2 or found.answer is Answer.SAME:
            return _Effect.NONE
        return _Effect.SURE if found.answer in _DECIDED else _Effect.POSSIBLE

    def look(self, on: Combination, group: Sequence[int]) -> None:
        """Blame differences of a group where it has an effect on top of `on`."""
        self.blame(on, group, self.effect(on, group))

    def blame(self, on: Combination, group: Sequence[int], effect: _Effect) -> None:
        """Blame a difference with a sure effect; look into a group also where it is possible."""
        if effect is _Effect.SURE or (effect is _Effect.POSSIBLE and len(group) > 1):
            self.split(on, group, sure=effect is _Effect.SURE)

    def split(self, on: Combination, group: Sequence[int], *, sure: bool) -> None:
        """Blame differences of a group that has an effect, or may have one, on top of `on`."""
        if len(group) == 1:
            self.blamed += group
            return
        first, second = group[: len(group) // 2], group[len(group) // 2 :]
        effect = self.effect(on, first)
        if effect is _Effect.UNKNOWN:
            self.given_up.update(second)
            return
        self.blame(on, first, effect)
        on = on | frozenset(first)
        if effect is _Effect.SURE:
            self.later.append((on, second))
        elif effect is _Effect.NONE and sure:  # the second half makes what the first does not
            if len(second) == 1:
                self.eliminated.append((on, second[0]))
            self.split(on, second, sure=True)
        else:
            self.look(on, second)

    def check_eliminated(self) -> None:
        """Probe each difference that was blamed without a probe of its own.

        One that is blamed alone is not: its proof is such a probe.
        """
        if len(self.blamed) < 2:
            return
        pending, self.eliminated = self.eliminated, []
        for on, at in pending:
            if self.effect(on, (at,)) is not _Effect.SURE:
                self.blamed.remove(at)

    def complete(self, everything: Combination) -> Probe | None:
        """Look into groups that were left for later while the rest has an effect; return its probe.

        None where nothing is blamed, or everything.
        """
        while True:
            self.check_eliminated()
            blamed = frozenset(self.blamed)
            others = everything - blamed
            rest = self.probe(blamed, others, self.stop) if blamed and others else None
            if not self.later or (rest and rest.compared.answer not in _DECIDED):
                return rest
            pending, self.later = self.later, []
            for on, group in pending:
                self.look(on, group)
            if frozenset(self.blamed) == blamed:
                return rest


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
    # The rest and the proof take two.
    search = _Search(measure, stop, most - 2)
    whole = search.probe(frozenset(), everything, stop)
    if whole.compared.answer not in _DECIDED:
        return Bisected(whole, frozenset(), tuple(search.probes))
    search.stop = Stop(max(worth, _SHARE * abs(whole.compared.ratio.gain)), pairs, error=stop.error)
    search.split(frozenset(), range(differences), sure=True)
    rest = search.complete(everything)
    blamed = frozenset(search.blamed)
    proof = search.probe(frozenset(), blamed, stop) if blamed else None
    unproven = proof is not None and proof.compared.answer not in _DECIDED
    if unproven and blamed <= {at for _, at in search.eliminated}:
        blamed = frozenset()
    return Bisected(
        whole, blamed, tuple(search.probes), proof, rest, frozenset(search.given_up) - blamed
    )
