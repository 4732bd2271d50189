# SPDX-License-Identifier: Apache-2.0
"""Define the cost of a frame in the vSwitch, and the rate of each port type.

The planner receives estimates from S2's table, values of a measured run, or predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassCost:
    """Cycles of one pass of a frame through the switch."""

    at_64: float
    """Cycles for a frame of 64 octets, including the FCS."""
    per_byte: float
    """Cycles for each further octet."""

    def cycles(self, frame_bytes: int) -> float:
        return self.at_64 + self.per_byte * max(0, frame_bytes - 64)


@dataclass(frozen=True, slots=True)
class CycleModel:
    """Cycles of each type of pass."""

    phy_vhost: PassCost
    """Between a NIC and a guest, in either direction."""
    vhost_vhost: PassCost
    """From guest to guest."""
    source: str


@dataclass(frozen=True, slots=True)
class PortRates:
    """Predicted rates in frames/s of all guests together, for each port type."""

    vhost_fps: float
    vhost_limit: str
    """Resource that limits vhost_fps."""
    sriov_fps: float
    sriov_limit: str
    """Resource that limits sriov_fps."""
    source: str
    """Source of the prediction."""


# Key: name of a VNF, name of its port.
RatesOfPorts = Mapping[tuple[str, str], PortRates]
