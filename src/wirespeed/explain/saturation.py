# SPDX-License-Identifier: Apache-2.0
"""Compare a point's own rates: pauses, overload and cost of a frame."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.causes import longer_rings
from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import EvidenceFigure, ExpectedGain, Explanation
from wirespeed.model.words import percent

# An NDR below this share of the PDR, or an MRR below this share of the best rate, needs a reason.
_FAR_BELOW_PDR, _FAR_BELOW_BEST = 0.9, 0.97


def pauses(point: Measured) -> Iterator[Explanation]:
    """Explain an NDR far below the PDR: pauses of the SUT, not saturation."""
    result = point.result
    ndr = result.ndr.lower if result.ndr is not None else None
    pdr = result.pdr.lower if result.pdr is not None else None
    if ndr is None or pdr is None or ndr.load_fps >= _FAR_BELOW_PDR * pdr.load_fps:
        return
    evidence = [_of_result("NDR", ndr.load_fps), _of_result("PDR", pdr.load_fps)]
    rings = ""
    if (held_us := _ring_us(point, ndr.load_fps)) is not None:
        rings = f" The rings hold {held_us:.0f} \N{MICRO SIGN}s of traffic at that load."
        evidence.append(
            EvidenceFigure("traffic in the rings", held_us, "\N{MICRO SIGN}s", "depth at the NDR")
        )
    yield Explanation(
        "pauses",
        f"The NDR is only {percent(ndr.load_fps / pdr.load_fps, 0)} of the PDR: a few frames are "
        f"lost when the SUT itself pauses for longer than its rings last.{rings}",
        tuple(evidence),
        longer_rings(point),
        ExpectedGain(
            pdr.load_fps - ndr.load_fps, "frames/s", "the PDR minus the NDR: what is carried "
            "where few losses are borne",
        ),
    )  # fmt: skip


def overload(point: Measured) -> Iterator[Explanation]:
    """Explain an MRR below the rate at a lower load."""
    best_fps, mrr_fps = _best_fps(point), point.result.mrr_fps
    if not mrr_fps or mrr_fps >= _FAR_BELOW_BEST * best_fps:
        return
    yield Explanation(
        "overload",
        f"The MRR is only {percent(mrr_fps / best_fps, 0)} of what passed at a lower load: "
        "overload itself slows the SUT. A generator on the same host takes memory bandwidth and "
        "cache from it, and every refused frame costs time.",
        (_of_result("MRR", mrr_fps), _of_result("highest forwarding rate", best_fps)),
    )


def frame_cost(point: Measured) -> Iterator[Explanation]:
    """Report the time per frame at saturation."""
    if not point.result.mrr_fps or point.sut.reference:
        return
    cost_ns = 1e9 / _best_fps(point)
    yield Explanation(
        "frame_cost",
        f"The slowest stage spends {cost_ns:.0f} ns on each frame at best.",
        (EvidenceFigure("time of a frame", cost_ns, "ns", "1 / the highest forwarding rate"),),
    )


def _of_result(name: str, fps: float) -> EvidenceFigure:
    return EvidenceFigure(name, fps, "frames/s", "result")


def _best_fps(point: Measured) -> float:
    """Return the highest known forwarding rate of the SUT in frames/s."""
    result = point.result
    bounds = [i.lower for i in (result.ndr, result.pdr) if i is not None and i.lower is not None]
    return max([result.mrr_fps or 0.0, *(bound.forwarding_fps for bound in bounds)])


def _ring_us(point: Measured, load_fps: float) -> float | None:
    """Return the time in µs that the smallest queues of all directions buffer at that load."""
    frames = max((t.observation.shallowest_frames for t in point.result.here), default=0)
    return 1e6 * frames / load_fps if frames and load_fps else None
