# SPDX-License-Identifier: Apache-2.0
"""Bound the gain of a change, and rank changes by it.

Utilisation law: a stage with a busy share b at rate X is full at X / b. The stages that a change
leaves alone therefore bound its gain. The gain is unknown if no measurement gives one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from wirespeed.explain.decisive import carried_fps, decisive
from wirespeed.explain.interface import Measured
from wirespeed.explain.stages import FULL, PollingStage, stage, stage_behind
from wirespeed.model.result.explanation import ExpectedGain, Explanation, Resource
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import mpps, percent

# One thread reads a socket, so more CPUs do not help there.
_MORE_CPUS_HELP = frozenset(DropCause) - {DropCause.SOCKET_FULL}


# Study keys that add a CPU to a stage.
_CPU_KEYS = frozenset({"sut.vswitch.pmd_cpus", "sut.vnf.workers"})


def with_gain(point: Measured, found: Explanation) -> Explanation:
    """Add the largest gain of one more CPU, if a stage without time left is the limit.

    found: with the values of its keys. If no possible change here adds a CPU, it gets no gain.
    """
    if found.proposal is None or found.gain is not None or found.limit not in _MORE_CPUS_HELP:
        return found
    keys = {change.key for change in found.proposal.keys}
    if keys and not keys & _CPU_KEYS:
        return found
    if point.result.emulated is not None:
        return found
    resource, decided = stage_behind(point, DropCause(found.limit)), decisive(point)
    if resource in (None, Resource.GENERATOR) or decided is None:
        return found
    full = stage(point, decided[1], resource)
    if full.busy_share is None or full.busy_share < FULL:
        return found
    return replace(found, gain=_one_cpu_more(point, decided[1], full))


def _one_cpu_more(point: Measured, trial: Trial, full: PollingStage) -> ExpectedGain:
    rate_fps, count = carried_fps(trial), len(full.threads)
    bounds = [(
        rate_fps * (count + 1) / count,
        f"{count + 1} threads instead of {count} for that stage",
    )]  # fmt: skip
    bounds += _other_bounds(point, trial, full.resource, rate_fps)
    highest_fps, because = min(bounds)
    return ExpectedGain(
        max(0.0, highest_fps - rate_fps), "frames/s", f"at most, with one CPU more: {because}"
    )


def _other_bounds(
    point: Measured, trial: Trial, changed: Resource, rate_fps: float
) -> Iterator[tuple[float, str]]:
    """Yield the rates in frames/s at which the unchanged stages are full, with the reason."""
    for resource in (Resource.SWITCH, Resource.FUNCTION):
        other = stage(point, trial, resource).busiest
        if resource is not changed and other is not None and other.busy_share:
            share = percent(other.busy_share, 0)
            yield rate_fps / other.busy_share, f"{other.name}, busy {share} now, is full then"
    offered_fps = max(each.offered_fps for each in point.result.here)
    yield max(rate_fps, offered_fps), f"the generator offered up to {mpps(offered_fps)} Mpps"
    frames = point.frames
    if frames is not None and (not frames.nominal_link or frames.traffic.link_bound):
        yield frames.line_rate_fps, f"the line rate is {mpps(frames.line_rate_fps)} Mpps"


def advice(point: Measured, found: Sequence[Explanation]) -> tuple[Explanation, ...]:
    """Return the explanations with a proposal, each proposal once.

    Order: the largest expected gain first, then unknown gains in the order found, then no gain.
    """
    once: dict[str, Explanation] = {}
    for explanation in found:
        if explanation.proposal is not None:
            once.setdefault(explanation.proposal.change, explanation)
    return tuple(sorted(once.values(), key=lambda each: gain_rank(relative_gain(point, each))))


def gain_rank(gain: float | None) -> tuple[int, float]:
    """Return a sort key for relative gains: largest first, then unknown, then none."""
    if gain is None:
        return 1, 0.0
    return (0, -gain) if gain > 0 else (2, 0.0)


def relative_gain(point: Measured, found: Explanation) -> float | None:
    """Return the gain relative to the highest rate carried; None if unknown."""
    gain = found.gain
    if gain is None:
        return None
    if gain.unit == "x":
        return gain.value - 1
    trials = [trial.forwarding_fps for trial in point.result.here if trial.fault is None]
    best = max([point.result.mrr_fps or 0.0, *trials])
    return gain.value / best if gain.unit == "frames/s" and best else None
