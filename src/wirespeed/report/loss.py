# SPDX-License-Identifier: Apache-2.0
"""Where did a point first lose frames, and why there?

The evidence is the trial with the lowest load above the NDR that lost frames in time that counts:
what gives way first is the limit, what gives way later follows from it. Hops count over the whole
trial, disturbed time included; no counter says when a frame was dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.result import SearchResult
from wirespeed.model.spec import TopologyKind
from wirespeed.model.trial import Drop, DropCause, Stage, Trial
from wirespeed.report.text import frames, mpps, percent, tiny
from wirespeed.report.trial_words import STEADY_GROWTH, growth_ratio
from wirespeed.store.records import PointRecord

_BECAUSE = {
    DropCause.RX_RING_FULL: "the receive ring there was full: the core that polls it had no time "
    "left for more frames",
    DropCause.VHOST_TX_RING_FULL: "the ring towards the VNF was full: the VNF took frames more "
    "slowly than the vSwitch handed them over",
    DropCause.NO_FLOW: "no flow matched: the bench's flows and the traffic do not fit together, "
    "so this is no limit of the data plane",
    DropCause.UPCALL: "packets missed the datapath's flow table and their upcalls failed: there "
    "are more new flows than the slow path handles",
    DropCause.MTU: "frames are larger than the port's MTU (sut.vswitch.mtu)",
    DropCause.POLICER: "a policer is set below the load",
    DropCause.VNF_DISCARD: "the VNF dropped frames on purpose: a lookup missed or a frame was "
    "malformed",
    DropCause.VNF_TX_RING_FULL: "the VNF's transmit ring was full: the vSwitch took frames back "
    "more slowly than the VNF returned them",
    DropCause.VNF_RING_FULL: "a ring between two tasks of the VNF was full: the workers, or the "
    "aggregation behind them, took frames more slowly than they were handed over",
    DropCause.IMPAIRED: "the reference SUT dropped them as it was told to",
    DropCause.TG_RX_RING_FULL: "the analyser's own ring was full: the generator side is too slow "
    "here, and the SUT may be faster than the figure says",
    DropCause.MISDIRECTED: "they arrived, but bore what belongs to somebody else: another "
    "subscriber's tags or key, another next hop's addresses",
    DropCause.CORRUPTED: "they arrived, but not as the VNF must let them out: a checksum, a TTL or "
    "a header was wrong",
    DropCause.UNKNOWN: "no hop accounts for them: the counters do not close, and the figure "
    "should not be trusted",
}


def first_loss(point: PointRecord) -> Trial | None:
    """Above the NDR, the trial with the lowest load that lost frames in time that counts."""
    floor_fps = _ndr_fps(point.result)
    lossy = [
        stored.trial
        for stored in point.trials
        if lost_in_what_counts(stored.trial)
        and stored.trial.stage is not Stage.WARM_UP
        and stored.trial.intended_load_fps > floor_fps
    ]
    return min(lossy, key=lambda trial: trial.intended_load_fps, default=None)


def lost_in_what_counts(trial: Trial) -> int:
    """Frames lost in a quiet trial, or in the undisturbed windows of another."""
    if trial.quiet:
        return trial.lost
    if trial.gated is None:
        return 0
    return max(trial.gated.steady_lost, sum(run.lost for run in trial.gated.runs))


def total_drops(trial: Trial) -> tuple[Drop, ...]:
    """The trial's drops, most frames first; what the VNF consumed on purpose is none."""
    lost = (drop for drop in trial.seen.drops if drop.cause is not DropCause.VNF_HANDLED)
    return tuple(sorted(lost, key=lambda drop: -abs(drop.frames)))


def loss_sentences(point: PointRecord) -> Iterator[str]:
    """Where the first frames were lost, and why."""
    trial = first_loss(point)
    if trial is None:
        yield from _no_loss(point)
        return
    drops, lost = total_drops(trial), _said(trial)
    if not drops:
        yield f"{lost}, and no hop accounts for them."
        return
    dropped = sum(abs(drop.frames) for drop in drops)
    main = drops[0]
    share = abs(main.frames) / dropped
    which = "all" if share == 1 else percent(share, 0)
    where = f"{_place(main.hop, point)}: {_BECAUSE[main.cause]}."
    if trial.quiet:
        yield f"{lost}, {which} of them {where}"
    else:
        yield f"{lost}. Of all that the trial lost, disturbed time included, {which} {where}"
    for drop in drops[1:]:
        if abs(drop.frames) / dropped >= 0.05:
            part = percent(abs(drop.frames) / dropped, 0)
            yield f"Another {part} were lost {_place(drop.hop, point)}: {_BECAUSE[drop.cause]}."


def _said(trial: Trial) -> str:
    load = mpps(trial.intended_load_fps)
    if trial.quiet or trial.gated is None:
        return f"At {load} Mpps the first frames were lost ({trial.lost:,})"
    offered = max(trial.gated.steady_offered, sum(run.offered for run in trial.gated.runs))
    lost = lost_in_what_counts(trial)
    return (
        f"At {load} Mpps the first frames were lost in undisturbed time ({lost:,} of "
        f"{frames(offered)}, {tiny(lost / offered)})"
    )


def _no_loss(point: PointRecord) -> Iterator[str]:
    """Queues may tell of an overload that has not lost a frame yet."""
    floor_fps, rests = _ndr_fps(point.result), point.result and point.result.undisturbed
    width = rests.width if rests else STEADY_GROWTH
    growing = [
        (stored.trial.intended_load_fps, growth)
        for stored in point.trials
        if stored.trial.intended_load_fps > floor_fps
        and stored.trial.stage is not Stage.WARM_UP
        and (growth := growth_ratio(stored.trial) or 0.0) > width
    ]
    if growing:
        load_fps, growth = min(growing)
        yield (
            f"At {mpps(load_fps)} Mpps queues grew by {percent(growth)} of what was offered in "
            "undisturbed time: the SUT forwards less than that, though its rings still held it."
        )
    elif any(stored.trial.quiet or stored.trial.gated is not None for stored in point.trials):
        yield (
            "No trial above the figure lost a frame in time that counts: the limit was not reached."
        )


def _ndr_fps(result: SearchResult | None) -> float:
    """The load below which nothing is asked; of a bracket its lower end."""
    if result is None:
        return 0.0
    if result.ndr is not None and result.ndr.lower is not None:
        return result.ndr.lower.load_fps
    return (result.bracket.carried_fps or 0.0) if result.bracket is not None else 0.0


def _place(hop: str, point: PointRecord) -> str:
    """The hop in words."""
    if hop == "sut-ingress":
        kind = point.spec.topology.kind
        if kind is TopologyKind.WIRE:
            return "at the entrance of the reference SUT"
        polled = "Open vSwitch's PMD thread polls it" if kind.has_vswitch else "the SUT polls it"
        return f"at the SUT's first ring ({polled})"
    if hop == "unknown":
        return "somewhere"
    return f"at {hop}"
