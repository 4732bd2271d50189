# SPDX-License-Identifier: Apache-2.0
"""Define the physical quantities of the model, with their bounds and values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.model.plan.prediction import RateKind


@dataclass(frozen=True, slots=True)
class Quantity:
    """One parameter of the model."""

    name: str
    unit: str
    lower: float
    """Lower end of the plausible range."""
    upper: float
    """Upper end of the plausible range."""
    start: float
    """Value at which a fit begins."""
    source: str
    """Source of the range."""
    meaning: str
    given: bool = False
    """A fit leaves it at `start`."""


QUANTITIES = (
    Quantity(
        "vhost_rx_ns", "ns", 10, 1000, 130, "DPDK vhost performance reports: 100 to 500 cycles",
        "a PMD core takes a frame from a vhost ring, classifies and passes it on",
    ),
    Quantity(
        "vhost_rx_byte_ns", "ns/octet", 0, 0.5, 0.1, "a core copies 2 to 30 GB/s",
        "copies an octet out of a guest's memory",
    ),
    Quantity(
        "vhost_tx_ns", "ns", 5, 500, 48, "DPDK vhost performance reports",
        "a PMD core puts a frame into a vhost ring",
    ),
    Quantity(
        "vhost_tx_byte_ns", "ns/octet", 0, 0.5, 0.06, "a core copies 2 to 30 GB/s",
        "copies an octet into a guest's memory",
    ),
    Quantity(
        "burst_ns", "ns", 10, 1000, 160, "ring index, memory barrier and notification check",
        "a PMD core ends a burst towards one port, whatever its length",
    ),
    Quantity(
        "port_ns", "ns", 3, 500, 60, "DPDK l3fwd and OVS: 30 to 300 cycles",
        "a core passes a frame from one physical port to another one",
    ),
    Quantity(
        "poll_ns", "ns", 0, 1000, 30, "reading an index that nobody has changed",
        "a PMD core polls a port that has no frames",
    ),
    Quantity(
        "classifier_ns", "ns", 5, 1000, 50, "measured: 70 to 250 cycles (Zen 4)",
        "a PMD core looks up the flow of a frame that its exact match cache misses",
    ),
    Quantity(
        "function_ns", "ns", 3, 5000, 48, "testpmd: 30 to 150 cycles; others take what they take",
        "a function's core handles a frame",
    ),
    Quantity(
        "generator_ns", "ns", 0, 2000, 60, "measured: wsdp sends and receives on one core",
        "the generator sends and receives a frame, where it shares its core with functions",
    ),
    Quantity(
        "queue_ns", "ns", 1, 200, 30, "DMA reads in flight of one queue",
        "one queue of a virtual function moves a frame in and out",
    ),
    Quantity(
        "queue_line_ns", "ns/64 octets", 0.5, 60, 11, "DMA reads in flight of one queue",
        "the same for each 64 octets, a cache line and PCIe read completion boundary",
    ),
    Quantity(
        "engine_ns", "ns", 1, 60, 12, "XL710: 39 Mpps at best (S2 section 4.2)",
        "the NIC's packet engine handles a frame once, in or out",
    ),
    Quantity(
        "refusal_share", "1", 0, 1, 0.4, "chosen with all of S2 seen; at most a handled frame's",
        "the engine's work for a frame that the link brings, accepted or not, in engine_ns",
        given=True,
    ),
    Quantity(
        "hairpin_ns", "ns", 0, 100, 20, "XL710: no value is published",
        "the engine's further time for a frame between two virtual functions",
    ),
    Quantity(
        "switch_ns", "ns", 0, 100, 14, "XL710: no value is published",
        "the NIC's internal switch moves a frame",
    ),
    Quantity(
        "switch_byte_ns", "ns/octet", 0.02, 0.5, 0.17, "XL710: about 45 Gbit/s (S2 section 4.2)",
        "the NIC's internal switch moves an octet",
    ),
    Quantity(
        "transmit_share", "1", 0.5, 1, 0.9, "a polling core leaves gaps between its bursts",
        "the share of a link's time that a vSwitch keeps its transmit queue filled",
    ),
    Quantity(
        "sharpness", "1", 2, 64, 9, "chosen with all of S2 seen; infinite: the bottleneck law",
        "the order of the norm by which utilisations of cores and NIC parts combine",
        given=True,
    ),
)  # fmt: skip
BY_NAME: Mapping[str, Quantity] = {quantity.name: quantity for quantity in QUANTITIES}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A fitted value with its 90% interval."""

    value: float
    low: float
    high: float
    determined: bool = True
    """The data distinguish it from the other parameters."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Values for one machine. Missing quantities are unknown for it."""

    source: str
    values: Mapping[str, Estimate]
    error: float
    """Relative error that 90% of predictions are expected not to exceed."""
    checked: str
    """Method that gave `error`."""
    points: int
    """Number of fitted rates."""
    kind: RateKind = RateKind.MRR
    """Kind of the fitted rates."""
    clock_hz: float | None = None
    """Clock of the machine's cores; None if unknown."""
    together: tuple[tuple[str, ...], ...] = ()
    """Groups that the data cannot distinguish."""

    def plain(self) -> dict[str, float]:
        """Return value by name; unknown ones are NaN, so rates that need them are NaN, too."""
        return complete({name: estimate.value for name, estimate in self.values.items()})


def complete(values: Mapping[str, float]) -> dict[str, float]:
    """Return all quantities: the given values, fixed quantities at `start`, the others NaN."""
    return {q.name: values.get(q.name, q.start if q.given else math.nan) for q in QUANTITIES}
