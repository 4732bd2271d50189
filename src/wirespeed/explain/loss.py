# SPDX-License-Identifier: Apache-2.0
"""Find where a point first lost frames, and why.

The evidence is the trial with the lowest load above the NDR that lost frames in counted time. The
first overflow is the limit; later ones follow from it. Hop counters cover the whole trial,
including noise, because no counter records when a frame was dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from wirespeed.explain.causes import longer_rings, meaning_of, proposal_for
from wirespeed.explain.interface import Measured
from wirespeed.explain.stages import time_left
from wirespeed.explain.trial import STEADY_GROWTH
from wirespeed.model.result.counted_time import (
    counted_time,
    growth_ratio,
    lost_in_what_counts,
    trials_above,
)
from wirespeed.model.result.evidence import DisturbanceKind
from wirespeed.model.result.explanation import EvidenceFigure, Explanation, Proposal
from wirespeed.model.result.hop_counts import INGRESS, Drop, DropCause
from wirespeed.model.result.observation import PollingThread
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import frames, mpps, percent
from wirespeed.model.words import loss as loss_ratio

# Smallest share of the drops for which a further cause is reported.
_WORTH_TELLING = 0.05


def loss(point: Measured) -> Iterator[Explanation]:
    """Yield each cause of the first loss, the one with the most frames first."""
    trials = point.result.trials
    found = first_loss(trials, point.result) or _first_refusal(trials)
    if found is None:
        yield from _queue_growth(point)
        return
    number, trial = found
    drops = total_drops(trial)
    if not drops:
        sentence = f"{_first_frames(trial)}, and no hop accounts for them."
        yield Explanation("unaccounted", sentence, _evidence(number, trial))
        return
    dropped = sum(abs(drop.frames) for drop in drops)
    for drop in drops:
        part = abs(drop.frames) / dropped
        if drop is drops[0]:
            sentence = _first_sentence(point, trial, drop, part)
        elif part >= _WORTH_TELLING:
            sentence = f"Another {percent(part, 0)} were dropped {_because(point, trial, drop)}"
        else:
            continue
        evidence = (*_evidence(number, trial), _dropped(number, drop))
        proposal = _proposal(point, trial, drop)
        yield Explanation(str(drop.cause), sentence, evidence, proposal, hop=drop.hop)


def _proposal(point: Measured, trial: Trial, drop: Drop) -> Proposal | None:
    if not point.sut.reference and time_left(point, trial, drop.cause) is not None:
        return longer_rings(point)
    return proposal_for(drop, point.sut)


def first_loss(trials: Sequence[Trial], result: SearchResult | None) -> tuple[int, Trial] | None:
    """Return the trial with the lowest load above the NDR that lost counted frames.

    The result includes the trial's number. Returns None if there is no such trial.
    """
    lossy = [pair for pair in _above(trials, result) if lost_in_what_counts(pair[1])]
    return min(lossy, key=lambda pair: pair[1].intended_load_fps, default=None)


# Settings drop frames at any time, whether the trial was noisy or not.
BY_SETTINGS = frozenset(
    {DropCause.NO_FLOW, DropCause.MTU, DropCause.POLICER, DropCause.EGRESS_POLICER,
     DropCause.WRONG_VLAN, DropCause.UNKNOWN_VLAN, DropCause.NO_ROUTE, DropCause.NIC_DISCARD,
     DropCause.PORT_DOWN, DropCause.METER, DropCause.FOREIGN_RULE, DropCause.DATAPATH}
)  # fmt: skip


def _first_refusal(trials: Sequence[Trial]) -> tuple[int, Trial] | None:
    """Return the trial with the lowest load in which settings dropped most of the lost frames.

    It is used if no clean time shows a loss. The result includes the trial's number.
    """
    refusing = [
        (number, trial)
        for number, trial in enumerate(trials, start=1)
        if (drops := total_drops(trial)) and drops[0].cause in BY_SETTINGS
    ]
    return min(refusing, key=lambda pair: pair[1].intended_load_fps, default=None)


def _above(trials: Sequence[Trial], result: SearchResult | None) -> list[tuple[int, Trial]]:
    """Return the trials above the load that the SUT carries, with their numbers.

    Warm-ups and trials in another CPU placement are excluded.
    """
    ndr = result.ndr.lower if result is not None and result.ndr is not None else None
    bracket = result.bracket if result is not None else None
    floor_fps = (bracket.carried_fps if bracket is not None else None) or 0.0
    floor_fps = ndr.load_fps if ndr is not None else floor_fps
    return [
        (number, trial)
        for number, trial in trials_above(trials, floor_fps)
        if not (result is not None and result.elsewhere(trial))
    ]


def total_drops(trial: Trial) -> tuple[Drop, ...]:
    """Return the trial's drops, most frames first, without frames that the VNF consumed."""
    told = (DropCause.VNF_HANDLED, DropCause.UNKNOWN)
    drops = [drop for drop in trial.observation.drops if drop.cause not in told]
    drops += _without_trace(trial.observation.drops)
    return tuple(sorted(drops, key=lambda drop: -abs(drop.frames)))


def _without_trace(drops: Sequence[Drop]) -> Iterator[Drop]:
    """Yield the frames that no hop accounts for.

    A counter that restarted between two hops adds frames at one hop and removes as many at the
    other. Such frames were not lost.
    """
    unknown = [drop for drop in drops if drop.cause is DropCause.UNKNOWN]
    left = sum(drop.frames for drop in unknown)
    sign = 1 if left >= 0 else -1
    for drop in sorted(unknown, key=lambda each: -sign * each.frames):
        frames = sign * min(abs(drop.frames), abs(left))
        left -= frames
        if frames:
            yield replace(drop, frames=frames)


