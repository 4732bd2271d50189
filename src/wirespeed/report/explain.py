# SPDX-License-Identifier: Apache-2.0
"""What limited a point, in plain words, derived from where its frames were lost?

Pure: a stored point in, sentences out. The evidence is the valid trial with the lowest load that
lost frames beyond the NDR: what gives way first is the limit, what gives way later follows from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from wirespeed.model.cpus import OWN_CORE_SLOWDOWN, SHARED_CACHE_NS, SHARED_CORE_RATIO
from wirespeed.model.result import TCP
from wirespeed.model.spec import TopologyKind
from wirespeed.model.trial import Drop, DropCause, Stage, Trial
from wirespeed.report.tcp import tcp_sentences
from wirespeed.report.text import mpps, percent
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

_LIMITED_BY = {
    "shared_lcore": "Generator and VNF share a core: on a machine with more cores the figure may "
    "be higher.",
    "generator": "The generator could not offer more: the SUT may be faster than the figure says.",
    "max_load": "The highest load that was allowed passed: the SUT may be faster than the figure "
    "says. Raise search.max_load_fps to see.",
}


def explain(point: PointRecord) -> tuple[str, ...]:
    """What limited the point, most important first. Empty for a point without a result."""
    result = point.result
    if result is None:
        return ()
    if result.search == TCP:
        return tuple(tcp_sentences(result))
    sentences = [*_first_loss(point)]
    if result.not_measurable is not None:
        sentences.insert(0, f"Not measurable: {result.not_measurable}.")
    if result.limited_by is not None and not _is_reference(point):
        sentences.append(_LIMITED_BY.get(result.limited_by, f"Limited by {result.limited_by}."))
    sentences += [*_gap(point), *_overload(point), *_placement(point), *_sharing(point)]
    sentences += _budget(point)
    sentences += _balance(point)
    sentences += (note.rstrip(".") + "." for note in result.notes)
    return tuple(sentences)


def _is_reference(point: PointRecord) -> bool:
    """The reference SUT limits itself, as it was told; sharing a core takes nothing from it."""
    return point.spec.topology.kind is TopologyKind.WIRE and point.spec.sut.impair.rate_fps > 0


def first_loss(point: PointRecord) -> Trial | None:
    """The valid trial above the NDR that lost frames at the lowest load: what gave way first."""
    result = point.result
    ndr = result.ndr.lower if result is not None and result.ndr is not None else None
    floor_fps = ndr.load_fps if ndr is not None else 0.0
    lossy = [
        stored.trial
        for stored in point.trials
        if stored.trial.valid
        and stored.trial.lost
        and stored.trial.stage is not Stage.WARM_UP
        and stored.trial.intended_load_fps > floor_fps
    ]
    return min(lossy, key=lambda trial: trial.intended_load_fps, default=None)


def total_drops(trial: Trial) -> tuple[Drop, ...]:
    """The trial's drops, most frames first; what the VNF consumed on purpose is none."""
    lost = (drop for drop in trial.seen.drops if drop.cause is not DropCause.VNF_HANDLED)
    return tuple(sorted(lost, key=lambda drop: -abs(drop.frames)))


def _first_loss(point: PointRecord) -> Iterator[str]:
    trial = first_loss(point)
    if trial is None:
        if any(stored.trial.valid for stored in point.trials):
            yield "No valid trial above the figure lost a frame: the limit was not reached."
        return
    drops = total_drops(trial)
    lost = f"At {mpps(trial.intended_load_fps)} Mpps the first frames were lost ({trial.lost:,})"
    if not drops:
        yield f"{lost}, and no hop accounts for them."
        return
    dropped = sum(abs(drop.frames) for drop in drops)
    main = drops[0]
    share = abs(main.frames) / dropped
    where = _place(main.hop, point)
    which = "all" if share == 1 else percent(share, 0)
    yield f"{lost}, {which} of them {where}: {_BECAUSE[main.cause]}."
    for drop in drops[1:]:
        if abs(drop.frames) / dropped >= 0.05:
            part = percent(abs(drop.frames) / dropped, 0)
            yield f"Another {part} were lost {_place(drop.hop, point)}: {_BECAUSE[drop.cause]}."


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


