# SPDX-License-Identifier: Apache-2.0
"""Measure the latency at 10, 50 and 90% of the PDR (CSIT's latency loads).

There are two results: over all frames, and over those sent in clean time. The longest pause that
still counts is that at the PDR. At a tenth of the load, rings hold pauses ten times longer. The
percentiles would show them as if the SUT had caused them.
"""

from __future__ import annotations

from contextlib import suppress

from wirespeed.measure.journal import Moved
from wirespeed.measure.prober import BeyondGenerator, NotMeasurable, OutOfTime, Prober
from wirespeed.model.result.result import LatencyAtLoad
from wirespeed.model.result.trial import Stage, Trial

SHARES = (0.1, 0.5, 0.9)
# Runs of a latency trial until the CPUs are where they were in the search.
TRIES = 3


def measure_latency(
    prober: Prober, full_load_fps: float, trial_s: float
) -> tuple[tuple[LatencyAtLoad, ...], tuple[str, ...]]:
    """Return latency at each share of full_load_fps, lowest load first.

    The second value is a note for each share without latency.
    """
    found: list[LatencyAtLoad] = []
    notes: list[str] = []
    for share in SHARES:
        load_fps = share * full_load_fps
        try:
            trial = _trial(prober, load_fps, trial_s, full_load_fps)
        except (NotMeasurable, BeyondGenerator, OutOfTime, Moved) as error:
            notes.append(f"latency at {share:.0%} of the PDR is not measurable: {error.what}")
            continue
        if trial.observation.latency is None:
            notes.append("no latency: the frames carry no time stamp")
            break
        undisturbed = trial.gated.latency if trial.gated is not None else None
        found.append(LatencyAtLoad(share, load_fps, trial.observation.latency, undisturbed))
    return tuple(found), tuple(notes)


def _trial(prober: Prober, load_fps: float, trial_s: float, full_load_fps: float) -> Trial:
    """Run a trial in the placement of the search, which has ended: a move restarts nothing."""
    for _ in range(TRIES - 1):
        with suppress(Moved):
            return prober.usable(load_fps, trial_s, Stage.LATENCY, full_load_fps)
    return prober.usable(load_fps, trial_s, Stage.LATENCY, full_load_fps)
