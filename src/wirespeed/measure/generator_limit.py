# SPDX-License-Identifier: Apache-2.0
"""Find the generator's limit, and separate a load beyond it from noise."""

from __future__ import annotations

from statistics import median

from wirespeed.measure.windows import summed
from wirespeed.model.result.evidence import SLOW, DisturbanceKind
from wirespeed.model.result.observation import Observation

# Share of the trial's time, from the contention samples of the generator's cores.
MAX_SHARED = 0.1
_BLOCKS = 20


def offered_at_best(observation: Observation) -> float:
    """Return what the generator offers without noise, in frames/s over all directions.

    It is the upper quartile over blocks of windows: pauses of the generator lower some blocks, a
    load beyond its limit lowers all. Without windows it is the rate of the whole trial, or the
    intended load where the generator stopped. On a shared core it is at least the intended load,
    since the limit is unknown.
    """
    offered_fps = observation.total("offered") / observation.duration_s
    if _generator_shared(observation):
        return max(offered_fps, observation.intended_load_fps)
    if observation.windows is None or observation.windows.count < 2 * _BLOCKS:
        paused = any(
            d.kind is DisturbanceKind.STOPPED and d.role == "generator"
            for d in observation.evidence.disturbances
        )
        return observation.intended_load_fps if paused else offered_fps
    offered = summed(observation.windows, "offered")
    size = len(offered) // _BLOCKS
    blocks = sorted(int(offered[i * size : (i + 1) * size].sum()) for i in range(_BLOCKS))
    best = median(blocks[_BLOCKS // 2 :])
    return max(offered_fps, best / (size * observation.windows.window_ns / 1e9))


def _generator_shared(observation: Observation) -> bool:
    """Return whether another program used a generator core for more than MAX_SHARED."""
    cpus = {(t.host, t.cpu) for t in observation.threads if t.role == "generator"}
    return any(
        sum(slowness > SLOW for slowness in samples.slowness) > MAX_SHARED * len(samples.slowness)
        for samples in observation.evidence.contention
        if (samples.host, samples.cpu) in cpus
    )
