# SPDX-License-Identifier: Apache-2.0
"""Define the state that one host of a fleet reports, and its measured rates."""

from __future__ import annotations

from dataclasses import dataclass, field

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import AuditReport
from wirespeed.model.input.text import Address, HostName, Line, Word


@dataclass(frozen=True, slots=True)
class Member:
    """A host of the fleet.

    `name` is the inventory's name, which is unique, unlike a hostname. `address` is the address for
    the controller. `site` is the location; "" if unknown.
    """

    name: HostName
    address: Address = ""
    site: Line = ""


@dataclass(frozen=True, slots=True)
class HostSnapshot:
    """State that a host reports.

    `collected_at` is in ISO 8601, UTC, by the host's clock. `hardware` is the digest of the host's
    hardware (fleet/hardware.py). `audit` is None if it was not requested.
    """

    member: Member
    collected_at: Word
    hardware: Word
    facts: HostFacts
    audit: AuditReport | None = None
    versions: dict[Word, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value of a host: `name` in `unit` at a point of a study."""

    host: str
    study: str
    point: str
    name: str
    unit: str
    value: float
    low: float
    """Lower bound of the search; `value` if there is none."""
    high: float
    """Upper bound of the search; `value` if there is none."""
    run: str
    ended_at: str
    placement: PlacementKind | None = None
    """Placement of the polling CPUs; None if unknown. Values of two placements are not compared."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """One of many equal trials on a host."""

    host: str
    study: str
    point: str
    ended_at: str
    rate_fps: float
    loss: float
    """Lost share of the offered frames."""
    p99_us: float | None = None
    """None if the trial measured no latency."""
    temperature_c: float | None = None
    """None if the host did not report it."""
    frequency_mhz: float | None = None
    """None if the host did not report it."""
    placement: PlacementKind | None = None
    """Placement of the polling CPUs; None if unknown, or if they moved during the trial."""
    moved: bool = False
    """The polling CPUs moved during the trial: only its loss counts."""
