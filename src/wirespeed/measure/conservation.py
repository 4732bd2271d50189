# SPDX-License-Identifier: Apache-2.0
"""Check that frames are conserved: each one offered is received or counted as dropped."""

from __future__ import annotations

from dataclasses import replace

from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import Observation

UNKNOWN_HOP = "unknown"


def unaccounted_frames(observation: Observation) -> int:
    """Return the frames offered and neither received nor counted as dropped by any hop.

    Negative where hops count more drops than frames are missing. Then they also dropped foreign
    frames, or their counters were read while frames moved.
    """
    dropped = sum(d.frames for d in observation.drops if d.cause is not DropCause.UNKNOWN)
    return observation.total("offered") - observation.total("received") - dropped


def with_unknown_drop(observation: Observation) -> Observation:
    """Return the observation with its unaccounted frames as drops of unknown cause.

    Frames that the bench found missing at a hop or cable stay there; the others are at UNKNOWN_HOP.
    """
    told = tuple(d for d in observation.drops if d.frames)
    at_hops = sum(d.frames for d in told if d.cause is DropCause.UNKNOWN)
    missing = unaccounted_frames(observation) - at_hops
    unknown = (Drop(UNKNOWN_HOP, DropCause.UNKNOWN, missing),) if missing else ()
    return replace(observation, drops=told + unknown)
