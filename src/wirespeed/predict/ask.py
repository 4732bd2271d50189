# SPDX-License-Identifier: Apache-2.0
"""Predict the gain of each single change of a deployment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from wirespeed.model.plan.prediction import Attachment, Case, Edge, Prediction
from wirespeed.predict.parameters import Estimate, Parameters
from wirespeed.predict.predict import predict, rates

# Times that a faster CPU shortens; the others belong to the NIC.
OF_CORES = (
    "vhost_rx_ns", "vhost_rx_byte_ns", "vhost_tx_ns", "vhost_tx_byte_ns", "burst_ns", "port_ns",
    "poll_ns", "classifier_ns", "function_ns", "generator_ns",
)  # fmt: skip
FASTER = 1.2


@dataclass(frozen=True, slots=True)
class Change:
    """One change, and the predicted rate with it."""

    what: str
    prediction: Prediction
    gain: float
    """Relative growth of the rate."""


def sensitivity(case: Case, parameters: Parameters) -> tuple[Change, ...]:
    """Return every change that case and parameters allow, the largest gain first."""
    base = predict([case], parameters)[0].rate_fps
    found = []
    for what, changed, values in _changes(case, parameters):
        if not np.isnan(rates([changed], values)[0]):
            predicted = predict([changed], values)[0]
            found.append(Change(what, predicted, predicted.rate_fps / base - 1))
    return tuple(sorted(found, key=lambda change: -change.gain))


def _changes(case: Case, parameters: Parameters) -> Iterator[tuple[str, Case, Parameters]]:
    for what, changed in _others(case):
        yield what, changed, parameters
    yield f"cores faster by {FASTER - 1:.0%}", case, _faster(parameters)


def _others(case: Case) -> Iterator[tuple[str, Case]]:
    kind = case.attachment
    if kind in (Attachment.VHOST, Attachment.NONE) and case.pmds is not None:
        yield "1 more PMD core", replace(case, pmds=case.pmds + 1)
    if case.functions and not case.shared_core:
        more = replace(case, function_cores=case.function_cores + 1)
        yield "1 more core and queue for each function", more
    if kind is Attachment.VHOST and case.edge is Edge.NIC:
        yield "SR-IOV instead of vhost", replace(case, attachment=Attachment.SRIOV, pmds=None)
    if kind is Attachment.SRIOV:
        yield "vhost instead of SR-IOV", replace(case, attachment=Attachment.VHOST)
    if case.functions:
        yield "1 more function", replace(case, functions=case.functions + 1)
    if case.functions > 1:
        yield "1 function less", replace(case, functions=case.functions - 1)
    if case.edge is Edge.NIC:
        yield "PCIe generation 4", replace(case, pcie_gts=max(case.pcie_gts, 16.0))
        yield "16 PCIe lanes", replace(case, pcie_lanes=max(case.pcie_lanes, 16))
        yield "a second NIC", replace(case, nics=case.nics + 1, ports=2 * case.ports)


def _faster(parameters: Parameters) -> Parameters:
    def shorter(estimate: Estimate) -> Estimate:
        return Estimate(estimate.value / FASTER, estimate.low / FASTER, estimate.high / FASTER)

    return replace(
        parameters,
        values={n: shorter(e) if n in OF_CORES else e for n, e in parameters.values.items()},
    )
