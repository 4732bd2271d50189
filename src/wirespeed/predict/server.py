# SPDX-License-Identifier: Apache-2.0
"""Move a case and fitted parameters from a bench to the server of a host document.

A bench without NICs measures the cost of a frame on cores. The server adds a core for each part, a
clock, links and PCIe slots.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.prediction import Case, Edge
from wirespeed.predict.ask import OF_CORES
from wirespeed.predict.parameters import Estimate, Parameters

# Model names of Intel and others end in the base clock: "... v4 @ 2.20GHz".
_CLOCK = re.compile(r"@ *([0-9]+(?:\.[0-9]+)?) *GHz")


@dataclass(frozen=True, slots=True)
class Server:
    """A server as the model needs it."""

    name: str
    clock_hz: float
    """Base clock of its cores."""
    link_bps: float
    """Speed of its fastest NIC port."""
    pcie_lanes: int
    """Lanes of that NIC's PCIe slot."""
    pcie_gts: float
    """GT/s of each lane."""


def server_of(facts: HostFacts, source: str) -> Server:
    """Return the server that a host document describes.

    source: name of the document in errors. Raises BadInput if its CPU model has no clock, or if no
    NIC has a speed and a PCIe link.
    """
    clock = _CLOCK.search(facts.cpu_model or "")
    if clock is None:
        raise BadInput(
            f"{source}: CPU model {facts.cpu_model!r} names no clock",
            'Write the base clock into cpu_model, e.g. "... @ 2.20GHz".',
        )
    devices = {device.address: device for device in facts.pci}
    ports = [
        (port.speed_mbps, device.link_width, device.link_gts)
        for port in facts.interfaces
        if port.pci in devices and (device := devices[port.pci]).is_nic
        and port.speed_mbps and device.link_width and device.link_gts
    ]  # fmt: skip
    if not ports:
        raise BadInput(
            f"{source}: no NIC port has a known speed and PCIe link",
            "Record the host while its links are up: `wirespeed inspect --json`.",
        )
    speed_mbps, lanes, gts = max(ports)
    return Server(facts.host, float(clock[1]) * 1e9, speed_mbps * 1e6, lanes, gts)


def on_server(case: Case, server: Server, *, directions: int = 1) -> Case:
    """Return the case on the server, as in Intel 2017 (S2) section 5.1.

    The outer ports are a NIC's. Each function and each port of the switch has a core. directions:
    number of ports that bring frames.
    """
    return replace(
        case,
        edge=Edge.NIC,
        link_bps=server.link_bps,
        ports=directions,
        nics=1,
        pmds=None,
        idle_ports=0,
        shared_core=False,
        offered_fps=None,
        pcie_lanes=server.pcie_lanes,
        pcie_gts=server.pcie_gts,
    )


def at_clock(parameters: Parameters, clock_hz: float) -> Parameters:
    """Return the parameters with the time of cores scaled to another clock.

    The cycles of a frame stay equal. Raises BadInput if the parameters have no clock.
    """
    if parameters.clock_hz is None:
        raise BadInput(
            f"parameters of {parameters.source}: no clock_hz, so they cannot be scaled",
            "Fit with --clock-ghz GHZ, the clock of the cores that were measured.",
        )
    factor = parameters.clock_hz / clock_hz
    values = {
        name: _times(estimate, factor) if name in OF_CORES else estimate
        for name, estimate in parameters.values.items()
    }
    return replace(parameters, values=values, clock_hz=clock_hz)


def _times(estimate: Estimate, factor: float) -> Estimate:
    return replace(
        estimate,
        value=estimate.value * factor, low=estimate.low * factor, high=estimate.high * factor,
    )  # fmt: skip


def for_server(parameters: Parameters, nic: Parameters, server: Server) -> Parameters:
    """Return the parameters for the server, from two sources.

    Core times come from `parameters`, at the server's clock. `nic` adds those that a bench without
    NICs cannot give: packet engine, internal switch, queues, filling of a link.
    """
    scaled = at_clock(parameters, server.clock_hz)
    missing: Mapping[str, Estimate] = {
        name: estimate for name, estimate in nic.values.items() if name not in scaled.values
    }
    borrowed = [name for name in missing if name not in OF_CORES]
    source = f"{parameters.source}, at {server.clock_hz / 1e9:g} GHz"
    if borrowed:
        source += f"; NIC of {nic.source}"
    cores = at_clock(nic, server.clock_hz).values
    values = {name: cores[name] for name in missing} | dict(scaled.values)
    return replace(scaled, source=source, values=values)
