# SPDX-License-Identifier: Apache-2.0
"""Report what polling CPUs share with each other and with other programs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from wirespeed.explain.interface import Measured
from wirespeed.model.cpus import OWN_CORE_SLOWDOWN, SHARED_CACHE_NS, PlacementKind
from wirespeed.model.result.explanation import (
    EvidenceFigure,
    ExpectedGain,
    Explanation,
    GainKind,
    Proposal,
)
from wirespeed.model.result.reason import Reason
from wirespeed.model.result.result import Grade
from wirespeed.model.words import mpps, percent, share

# Share of the time; a core shared for less explains no difference worth reporting.
MUCH_SHARED = 0.1

_PROBE = "CPU placement probe before the last trial that has one"
_OWN_CORES = Proposal(
    "Isolate the forwarding CPUs and keep the other thread of each core idle.",
    "isolcpus, as wirespeed plan writes it; for a guest hw:cpu_policy=dedicated, "
    "hw:cpu_thread_policy=isolate",
)


def placement(point: Measured) -> Iterator[Explanation]:
    """Report polling CPUs that share no cache, or share a core, as the probe measured."""
    trials = (trial for trial in point.result.trials if not point.result.elsewhere(trial))
    pairs = [trial.observation.placement for trial in trials if not trial.moved]
    last = next((pair[0] for pair in reversed(pairs) if pair is not None), None)
    if last is None:
        return
    if last.core_to_core_ns > SHARED_CACHE_NS:
        yield Explanation(
            "core_to_core_latency",
            f"The polling CPUs share no cache: a cache line takes {last.core_to_core_ns:.0f} ns "
            "from one to another, and 20 to 70 ns between CPUs of one cache.",
            (EvidenceFigure("core-to-core latency", last.core_to_core_ns, "ns", _PROBE),),
            Proposal("Poll on CPUs that share a cache; pin guest CPUs the same way."),
            _gain_of_one_cache(point),
        )  # fmt: skip
    if last.slowdown > OWN_CORE_SLOWDOWN:
        yield Explanation(
            "smt_siblings",
            f"Polling CPUs slow each other {last.slowdown:.1f}x: they are threads of one core.",
            (EvidenceFigure("slowdown", last.slowdown, "x", _PROBE),),
            Proposal("Put each polling CPU on a core of its own."),
            ExpectedGain(last.slowdown, "x", "the probe alone on its core, at most"),
        )


def _gain_of_one_cache(point: Measured) -> ExpectedGain | None:
    """Return the gain from the MRRs on CPUs of one cache and across caches.

    Returns None unless both have grade A to C and an interval, and differ by more than their
    intervals.
    """
    found = {r.placement: r for r in reversed(point.result.answers)}
    near, far = found.get(PlacementKind.ONE_CACHE), found.get(PlacementKind.ACROSS_CACHES)
    if near is None or far is None or {near.grade, far.grade} & {None, Grade.D}:
        return None
    rates = [(r.mrr_fps, r.mrr_half_interval) for r in (near, far)]
    known = [(fps, half * fps) for fps, half in rates if fps is not None and half is not None]
    if len(known) < len(rates):
        return None
    (near_fps, near_error), (far_fps, far_error) = known
    gain, error = near_fps - far_fps, math.hypot(near_error, far_error)
    if gain <= error:
        return None
    return ExpectedGain(
        gain, "frames/s",
        f"the MRR on CPUs of one cache minus that across caches, 95% interval "
        f"{mpps(gain - error)} to {mpps(gain + error)}", GainKind.MEASURED,
    )  # fmt: skip


def contention(point: Measured) -> Iterator[Explanation]:
    """Report cores that other programs used, by the time excluded for that."""
    result = point.result
    basis = result.undisturbed
    left_out = basis.left_out if basis else ()
    shared = sum(out.share for out in left_out if out.why is Reason.CORE_SHARED)
    if shared < MUCH_SHARED:
        return
    evidence = [EvidenceFigure("time shared", shared, "ratio", "SMT contention probe")]
    gain = None
    whole_fps = result.as_is.mrr_fps if result.as_is is not None else None
    if result.mrr_fps is not None and whole_fps is not None:
        evidence += [
            EvidenceFigure("MRR, clean time", result.mrr_fps, "frames/s", "result"),
            EvidenceFigure("MRR, all time", whole_fps, "frames/s", "result"),
        ]
        if result.mrr_fps > whole_fps:
            estimated = "the MRR of clean time minus that of all time"
            gain = ExpectedGain(result.mrr_fps - whole_fps, "frames/s", estimated)
    yield Explanation(
        "core_contention",
        f"Something else used a forwarding core for {share(shared)} of the time. A shared core "
        "does up to half less.",
        tuple(evidence), _OWN_CORES, gain,
    )  # fmt: skip


def balance(point: Measured) -> Iterator[Explanation]:
    """Report how evenly several workers shared the frames of all trials.

    Noisy trials count as well, because pauses do not change a frame's worker.
    """
    frames: Counter[int] = Counter()
    for trial in point.result.trials:
        frames.update({worker.number: worker.frames for worker in trial.observation.workers})
    if not sum(frames.values()):
        return
    mean = sum(frames.values()) / len(frames)
    most, least = max(frames.values()) / mean - 1, 1 - min(frames.values()) / mean
    source = "frames of all trials, over the mean"
    yield Explanation(
        "worker_balance",
        f"{len(frames)} workers shared the frames: the busiest took {percent(most)} more than the "
        f"mean, the idlest {percent(least)} less.",
        (
            EvidenceFigure("busiest worker", 1 + most, "x", source),
            EvidenceFigure("idlest worker", 1 - least, "x", source),
        ),
    )
