# SPDX-License-Identifier: Apache-2.0
"""Do the counters close? Every frame offered was received, or some hop says that it dropped it."""

from __future__ import annotations

from dataclasses import replace

from wirespeed.model.trial import Drop, DropCause, Observation

UNKNOWN_HOP = "unknown"


def unexplained(seen: Observation) -> int:
    """Frames offered and neither received nor counted as dropped by any hop.

    Negative where hops count more drops than frames are missing: they dropped foreign frames too,
    or were read while frames still moved.
    """
    dropped = sum(d.frames for d in seen.drops if d.cause is not DropCause.UNKNOWN)
    return seen.total("offered") - seen.total("received") - dropped


def close(seen: Observation) -> Observation:
    """The observation with its unexplained frames as a drop of their own, if there are any."""
    located = tuple(d for d in seen.drops if d.frames and d.cause is not DropCause.UNKNOWN)
    rest = unexplained(seen)
    unknown = (Drop(UNKNOWN_HOP, DropCause.UNKNOWN, rest),) if rest else ()
    return replace(seen, drops=located + unknown)
