# SPDX-License-Identifier: Apache-2.0
"""Compute TCP's rate over clean time with its error, and test whether noise explains the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wirespeed.measure.tcp_gate import UNWATCHED, reasons
from wirespeed.model.result.quantile import two_sided
from wirespeed.model.result.series import Series
from wirespeed.model.result.tcp import TcpLeftOut
from wirespeed.model.result.tcp_evidence import TcpEvidence
from wirespeed.model.study.tcp import Tcp

# Consecutive intervals that count as one piece in the error: neighbours are correlated.
_PIECE = 3


class ObservedRun(Protocol):
    """A run whose noise and counts were observed by intervals."""

    @property
    def evidence(self) -> TcpEvidence | None: ...

    @property
    def payload(self) -> tuple[Series, ...]: ...


@dataclass(frozen=True, slots=True)
class TcpInterval:
    """An interval that counts."""

    run: int
    piece: int | None
    """Clean piece that it belongs to; None for one with noise."""
    seconds: float
    counts: dict[str, float]
    """Amounts by name: octets by direction."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """All runs of a point in intervals."""

    intervals: tuple[TcpInterval, ...]
    watched_s: float
    left_out: tuple[TcpLeftOut, ...]
    """Excluded shares of watched_s, the largest first."""

    @property
    def clean(self) -> tuple[TcpInterval, ...]:
        return tuple(each for each in self.intervals if each.piece is not None)

    @property
    def clean_s(self) -> float:
        return sum(each.seconds for each in self.clean)

    @property
    def pieces(self) -> int:
        return len({each.piece for each in self.clean})


def pool(runs: Sequence[ObservedRun], tcp: Tcp) -> Pooled:
    """Return the intervals of all runs. A run without evidence counts as not observed."""
    intervals: list[TcpInterval] = []
    why_s: dict[str, float] = {}
    watched_s, pieces = 0.0, 0
    for number, run in enumerate(runs):
        found = _intervals(run, number, tcp.max_taken)
        if not found:
            watched_s += tcp.seconds
            why_s[UNWATCHED] = why_s.get(UNWATCHED, 0.0) + tcp.seconds
        for why, group in groupby(found, key=lambda each: each[0]):
            for position, (_, interval) in enumerate(group):
                watched_s += interval.seconds
                if why is not None:
                    why_s[why] = why_s.get(why, 0.0) + interval.seconds
                    intervals.append(interval)
                    continue
                pieces += position % _PIECE == 0
                intervals.append(TcpInterval(number, pieces, interval.seconds, interval.counts))
    worst = sorted(why_s.items(), key=lambda pair: -pair[1])
    left_out = tuple(TcpLeftOut(why, seconds / watched_s) for why, seconds in worst)
    return Pooled(tuple(intervals), watched_s, left_out)


def _intervals(
    run: ObservedRun, number: int, max_taken: float
) -> list[tuple[str | None, TcpInterval]]:
    """Return the intervals in the time that counts, each with its reason for exclusion."""
    evidence = run.evidence
    if evidence is None:
        return []
    lengths_ns = evidence.lengths_ns
    return [
        (
            why,
            TcpInterval(
                number,
                None,
                lengths_ns[i] / 1e9,
                {series.name: series.values[i] for series in run.payload},
            ),
        )
        for i, why in enumerate(reasons(evidence, max_taken))
        if evidence.counts(i)
    ]


def pooled_rate(pooled: Pooled, name: str) -> tuple[float, float | None] | None:
    """Return the mean rate over clean intervals per second, and half of its 95% interval.

    The interval is None for one piece; the result is None where no clean interval counted this
    name. The standard error is that of pieces or of runs, whichever is larger: the rates of
    neighbouring intervals are correlated, and those of one run may be.
    """
    clean = [each for each in pooled.clean if name in each.counts]
    if not clean:
        return None
    seconds = np.array([each.seconds for each in clean])
    counts = np.array([each.counts[name] for each in clean])
    rate = float(counts.sum() / seconds.sum())
    beyond = counts - rate * seconds
    pieces = [each.piece for each in clean if each.piece is not None]
    errors = (_error(labels, beyond) for labels in (pieces, [each.run for each in clean]))
    freedom = len(set(pieces)) - 1
    if not freedom:
        return rate, None
    return rate, float(two_sided(freedom) * max(errors) / seconds.sum())


def _error(labels: Sequence[int], beyond: NDArray[np.float64]) -> float:
    """Return the standard error of a sum whose parts with the same label are correlated."""
    _, index = np.unique(np.array(labels), return_inverse=True)
    sums = np.bincount(index, weights=beyond)
    many = len(sums)
    return float(np.sqrt(many / (many - 1) * np.square(sums).sum())) if many > 1 else 0.0


def beaten_share(pooled: Pooled, names: Sequence[str]) -> float:
    """Return the share of all rotations of the mask with a lower rate than the mask (placebo test).

    It is near 1 where noise slowed TCP down, and about a half where it did not. Rotations that give
    the same rate count as half.
    """
    seconds = np.array([each.seconds for each in pooled.intervals])
    octets = np.array(
        [sum(each.counts.get(name, 0.0) for name in names) for each in pooled.intervals]
    )
    mask = np.array([each.piece is not None for each in pooled.intervals])
    turned = np.array([np.roll(mask, by) for by in range(1, len(mask))])
    true = octets[mask].sum() / seconds[mask].sum()
    rates = (turned @ octets) / (turned @ seconds)
    return float(np.mean(rates < true) + np.mean(rates == true) / 2)
