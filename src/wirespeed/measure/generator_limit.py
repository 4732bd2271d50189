# SPDX-License-Identifier: Apache-2.0
"""Was a load beyond the generator, or did something keep the generator from offering it?"""

from __future__ import annotations

from statistics import median

from wirespeed.measure.gate import SLOW
from wirespeed.measure.windows import summed
from wirespeed.model.evidence import DisturbanceKind
from wirespeed.model.trial import Observation

# Of the trial's time, by the samples on the generator's cores.
MAX_SHARED = 0.1
_BLOCKS = 20


def offered_at_best(seen: Observation) -> float:
    """What the generator offers while nothing disturbs it, in frames/s over all directions.

    The upper quartile of blocks of windows: pauses of the generator touch some blocks, a load that
    is beyond it lowers all of them. Without windows: whole, unless it was seen to stop. Where its
    core was shared nobody knows: it may be able to offer all.
    """
    offered_fps = seen.total("offered") / seen.duration_s
    if _generator_shared(seen):
        return max(offered_fps, seen.intended_load_fps)
    if seen.windows is None or seen.windows.count < 2 * _BLOCKS:
        paused = any(
            d.kind is DisturbanceKind.STOPPED and d.role == "generator"
            for d in seen.evidence.disturbances
        )
        return seen.intended_load_fps if paused else offered_fps
    offered = summed(seen.windows, "offered")
    size = len(offered) // _BLOCKS
    blocks = sorted(int(offered[i * size : (i + 1) * size].sum()) for i in range(_BLOCKS))
    best = median(blocks[_BLOCKS // 2 :])
    return max(offered_fps, best / (size * seen.windows.window_ns / 1e9))


def _generator_shared(seen: Observation) -> bool:
    """Whether something else used a core of the generator for more than MAX_SHARED of the trial."""
    cpus = {thread.cpu for thread in seen.threads if thread.role == "generator"}
    return any(
        sum(slowness > SLOW for slowness in samples.slowness) > MAX_SHARED * len(samples.slowness)
        for samples in seen.evidence.contention
        if samples.cpu in cpus
    )
