# SPDX-License-Identifier: Apache-2.0
"""What limited a point, in plain words, derived from where its frames were lost?

Pure: a stored point in, sentences out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from wirespeed.model.cpus import OWN_CORE_SLOWDOWN, SHARED_CACHE_NS
from wirespeed.model.result import TCP
from wirespeed.model.spec import TopologyKind
from wirespeed.report.grades import because
from wirespeed.report.loss import loss_sentences
from wirespeed.report.tcp import tcp_sentences
from wirespeed.report.text import percent, share
from wirespeed.store.records import PointRecord

# Of the time: below it, that a core was shared does not explain a difference worth a sentence.
MUCH_SHARED = 0.1

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
    sentences = [*loss_sentences(point)]
    if result.not_measurable is not None:
        sentences.insert(0, f"Not measurable: {result.not_measurable}.")
    if result.limited_by is not None and not _is_reference(point):
        sentences.append(_LIMITED_BY.get(result.limited_by, f"Limited by {result.limited_by}."))
    sentences += [*_gap(point), *_overload(point), *_placement(point), *_sharing(point)]
    sentences += _budget(point)
    sentences += _balance(point)
    sentences += because(result)
    sentences += (note.rstrip(".") + "." for note in result.notes)
    return tuple(sentences)


def _is_reference(point: PointRecord) -> bool:
    """The reference SUT limits itself, as it was told; sharing a core takes nothing from it."""
    return point.spec.topology.kind is TopologyKind.WIRE and point.spec.sut.impair.rate_fps > 0


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
        f"a few frames are lost when the SUT itself pauses for longer than its rings last.{rings}"
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
    pairs = [stored.trial.seen.placement for stored in point.trials]
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
    """Cores that something else used as well: what was left out for it."""
    rests = point.result.undisturbed if point.result is not None else None
    shared = sum(out.share for out in rests.left_out if "shared" in out.why) if rests else 0.0
    if shared >= MUCH_SHARED:
        yield (
            f"Something else used a forwarding core for {share(shared)} of the time: such a core "
            "does up to half less, which is why this host as it is gives less than the SUT "
            "undisturbed."
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

    Disturbed ones count, too: pauses do not change whose a frame is.
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
