# SPDX-License-Identifier: Apache-2.0
"""Derive a planner's inputs from fitted parameters: cycles of a pass, rates of each port type."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.model.errors import BadInput
from wirespeed.model.host.switch_cost import CycleModel, PassCost, PortRates
from wirespeed.model.plan.policy import Pattern
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Prediction
from wirespeed.model.plan.workload import Vnf, VnfPort, Workload
from wirespeed.model.units import MIN_FRAME_BYTES
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.pcie import BURST_FRAMES
from wirespeed.predict.predict import predict

_OF_A_PASS = (
    "vhost_rx_ns", "vhost_rx_byte_ns", "vhost_tx_ns", "vhost_tx_byte_ns", "burst_ns",
)  # fmt: skip


def cycles(parameters: Parameters) -> CycleModel:
    """Return the cycles of a pass.

    Between NIC and guest it is the mean of in and out, each with one copy. Raises BadInput if the
    parameters have no clock or no values of vhost ports.
    """
    hz = parameters.clock_hz
    if hz is None:
        raise BadInput(
            f"{parameters.source}: has no clock_hz; a plan scales costs by the clock",
            "Fit with --clock-ghz GHZ, the clock of the cores that were measured.",
        )
    if lacking := [name for name in _OF_A_PASS if name not in parameters.values]:
        raise BadInput(
            f"parameters of {parameters.source}: no {', '.join(lacking)}, which a plan needs",
            "Fit runs with vhost ports.",
        )
    value = parameters.plain()
    end = value["burst_ns"] / BURST_FRAMES
    take = end + value["vhost_rx_ns"] + value["vhost_rx_byte_ns"] * MIN_FRAME_BYTES
    put = end + value["vhost_tx_ns"] + value["vhost_tx_byte_ns"] * MIN_FRAME_BYTES
    both = take + put
    octet = value["vhost_rx_byte_ns"] + value["vhost_tx_byte_ns"]
    ns = hz / 1e9
    return CycleModel(
        PassCost((both + end) / 2 * ns, octet / 2 * ns),
        PassCost(both * ns, octet * ns),
        f"predicted with parameters of {parameters.source}",
    )


def rates_of_ports(
    workload: Workload, parameters: Parameters
) -> Mapping[tuple[str, str], PortRates]:
    """Return each port's predicted rate over vhost and over VFs. Raises BadInput."""
    found = {}
    for vnf in workload.vnfs:
        for port in vnf.ports:
            vhost, sriov = predict(
                [_case(kind, vnf, port, workload) for kind in (Attachment.VHOST, Attachment.SRIOV)],
                parameters,
            )
            found[vnf.name, port.name] = _rates(vhost, sriov)
    return found


def _case(kind: Attachment, vnf: Vnf, port: VnfPort, workload: Workload) -> Case:
    """Return the case with S2's link and slot, which a workload does not specify."""
    if port.pattern is Pattern.NORTH_SOUTH:
        return Case(kind, Arrangement.PARALLEL, vnf.count, port.frame_bytes)
    chain = next((c for c in workload.chains if c.name == port.chain), None)
    hops = len(chain.order) if chain else 1
    return Case(kind, Arrangement.CHAIN, hops, port.frame_bytes)


def _rates(vhost: Prediction, sriov: Prediction) -> PortRates:
    return PortRates(
        vhost.rate_fps, str(vhost.limit.resource), sriov.rate_fps, str(sriov.limit.resource),
        vhost.source,
    )  # fmt: skip
