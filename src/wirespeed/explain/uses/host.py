# SPDX-License-Identifier: Apache-2.0
"""Report the time that the host took from the polling threads."""

from __future__ import annotations

from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import EvidenceFigure, Resource, ResourceState, ResourceUse
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import counted, microseconds, share

# Smaller shares of the time do not explain a rate.
WORTH_TELLING = 0.01


def scheduling(_point: Measured, number: int, trial: Trial) -> ResourceUse:
    """Report the time taken by other programs on the polling CPUs, and by SMT siblings."""
    seen, source = trial.observation, f"trial {number}"
    waited_ns = sum(thread.runqueue_wait_ns for thread in seen.threads)
    switches = sum(thread.involuntary_switches for thread in seen.threads)
    polled_ns = trial.duration_s * 1e9 * len(seen.threads)
    waited = waited_ns / polled_ns if polled_ns else 0.0
    reasons = trial.gated.left_out if trial.gated is not None else ()
    figures = [
        EvidenceFigure("involuntary switches", switches, "switches", source),
        EvidenceFigure("waited for a CPU", waited, "ratio", f"{source}, of the threads' time"),
        *(EvidenceFigure(f"excluded time: {out.why}", out.share, "ratio", source)
          for out in reasons),
    ]  # fmt: skip
    left_out = sum(out.share for out in reasons)
    because = ", ".join(f"{out.why} {share(out.share)}" for out in reasons)
    said = f"{counted(switches, 'involuntary switch').replace('switchs', 'switches')}"
    sentence = f"{said}, {microseconds(waited_ns)} \N{MICRO SIGN}s waited for a CPU."
    if because:
        sentence += f" Excluded time: {because}."
    disturbed = max(left_out, waited) > WORTH_TELLING
    state = ResourceState.DISTURBS if disturbed else ResourceState.HAS_ROOM
    return ResourceUse(Resource.SCHEDULING, state, sentence, tuple(figures))


def steal(_point: Measured, number: int, trial: Trial) -> ResourceUse:
    """Report the steal time of the polling CPUs."""
    seen = trial.observation
    cpus = {(thread.host, thread.cpu) for thread in seen.threads}
    if not cpus:
        sentence = "No thread that polls is known."
        return ResourceUse(Resource.STEAL, ResourceState.NOT_MEASURED, sentence)
    part = seen.steal_ns / (trial.duration_s * 1e9 * len(cpus))
    figure = EvidenceFigure(
        "stolen", part, "ratio", f"trial {number}, of the time of {counted(len(cpus), 'CPU')}"
    )
    state = ResourceState.DISTURBS if part > WORTH_TELLING else ResourceState.HAS_ROOM
    sentence = f"The hypervisor took {share(part)} of the polling CPUs' time."
    return ResourceUse(Resource.STEAL, state, sentence, (figure,))