def _gap(point: PointRecord) -> Iterator[str]:
    """Loss far below saturation has another cause than saturation."""
    result = point.result
    if result is None or result.ndr is None or result.pdr is None:
        return
    ndr, pdr = result.ndr.lower, result.pdr.lower
    if ndr is None or pdr is None or ndr.load_fps >= 0.9 * pdr.load_fps:
        return
    ring_us = _ring_us(point, ndr.load_fps)
    rings = f" The rings hold {ring_us:.0f} us of traffic at that load." if ring_us else ""
    yield (
        f"The NDR is only {percent(ndr.load_fps / pdr.load_fps, 0)} of the PDR: below saturation "
        f"a few frames are lost when a polling thread pauses for longer than its rings last.{rings}"
    )


def _overload(point: PointRecord) -> Iterator[str]:
    """A SUT that forwards less when more is offered."""
    best_fps = _best_fps(point)
    result = point.result
    if result is None or not result.mrr_fps or result.mrr_fps >= 0.97 * best_fps:
        return
    yield (
        f"The MRR is only {percent(result.mrr_fps / best_fps, 0)} of what passed at a lower load: "
        "overload itself slows the SUT. A generator on the same host takes memory bandwidth and "
        "cache from it, and every refused frame costs time."
    )


def _placement(point: PointRecord) -> Iterator[str]:
    """CPUs that share no cache, or share a core, whatever the machine says of itself."""
    pairs = [t.trial.seen.proximity for t in point.trials if t.trial.valid]
    last = next((pair[0] for pair in reversed(pairs) if pair is not None), None)
    if last is None:
        return
    if last.core_to_core_ns > SHARED_CACHE_NS:
        yield (
            f"A cache line takes {last.core_to_core_ns:.0f} ns from one polling CPU to another; "
            "between CPUs of one cache it takes 20 to 70 ns: every frame crosses chips. On a "
            "host, choose CPUs that share a cache; for a guest, pin its CPUs to such."
        )
    if last.slowdown > OWN_CORE_SLOWDOWN:
        yield (
            f"Polling CPUs slow each other {last.slowdown:.1f}x: they are threads of one core. "
            "Each on a core of its own would do more."
        )


def _sharing(point: PointRecord) -> Iterator[str]:
    """Cores that something else uses as well, as seen in the trials that count."""
    trials = [stored.trial for stored in point.trials if stored.trial.valid]
    slow = [pulse.slow_ratio for trial in trials if (pulse := trial.seen.slowest) is not None]
    much = sum(ratio > SHARED_CORE_RATIO for ratio in slow)
    if not much:
        return
    yield (
        f"In {much} of {len(slow)} trials that count, something else used a forwarding core, for "
        f"up to {percent(max(slow), 0)} of the time: such a core does up to half less, so the "
        "figures are too low rather than too high. On a host, keep the core's other thread idle; "
        "for a guest, give it whole cores (hw:cpu_thread_policy=isolate)."
    )


def _best_fps(point: PointRecord) -> float:
    """The most that the SUT is known to forward, in frames/s."""
    result = point.result
    if result is None:
        return 0.0
    bounds = [i.lower for i in (result.ndr, result.pdr) if i is not None and i.lower is not None]
    return max([result.mrr_fps or 0.0, *(bound.forwarding_fps for bound in bounds)])


def _ring_us(point: PointRecord, load_fps: float) -> float | None:
    frames = max((stored.trial.seen.ring_frames for stored in point.trials), default=0)
    directions = len(point.spec.directions)
    return 1e6 * frames * directions / load_fps if frames and load_fps else None


def _budget(point: PointRecord) -> Iterator[str]:
    """The time each frame costs at saturation: what optimisation has to shorten."""
    result = point.result
    if result is None or not result.mrr_fps or point.spec.topology.kind is TopologyKind.WIRE:
        return
    yield f"At its best each frame takes {1e9 / _best_fps(point):.0f} ns of the slowest stage."


def _balance(point: PointRecord) -> Iterator[str]:
    """How evenly several workers shared the frames of all trials.

    Invalid trials count, too: pauses do not change whose a frame is.
    """
    frames: Counter[int] = Counter()
    for stored in point.trials:
        frames.update({share.number: share.frames for share in stored.trial.seen.workers})
    if not sum(frames.values()):
        return
    mean = sum(frames.values()) / len(frames)
    most, least = max(frames.values()) / mean - 1, 1 - min(frames.values()) / mean
    yield (
        f"{len(frames)} workers shared the frames: the busiest took {percent(most)} more than the "
        f"mean, the idlest {percent(least)} less."
    )
