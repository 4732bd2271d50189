# SPDX-License-Identifier: Apache-2.0
"""Compare the measured rate with its prediction, and propose checks."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.interface import Measured
from wirespeed.model.plan.prediction import Prediction, Resource
from wirespeed.model.result.explanation import EvidenceFigure, Explanation, Proposal
from wirespeed.model.words import mpps

_PMD = (
    "PMD threads that are interrupted or share a core with an SMT sibling, queues that one PMD has "
    "too many of, flows that miss the exact-match cache, ports on another NUMA node"
)
_CORE = "a function's core that is interrupted, shared with other work or on another NUMA node"
_NIC = "a NIC that is set otherwise: descriptors, offloads, flow control, PCIe lanes or generation"
_WIRE = "a link or slot that runs below its speed (wirespeed audit)"
LOOK_FOR = {
    Resource.NIC_PMD: _PMD, Resource.VHOST_PMD: _PMD, Resource.PMDS: _PMD,
    Resource.FUNCTION: _CORE, Resource.SHARED_CORE: _CORE,
    Resource.QUEUE: _NIC, Resource.ENGINE: _NIC, Resource.SWITCH: _NIC,
    Resource.TRANSMIT: _WIRE, Resource.LINK: _WIRE, Resource.PCIE_IN: _WIRE,
    Resource.PCIE_OUT: _WIRE,
    Resource.OFFERED: "pauses and bursts that overflow rings below what the cores carry",
}  # fmt: skip


def expected(point: Measured) -> Iterator[Explanation]:
    """Compare the MRR with its prediction; yield nothing if either is missing."""
    found, rate = point.predicted, point.result.mrr_fps
    if found is None or not rate:
        return
    evidence = (
        EvidenceFigure("predicted rate", found.rate_fps, "frames/s", found.source),
        EvidenceFigure("lowest expected rate", found.low_fps, "frames/s", found.source),
        EvidenceFigure("highest expected rate", found.high_fps, "frames/s", found.source),
        EvidenceFigure("MRR", rate, "frames/s", "result"),
    )
    said = f"Expected {_range(found)}, measured {mpps(rate)}"
    busiest = found.limit.resource
    if rate < found.low_fps:
        text = f"{said}: something takes time that the prediction does not know."
        look = Proposal(f"Look for {LOOK_FOR[busiest]}")
        yield Explanation("below_prediction", text, evidence, look)
    elif rate > found.high_fps:
        text = f"{said}: the parameters ({found.source}) are of a slower machine."
        fit = Proposal("Fit this machine's own parameters", "wirespeed predict fit RUN -o FILE")
        yield Explanation("above_prediction", text, evidence, fit)
    else:
        text = f"{said}: as predicted, limited by the {busiest}."
        yield Explanation("as_predicted", text, evidence)


def _range(found: Prediction) -> str:
    return f"{mpps(found.rate_fps)} Mpps ({mpps(found.low_fps)} to {mpps(found.high_fps)})"
