# SPDX-License-Identifier: Apache-2.0
"""How far could the rate of a point rise with a change, and which change should bring most?

By the utilisation law: a stage that is busy a share b of the time at a rate X is full at X / b. So
the stages that a change leaves alone bound what it can bring. Nothing is guessed: where no figure
tells a gain, it is not known.
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

# One thread reads a socket, whatever CPUs there are.
_MORE_CPUS_HELP = frozenset(DropCause) - {DropCause.SOCKET_FULL}


# Keys of a study that give a stage one CPU more.
_CPU_KEYS = frozenset({"sut.vswitch.pmd_cpus", "sut.vnf.workers"})


def with_gain(point: Measured, found: Explanation) -> Explanation:
    """With what one CPU more would bring at most, where a stage without time left is the limit.

    found: with the values of its keys. Where what can be tried here gives no further CPU, the gain
    of one is not printed beside it.
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
    """The rates at which what is not changed is full, in frames/s."""
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
    """Those with a proposal, each proposal once: the largest expected gain first, then those whose
    gain is not known, in the order in which they were found, then those that bring nothing."""
    once: dict[str, Explanation] = {}
    for explanation in found:
        if explanation.proposal is not None:
            once.setdefault(explanation.proposal.change, explanation)
    return tuple(sorted(once.values(), key=lambda each: gain_rank(relative_gain(point, each))))


def gain_rank(gain: float | None) -> tuple[int, float]:
    """Order relative gains: the largest first, then unknown ones, then those of nothing."""
    if gain is None:
        return 1, 0.0
    return (0, -gain) if gain > 0 else (2, 0.0)


def relative_gain(point: Measured, found: Explanation) -> float | None:
    """Of the highest rate that was carried; None where it is not known."""
    gain = found.gain
    if gain is None:
        return None
    if gain.unit == "x":
        return gain.value - 1
    trials = [trial.forwarding_fps for trial in point.result.here if trial.fault is None]
    best = max([point.result.mrr_fps or 0.0, *trials])
    return gain.value / best if gain.unit == "frames/s" and best else None
