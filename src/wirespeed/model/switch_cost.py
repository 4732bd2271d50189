# SPDX-License-Identifier: Apache-2.0
"""What does the vSwitch cost for each frame, and what does each kind of port carry?

The planner is handed these: estimates of S2's table, a measured run's, or predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassCost:
    """Cycles of one pass: `at_64` for a frame of 64 octets (FCS included), `per_byte` for each
    further octet."""

    at_64: float
    per_byte: float

    def cycles(self, frame_bytes: int) -> float:
        return self.at_64 + self.per_byte * max(0, frame_bytes - 64)


@dataclass(frozen=True, slots=True)
class CycleModel:
    """phy_vhost: between a NIC and a guest, in either direction. vhost_vhost: guest to guest."""

    phy_vhost: PassCost
    vhost_vhost: PassCost
    source: str


@dataclass(frozen=True, slots=True)
class PortRates:
    """Predicted rates, in frames/s, of all guests together if their ports were of that kind.

    limit: the resource that keeps it there. source: of the prediction.
    """

    vhost_fps: float
    vhost_limit: str
    sriov_fps: float
    sriov_limit: str
    source: str


# For a VNF and a port of it, by their names.
RatesOfPorts = Mapping[tuple[str, str], PortRates]
