# SPDX-License-Identifier: Apache-2.0
"""What does one host of a fleet say of itself at one moment, and what was measured on it?"""

from __future__ import annotations

from dataclasses import dataclass, field

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.facts import HostFacts
from wirespeed.model.finding import AuditReport
from wirespeed.model.text import Address, HostName, Line, Word


@dataclass(frozen=True, slots=True)
class Member:
    """A host of the fleet. name: as the inventory calls it, which is unique there, unlike a
    hostname. address: how a controller reaches it. site: where it stands; "" where nobody said."""

    name: HostName
    address: Address = ""
    site: Line = ""


@dataclass(frozen=True, slots=True)
class HostSnapshot:
    """What a host says of itself. collected_at: ISO 8601, UTC, by the host's clock. hardware: the
    digest of what was bought (fleet/hardware.py). audit: None where it was not asked for."""

    member: Member
    collected_at: Word
    hardware: Word
    facts: HostFacts
    audit: AuditReport | None = None
    versions: dict[Word, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure of a host: `name` in `unit` at a point of a study.

    low, high: what the search knows of it; both equal value where it gives no bounds. placement:
    where the polling CPUs were; figures of two placements are not compared. None: not known.
    """

    host: str
    study: str
    point: str
    name: str
    unit: str
    value: float
    low: float
    high: float
    run: str
    ended_at: str
    placement: PlacementKind | None = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """One trial of many alike on a host. loss: share of the offered frames. p99_us: None where the
    trial measured no latency; temperature_c and frequency_mhz: None where the host did not say."""

    host: str
    study: str
    point: str
    ended_at: str
    rate_fps: float
    loss: float
    p99_us: float | None = None
    temperature_c: float | None = None
    frequency_mhz: float | None = None
    placement: PlacementKind | None = None
