# SPDX-License-Identifier: Apache-2.0
"""Bound the NDR of a point whose NDR is unknown, by a load carried whole and one too high."""

from __future__ import annotations

import math
from statistics import median

from wirespeed.measure.as_is import lossless
from wirespeed.measure.prober import Prober
from wirespeed.measure.search.mrr import Overload
from wirespeed.measure.verdict import verdict
from wirespeed.model.result.result import Bracket
from wirespeed.model.result.trial import Trial

# Shares of the offered frames. In clean time only an overload loses as much. With noise, a core
# shared evenly carries half of its capacity, so only a larger loss shows an overload.
OVERLOADED, OVERLOADED_WHILE_DISTURBED = 0.2, 0.5


def bracket(prober: Prober, overload: Overload | None, shortest_s: float) -> Bracket:
    """Return the highest load carried whole for shortest_s, and the lowest load above too high.

    The upper end is a load that failed, or the MRR with its error, as nothing above it is received.
    A load above the MRR is no end: next to the MRR it would say nothing, or contradict it. An MRR
    of all that was offered is none either: nothing shows what the SUT carries beyond. Without an
    MRR, an overload that lost much is one.
    """
    gated = [point for point in prober.points if not point.whole]
    failing = {point.load_fps for point in gated if _fails(prober, point.load_fps)}
    too_much = failing | {p.load_fps for p in gated if p.exceeded > 0 and p.decided}
    here = [t for t in prober.trials if t.placed == prober.journal.placed]
    whole = [t for t in here if t.intended_load_fps not in failing]
    carried_fps = lossless(whole, shortest_s)[0]
    if overload is not None:
        end_fps = received_at_most(overload)
        if overload.received_fps is None:
            too_much |= {t.intended_load_fps for t in overload.trials if _overloaded(t)}
        elif end_fps is not None and not prober.whole and _overflowed(overload, prober.width):
            too_much.add(end_fps)
        most_fps = end_fps or overload.received_fps or math.inf
        too_much = {load_fps for load_fps in too_much if load_fps <= most_fps}
    above = [load_fps for load_fps in too_much if load_fps > (carried_fps or 0.0)]
    return Bracket(carried_fps, min(above, default=None))


def received_at_most(overload: Overload) -> float | None:
    """Return the upper end of the MRR's 95% interval, in frames/s; None where it is unknown."""
    if overload.received_fps is None or overload.error is None:
        return None
    return overload.received_fps * (1 + overload.error)


def _overflowed(overload: Overload, width: float) -> bool:
    """Return whether less was received than offered; the limit may be the generator's or a link's.

    width: relative difference of rates that are the same.
    """
    offered_fps = median(trial.offered_fps for trial in overload.trials)
    most_fps = received_at_most(overload) or 0.0
    return most_fps < (1 - width) * offered_fps


def _fails(prober: Prober, load_fps: float) -> bool:
    """Return whether a load fails by all its trials together."""
    pieces = [t.gated for t in prober.judging(load_fps) if t.gated is not None]
    found = verdict(pieces, prober.width, prober.pdr_loss)
    return found.decided and not found.ndr


def _overloaded(trial: Trial) -> bool:
    """Return whether more was offered than the SUT carries, whatever the noise."""
    if trial.gated is not None and trial.gated.steady_offered:
        return trial.gated.steady_lost > OVERLOADED * trial.gated.steady_offered
    return trial.loss_ratio > OVERLOADED_WHILE_DISTURBED
