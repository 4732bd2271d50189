# SPDX-License-Identifier: Apache-2.0
"""Print a qualification on a terminal: one line for each CPU, and the conclusion."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from wirespeed.model.words import counted, microseconds, mpps, share
from wirespeed.qualify.attribute import words_of
from wirespeed.qualify.qualification import Qualification, QualifiedCpu
from wirespeed.qualify.rings import SIZES, needed, ring_for

_OTHERS = 2
# A lower rate has too few digits in Mpps.
_LEAST_MPPS_FPS = 1e5
_MS_NS = 10_000_000


def lines(found: Qualification, rate_fps: float | None) -> Iterator[str]:
    """Yield each line; rate_fps: the rate that was asked for."""
    width = max(len(str(each.cpu)) for each in found.cpus)
    for each in found.cpus:
        yield f"CPU {each.cpu:>{width}}: {_gaps(each, found)}"
    for sentence in found.unseen:
        yield f"Not seen: {sentence}."
    if found.moved:
        yield "The hypervisor moved the CPUs meanwhile: rates may change, too. Measure again."
    yield _conclusion(found) if rate_fps is None else verdict(found, rate_fps)


def _gaps(each: QualifiedCpu, found: Qualification) -> str:
    if not each.gaps:
        return f"no gap over {_time(found.gap_limit_ns)} in {found.watched_s:g} s"
    taken = share(each.total_ns / (found.watched_s * 1e9))
    others = [
        f"{words_of(one.cause, one.name)} {_time(one.longest_ns)}" for one in each.interrupters[1:]
    ][:_OTHERS]
    next_to_it = f"; then {', '.join(others)}" if others else ""
    return (
        f"longest gap {_time(each.longest_ns)} ({each.longest_by}){next_to_it}; "
        f"{counted(each.gaps, 'gap')} of {found.watched_s:g} s take {taken}"
    )


def _conclusion(found: Qualification) -> str:
    if not found.worst.backlog_ns:
        return f"Lossless at any rate with rings of {SIZES[0]}: no CPU stood still."
    held = [(need.descriptors, need.lossless_fps or 0.0) for need in found.rings]
    needs = [f"{longer} above {_rate(fps)}" for (_, fps), (longer, _) in pairwise(held)]
    size, most = held[-1]
    return (
        f"Lossless up to {_rate(held[0][1])} with rings of {held[0][0]}; needs rings of "
        f"{', '.join(needs)}; above {_rate(most)} {size} are too few (CPU {found.worst.cpu}: "
        f"frames of {_time(found.worst.backlog_ns)} pile up)."
    )


def verdict(found: Qualification, rate_fps: float) -> str:
    """Return the sentence about one rate."""
    frames = needed(rate_fps, found.worst.backlog_ns)
    piled = f"{frames:,} frames pile up on CPU {found.worst.cpu}"
    if (ring := ring_for(frames)) is None:
        return f"Not lossless at {_rate(rate_fps)}: {piled}, rings have at most {SIZES[-1]}."
    return f"Lossless at {_rate(rate_fps)} needs rings of {ring} here: {piled}."


def _rate(fps: float) -> str:
    return f"{mpps(fps)} Mpps" if fps >= _LEAST_MPPS_FPS else f"{fps:,.0f} frames/s"


def _time(ns: float) -> str:
    return f"{ns / 1e6:,.1f} ms" if ns >= _MS_NS else f"{microseconds(ns)} \N{MICRO SIGN}s"
