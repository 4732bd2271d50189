# SPDX-License-Identifier: Apache-2.0
"""How long do frames take at 10, 50 and 90% of the PDR? (CSIT's latency loads)

There are two figures: of all frames, and of those sent in undisturbed time. The longest pause that
still counts is that at the PDR: at a tenth of the load rings hold ten times longer pauses, which
would show in the percentiles as if the SUT had caused them.
"""

from __future__ import annotations

from wirespeed.measure.prober import BeyondGenerator, NotMeasurable, Prober
from wirespeed.model.result import LatencyAtLoad
from wirespeed.model.trial import Stage

SHARES = (0.1, 0.5, 0.9)


def measure_latency(
    prober: Prober, full_load_fps: float, trial_s: float
) -> tuple[tuple[LatencyAtLoad, ...], tuple[str, ...]]:
    """Latency at each share of full_load_fps, lowest load first, and a note for each that is
    missing."""
    found: list[LatencyAtLoad] = []
    notes: list[str] = []
    for share in SHARES:
        load_fps = share * full_load_fps
        try:
            trial = prober.usable(load_fps, trial_s, Stage.LATENCY, full_load_fps)
        except (NotMeasurable, BeyondGenerator) as error:
            notes.append(f"latency at {share:.0%} of the PDR is not measurable: {error.what}")
            continue
        if trial.observation.latency is None:
            notes.append("no latency: the frames carry no time stamp")
            break
        undisturbed = trial.gated.latency if trial.gated is not None else None
        found.append(LatencyAtLoad(share, load_fps, trial.observation.latency, undisturbed))
    return tuple(found), tuple(notes)