def _first_sentence(point: Measured, trial: Trial, drop: Drop, part: float) -> str:
    which = "all" if part == 1 else percent(part, 0)
    if trial.quiet:
        return (
            f"{_first_frames(trial)}; {which} of them were dropped {_because(point, trial, drop)}"
        )
    return (
        f"{_first_frames(trial)}. Of the frames that the whole trial lost, {which} were dropped "
        f"{_because(point, trial, drop)}"
    )


def _first_frames(trial: Trial) -> str:
    load, found = mpps(trial.intended_load_fps), counted_time(trial)
    if trial.quiet or found is None:
        return f"{load} Mpps is the lowest load that lost frames ({trial.lost:,})"
    return (
        f"{load} Mpps is the lowest load that lost frames in clean time ({found.lost:,} of "
        f"{frames(found.offered)}, {loss_ratio(found.loss_ratio)})"
    )


def _because(point: Measured, trial: Trial, drop: Drop) -> str:
    places = {INGRESS: f"at {point.sut.entrance}", "unknown": "somewhere"}
    place = places.get(drop.hop, f"at {drop.hop}")
    place += f" in direction {drop.direction}" if drop.direction else ""
    if (thread := time_left(point, trial, drop.cause)) is not None:
        busy = percent(thread.busy_share, 0)
        return (
            f"{place}. That ring was full, though {thread.name} had frames to handle for only "
            f"{busy} of the time{_paused(trial, thread)}."
        )
    return f"{place}: {meaning_of(drop, point.sut)}."


def _paused(trial: Trial, thread: PollingThread) -> str:
    """Compare the longest pause with the time that the ring lasts; "" if unknown."""
    seen = trial.observation
    one_way_fps = trial.intended_load_fps / max(1, len(seen.directions))
    if not seen.ring_frames or not one_way_fps:
        return ""
    ring_ms = 1e3 * seen.ring_frames / one_way_fps
    pauses = [
        d.length_ns / 1e6
        for d in seen.evidence.disturbances
        if d.role == thread.role and d.kind is DisturbanceKind.STOPPED
    ]
    longest_ms = max(pauses, default=0.0)
    if longest_ms > ring_ms:
        return f": it paused for up to {longest_ms:.3g} ms, and the ring lasts {ring_ms:.3g} ms"
    return (
        f"; no pause as long as the ring lasts ({ring_ms:.3g} ms) was seen, the longest was "
        f"{longest_ms:.3g} ms"
    )


def _evidence(number: int, trial: Trial) -> tuple[EvidenceFigure, ...]:
    source = f"trial {number}"
    found = counted_time(trial)
    counted = () if found is None else (
        EvidenceFigure("offered", found.offered, "frames", f"{source}, time that counts"),
        EvidenceFigure("lost", found.lost, "frames", f"{source}, time that counts"),
    )  # fmt: skip
    busy = [
        EvidenceFigure(f"busy share of {thread.name}", thread.busy_share, "ratio", source)
        for thread in trial.observation.threads
        if thread.role == "sut" and thread.busy_share is not None
    ]
    return (EvidenceFigure("load", trial.intended_load_fps, "frames/s", source), *counted, *busy)


def _dropped(number: int, drop: Drop) -> EvidenceFigure:
    source = f"trial {number}, counters of {drop.hop}, whole trial"
    return EvidenceFigure(f"dropped for {drop.cause}", drop.frames, "frames", source)


def _queue_growth(point: Measured) -> Iterator[Explanation]:
    """Report growing queues, which show an overload before it loses a frame."""
    for load_fps, number, growth in sorted(_growing(point))[:1]:
        yield Explanation(
            "queue_growth",
            f"At {mpps(load_fps)} Mpps queues grew by {percent(growth)} of the frames offered in "
            "clean time: the SUT forwards less, though its rings still held the rest.",
            (
                EvidenceFigure("load", load_fps, "frames/s", f"trial {number}"),
                EvidenceFigure("growth of queues", growth, "ratio", f"trial {number}, clean runs"),
            ),
        )


def _growing(point: Measured) -> list[tuple[float, int, float]]:
    """Return load, number and growth of the trials above the rate in which queues grew."""
    basis = point.result.undisturbed
    width = basis.width if basis is not None else STEADY_GROWTH
    return [
        (trial.intended_load_fps, number, growth)
        for number, trial in _above(point.result.trials, point.result)
        if (growth := growth_ratio(trial) or 0.0) > width and _could_hold(trial, growth)
    ]


def _could_hold(trial: Trial, growth: float) -> bool:
    """Return whether the growth of clean runs may be that of the whole trial.

    Of such a growth, the queue in front of the slow stage would hold what it can, and lose the
    rest. Where less was lost, it drained between the clean runs: frames came in bursts. Of an
    external SUT it is not known what it holds.
    """
    held = trial.observation.shallowest_frames
    return held == 0 or growth * trial.offered <= held + trial.lost


def not_reached(point: Measured) -> Iterator[Explanation]:
    """Report that no judged trial above the rate was an overload."""
    trials = point.result.trials
    judged = any(trial.quiet or trial.gated is not None for trial in trials)
    if judged and first_loss(trials, point.result) is None and not _growing(point):
        yield Explanation(
            "not_reached",
            "The limit was not reached: no load above the rate lost a frame in time that counts.",
        )
